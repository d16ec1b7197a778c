"""``--budget``: a count of tokens, or none at all."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["budget_option", "budget_option_with"]

_F = TypeVar("_F", bound=Callable[..., Any])


def budget_option(command: _F) -> _F:
    """Add ``--budget N|none``: a count, None for no budget, or ``default``."""
    return budget_option_with("4000, or what satchel.toml says")(command)


def budget_option_with(default: str) -> Callable[[_F], _F]:
    """Return what adds ``--budget``; ``default`` says what holds without it."""
    return click.option(
        "--budget",
        metavar="N|none",
        callback=_budget,
        help=f"Tokens at most; 'none' lists everything in full. Default: {default}.",
    )


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
