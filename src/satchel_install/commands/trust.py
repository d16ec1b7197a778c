"""``satchel trust``."""

from pathlib import Path

import click

from satchel.cli import flag


@click.command("trust")
@click.argument("reference", metavar="[REF]", default="")
@flag("--revoke", "Take the approval back.")
@flag("--yes", "Approve without a question.")
def command(reference: str, revoke: bool, yes: bool) -> int:
    """Approve satchel.lock of the project as it is now.

    A lock that came with a cloned project proves that nothing drifted, and not that
    you want it. With [trust] verify it counts once you have approved it, and is asked
    for again when it changes. The approval is kept outside of the project.

    With REF, such as oci://registry/team/skills:prod, take the release that this tag
    has now, although you had a later one.

    \b
    Examples:
      satchel trust
    """
    if reference:
        from satchel_install.oci import accept

        if revoke:
            raise click.UsageError("--revoke is for the project's lock")
        return accept(reference)
    from satchel_install._commands import trust

    return trust(Path.cwd(), revoke=revoke, yes=yes)
