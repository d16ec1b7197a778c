"""``satchel add``."""

from pathlib import Path

import click

from satchel.cli import flag, json_option


@click.command("add")
@click.argument("source", metavar="[SOURCE]", default="")
@click.option(
    "--from",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="In place of SOURCE: what a skills-lock.json, or .skill-lock.json, lists.",
)
@click.option(
    "--skill",
    "names",
    multiple=True,
    metavar="NAME",
    help="A skill of SOURCE, or a pattern such as 'sql-*'; repeatable. Default: all.",
)
@click.option("--rev", default="", metavar="REF", help="A branch, a tag or a commit.")
@click.option(
    "--path", default="", metavar="PATH", help="Only packs in this folder of SOURCE."
)
@click.option("--name", default="", metavar="ENTRY", help="What to call the entry.")
@flag("--dry-run", "Show what would change, and write nothing.")
@json_option
def command(  # noqa: PLR0913, PLR0917 - one for each option
    source: str,
    file: Path | None,
    names: tuple[str, ...],
    rev: str,
    path: str,
    name: str,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Add skills to the project: to satchel.toml, satchel.lock and its folder skills.

    SOURCE is owner/repo[/path][@ref], any address of git, an archive, a site with an
    index, or a folder. Nothing of it is run. Where several packs have one name, PATH
    says which is meant; for a repository . is the one at its top.

    FILE is a lock file of `npx skills`. What it lists counts as nobody's word: its
    skills are added, and satchel.lock is not approved until you type: satchel trust.

    Status: 0, or 1 if SOURCE does not answer or has no such skill, or if something that
    FILE lists was left out.

    \b
    Examples:
      satchel add anthropics/skills --skill pdf
      satchel add https://git.example.com/team/skills.git --rev v2
      satchel add ../our-skills
      satchel add --from skills-lock.json
    """
    from satchel_install._commands import Output, add, add_from
    from satchel_install._entries import parse_source

    output = Output(dry_run, as_json)
    if not source if file is None else (source or names or rev or path or name):
        raise click.UsageError("name a SOURCE, or --from FILE without any other")
    if file is not None:
        return add_from(Path.cwd(), file, output)
    return add(Path.cwd(), parse_source(source, rev, path), names, name, output)
