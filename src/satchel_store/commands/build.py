"""``satchel build``."""

from pathlib import Path

import click

from satchel.cli import (
    echo,
    echo_error,
    echo_json,
    finding_fields,
    json_option,
    named_skills_option,
    open_named_skills,
    progress,
)
from satchel.text import plural
from satchel_store.commands._findings import show_release_findings, skip_bad_option


@click.command("build")
@click.argument("out", metavar="OUT", type=click.Path())
@named_skills_option
@skip_bad_option
@json_option
def command(out: str, paths: tuple[str, ...], skip_bad: bool, as_json: bool) -> int:
    """Build a release of the skills into the folder OUT, and print its digest.

    Equal skills give equal bytes and an equal digest. OUT is written completely or
    not at all; it replaces a release that is there.

    Status: 0, or 1 if a source does not answer, two packs claim one name, or a pack
    is in error: then nothing is written. With --skip-bad only a source that does
    not answer is a reason; left-out.json in OUT lists what is missing, and why.

    \b
    Examples:
      satchel build dist ./skills
      satchel serve dist
      satchel publish dist ./public
    """
    from satchel_store.release import build_folder

    with open_named_skills(paths) as skills, progress("building the release"):
        built = build_folder(skills, Path(out), allow_findings=skip_bad)
    show_release_findings(built.findings, built.left_out)
    release = built.release
    counts = plural(len(release.skills), "skill"), plural(len(release.files), "file")
    echo_error(f"{out}: {', '.join(counts)}")
    if as_json:
        fields: dict[str, object] = {"release": release.id, "path": out}
        fields |= {"skills": len(release.skills), "files": len(release.files)}
        fields["left_out"] = built.left_out
        echo_json(fields | {"findings": finding_fields(built.findings)})
        return 0
    # Nothing else is on standard output: pin=$(satchel build dist).
    echo(release.id)
    return 0
