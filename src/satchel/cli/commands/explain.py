"""``satchel explain``."""

import click

from satchel.cli.output import say, width
from satchel.cli.table import layout

__all__ = ["command"]


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    del ctx, param
    from satchel.lint import codes

    return [code for code in codes() if code.startswith(incomplete)]


@click.command("explain")
@click.argument("code", required=False, shell_complete=_complete)
def command(code: str | None) -> None:
    """Explain the code of a finding or an error: what, why, and what to do.

    Without a CODE, list them all.

    \b
    Examples:
      satchel explain
      satchel explain unlisted-reference
    """
    from satchel.lint import UnknownCodeError, codes, read_page, title_of

    if code is not None:
        try:
            say(read_page(code).rstrip())
        except UnknownCodeError as error:
            raise click.UsageError(str(error)) from error
        return
    for line in layout([(each, title_of(each)) for each in codes()], width()):
        say(line)
