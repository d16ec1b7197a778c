"""``satchel withdraw``."""

import click

from satchel.cli import json_option


@click.command("withdraw")
@click.argument("reference", metavar="REF")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("--reason", default="", metavar="TEXT", help="Why; it is shown.")
@json_option
def command(reference: str, names: tuple[str, ...], reason: str, as_json: bool) -> int:
    """Withdraw skills or releases of a registry: no process that follows it uses them.

    NAME is a digest of a skill, of a release or of a manifest, or the name of a skill
    in the release that REF names. The list is kept under the tag `withdrawn` of the
    repository; what is on it stays on it. It counts at the next refresh of each
    process.

    \b
    Examples:
      satchel withdraw oci://registry.example.com/team/skills:prod pdf --reason leak
    """
    from satchel_install.oci import withdraw

    return withdraw(reference, names, reason, as_json=as_json)
