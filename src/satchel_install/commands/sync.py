"""``satchel sync``."""

from pathlib import Path

import click

from satchel.cli import flag, json_option


@click.command("sync")
@click.argument("names", metavar="[ENTRY]...", nargs=-1)
@flag("--frozen", "Take satchel.lock as it is, and fail on any difference.")
@flag("--upgrade", "Look for newer states: of each ENTRY, or of all.")
@flag("--dry-run", "Show what would change, file by file, and write nothing.")
@click.option(
    "--discard",
    multiple=True,
    metavar="NAME",
    help="A skill whose edits may be lost; repeatable.",
)
@json_option
def command(  # noqa: PLR0913, PLR0917 - one for each option
    names: tuple[str, ...],
    frozen: bool,
    upgrade: bool,
    dry_run: bool,
    discard: tuple[str, ...],
    as_json: bool,
) -> int:
    """Make the project's skills what its [skills] wants, and write satchel.lock.

    An entry that is locked as it is wanted is not asked for again. Packs that were
    edited by hand are named, and left. With the store warm, nothing is fetched.

    Status: 0, or 1 if something was left, does not answer, or --frozen does not fit.

    \b
    Examples:
      satchel sync
      satchel sync --frozen
      satchel sync --upgrade --dry-run
    """
    from satchel_install._commands import Output, sync
    from satchel_install._sync import SyncOptions

    if names and not upgrade:
        raise click.UsageError("ENTRY is for --upgrade")
    if frozen and upgrade:
        raise click.UsageError("--frozen and --upgrade exclude each other")
    asked = names if upgrade else None
    options = SyncOptions(upgrade=asked, frozen=frozen, discard=discard)
    return sync(Path.cwd(), options, Output(dry_run, as_json))
