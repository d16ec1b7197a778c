"""``satchel verify``."""

from pathlib import Path

import click

from satchel.cli import json_option


@click.command("verify")
@click.argument("folder", metavar="[FOLDER]", default=".", type=click.Path())
@json_option
def command(folder: str, as_json: bool) -> int:
    """Compare the skills of the project in FOLDER with satchel.lock, file by file.

    Packs without a lock are compared with their signatures (skill.oms.sig or
    skill.sigstore.json), by the signers in [trust] of your own satchel.toml, and a
    release with its release.json. It needs no network. What is not listed is a
    difference, too.

    Status: 0 if all is as locked, signed or released; 1 if not, or if the lock is not
    approved.

    \b
    Examples:
      satchel verify
      satchel verify path/to/packs
    """
    from satchel_install._verify import verify

    return verify(Path(folder), as_json=as_json)
