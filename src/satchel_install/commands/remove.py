"""``satchel remove``."""

from pathlib import Path

import click

from satchel.cli import flag, json_option


@click.command("remove")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@flag("--dry-run", "Show what would change, and write nothing.")
@json_option
def command(names: tuple[str, ...], dry_run: bool, as_json: bool) -> int:
    """Remove entries from the project, and the skills that are there for them alone.

    NAME is an entry of [skills], or a skill that an entry lists by its name. A pack
    that was edited by hand is named, and left.

    \b
    Examples:
      satchel remove pdf
    """
    from satchel_install._commands import Output, remove

    return remove(Path.cwd(), names, Output(dry_run, as_json))
