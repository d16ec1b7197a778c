"""``satchel pack``."""

from pathlib import Path
from shlex import quote

import click

from satchel.cli import (
    echo,
    echo_error,
    echo_json,
    finding_fields,
    flag,
    json_option,
    one_line,
    show_findings,
)
from satchel.text import plural


@click.command("pack")
@click.argument("path", metavar="PACK")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Where to put it. Default: NAME.skill, in this folder.",
)
@flag(
    "--force", "Make it even if the pack has errors, and replace a file that is there."
)
@json_option
def command(path: str, output: str | None, force: bool, as_json: bool) -> int:
    """Check a pack, make its .skill archive, and print the digest of the skill.

    PACK is a pack, or its SKILL.md. Equal packs give equal bytes. Keys, caches,
    dot-files, evals/ and packs in it are left out, and FILE may not be in it.

    Status: 0, or 1 if the pack has errors or text left to fill in, or another file
    is there: then nothing is written.

    \b
    Examples:
      satchel pack ./skills/pdf-forms
      satchel pack ./skills/pdf-forms -o dist/pdf-forms.skill
      satchel serve pdf-forms.skill
    """
    from satchel_lab.authoring import SUFFIX, pack_skill

    if "" in (path, output):
        raise click.UsageError("the path is empty")
    # Elsewhere `-` is standard output; here it would be a file of that name.
    if output == "-":
        raise click.UsageError("an archive is a file; give it a name")
    packed = pack_skill(path, force=force)
    place = Path(output or f"{packed.name}{SUFFIX}")
    changed = packed.write(place, force=force)
    show_findings(packed.findings, hint=f"satchel check --profile spec {quote(path)}")
    for finding in packed.pack.findings:
        echo_error(str(finding))
    for folder, count in packed.left_out.items():
        echo_error(f"left out: {folder} ({plural(count, 'file')})")
    contents = f"{plural(len(packed.pack.files), 'file')}, {len(packed.data):,} bytes"
    echo_error(f"{place}: {contents}{'' if changed else ', as before'}")
    if not as_json:
        echo(one_line(packed.digest))
        return 0
    fields: dict[str, object] = {"digest": packed.digest, "path": str(place)}
    fields |= {"files": len(packed.pack.files), "bytes": len(packed.data)}
    findings = finding_fields((*packed.findings, *packed.pack.findings))
    echo_json(fields | {"changed": changed, "findings": findings})
    return 0
