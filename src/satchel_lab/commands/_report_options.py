"""The options of commands that print a report."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from satchel.cli import flag

_Command = TypeVar("_Command", bound=Callable[..., Any])


def report_options(
    formats: Sequence[str], help_text: str
) -> Callable[[_Command], _Command]:
    """Return the decorator for ``--format``, ``--json`` and ``--also FORMAT=FILE``."""

    def format_files(
        ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
    ) -> tuple[tuple[str, str], ...]:
        parts = [value.partition("=") for value in values]
        if any(style not in formats or not file for style, _, file in parts):
            names = ", ".join(formats)
            detail = f"expected FORMAT=FILE, where FORMAT is one of {names}"
            raise click.BadParameter(detail, ctx, param)
        return tuple((style, file) for style, _, file in parts)

    return in_order(
        click.option(
            "--format",
            "style",
            type=click.Choice(formats),
            default="text",
            show_default=True,
            help=help_text,
        ),
        flag("--json", "The same as --format json.", "as_json"),
        click.option(
            "--also",
            metavar="FORMAT=FILE",
            multiple=True,
            callback=format_files,
            help="Write the report into a file as well; repeatable.",
        ),
    )


def in_order(*options: Callable[[Any], Any]) -> Callable[[_Command], _Command]:
    """Return the decorator for several options, which help lists in this order."""

    def add(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add
