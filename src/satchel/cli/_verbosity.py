"""``-q`` and ``-v``, which every command has: how much goes to standard error."""

from functools import partial
from typing import Final

import click

_KEY: Final = "satchel.cli._verbosity"


def is_quiet() -> bool:
    """Tell whether only results and errors are printed."""
    return _level() < 0


def is_verbose() -> bool:
    """Tell whether it is printed, too, what was read and how long it took."""
    return _level() > 0


def _level() -> int:
    # Other threads have no context; what they print was asked for when they began.
    ctx = click.get_current_context(silent=True)
    return 0 if ctx is None else ctx.meta.get(_KEY, 0)


def _store(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
    if asked:
        ctx.meta[_KEY] = -1 if param.name == "quiet" else 1


def verbosity_options() -> list[click.Option]:
    """Return the two options; the later one on the command line counts."""
    option = partial(
        click.Option, is_flag=True, expose_value=False, is_eager=True, callback=_store
    )
    more = "Print more: what was read, how long it took, every finding."
    return [
        option(["-q", "--quiet"], help="Print results and errors only."),
        option(["-v", "--verbose"], help=more),
    ]
