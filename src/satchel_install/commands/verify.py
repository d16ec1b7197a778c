"""``satchel verify``."""

import click

from satchel.cli import json_option


@click.command("verify")
@click.argument("place", metavar="[PLACE]", default=".", type=click.Path())
@click.option(
    "--for",
    "client",
    default="",
    metavar="CLIENT",
    help="Compare what was copied to a client's folder of the project, such as "
    "claude-code.",
)
@json_option
def command(place: str, client: str, as_json: bool) -> int:
    """Compare the skills of the project in PLACE with satchel.lock, file by file.

    Packs without a lock are compared with their signatures (skill.oms.sig or
    skill.sigstore.json), by the signers in [trust] of your own satchel.toml, and a
    release with its release.json. What is not listed is a difference, too. None of
    this needs a network. PLACE can also be an oci:// address: then each file is
    fetched and compared.

    Status: 0 if all is as locked, signed or released; 1 if not, or if the lock is not
    approved.

    \b
    Examples:
      satchel verify
      satchel verify path/to/packs
      satchel verify --for claude-code
      satchel verify oci://registry.example.com/team/skills:prod
    """
    from satchel_install._verify import verify

    return verify(place, client, as_json=as_json)
