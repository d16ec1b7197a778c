"""``satchel verify``."""

from pathlib import Path

import click

from satchel.cli import json_option


@click.command("verify")
@click.argument("folder", metavar="[FOLDER]", default=".", type=click.Path())
@json_option
def command(folder: str, as_json: bool) -> int:
    """Compare the skills of the project in FOLDER with satchel.lock, file by file.

    It needs no network. What the lock does not list is a difference, too.

    Status: 0 if all is as locked; 1 if not, or if the lock is not approved.

    \b
    Examples:
      satchel verify
    """
    from satchel_install._commands import verify

    return verify(Path(folder), as_json=as_json)
