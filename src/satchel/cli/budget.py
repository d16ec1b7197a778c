"""``--budget``: a count of tokens, or none at all."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["budget_option"]

_F = TypeVar("_F", bound=Callable[..., Any])


def budget_option(command: _F) -> _F:
    """Add ``--budget N|none``: a count, None for no budget, or ``default``."""
    option = click.option(
        "--budget",
        metavar="N|none",
        callback=_budget,
        help="Tokens at most; 'none' lists everything in full. "
        "Default: 4000, or what satchel.toml says.",
    )
    return option(command)


def _budget(
    ctx: click.Context, param: click.Parameter, text: str | None
) -> int | str | None:
    if text is None:
        return "default"
    if text.lower() == "none":
        return None
    if not (text.isascii() and text.isdecimal() and int(text)):
        message = f"{text!r} is neither a count from 1 nor 'none'"
        raise click.BadParameter(message, ctx, param)
    return int(text)
