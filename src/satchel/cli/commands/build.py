"""``satchel build``."""

import click

from satchel.cli.opening import opened_as_named, skills_option
from satchel.cli.output import say, tell

__all__ = ["command"]


@click.command("build")
@click.argument("out", metavar="OUT", type=click.Path())
@skills_option
@click.option(
    "--allow-findings",
    is_flag=True,
    help="Leave out what is in error instead of refusing everything.",
)
def command(out: str, paths: tuple[str, ...], allow_findings: bool) -> int:
    """Build a release of the skills into the folder OUT, and print its digest.

    Equal skills give equal bytes and an equal digest. OUT is put there whole, or
    not at all; a release that is there gives way.

    Status: 0, or 1 where a source is away, two packs claim one name, or a pack is
    in error: nothing is written then.

    \b
    Examples:
      satchel build dist --skills ./skills
      satchel serve dist
      satchel publish dist ./public
    """
    from pathlib import Path

    from satchel.cli.releasing import explained, many, tell_findings
    from satchel.release.folder import build_folder

    with opened_as_named(paths) as skills, explained():
        built = build_folder(skills, Path(out), allow_findings=allow_findings)
    tell_findings(built.findings)
    release = built.release
    held = many(len(release.skills), "skill"), many(len(release.files), "file")
    tell(f"{out}: {', '.join(held)}")
    say(release.id)
    return 0
