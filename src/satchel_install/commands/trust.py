"""``satchel trust``."""

from pathlib import Path

import click

from satchel.cli import flag


@click.command("trust")
@flag("--revoke", "Take the approval back.")
@flag("--yes", "Approve without a question.")
def command(revoke: bool, yes: bool) -> int:
    """Approve satchel.lock of the project as it is now.

    A lock that came with a cloned project proves that nothing drifted, and not that
    you want it. With [trust] verify it counts once you have approved it, and is asked
    for again when it changes. The approval is kept outside of the project.

    \b
    Examples:
      satchel trust
    """
    from satchel_install._commands import trust

    return trust(Path.cwd(), revoke=revoke, yes=yes)
