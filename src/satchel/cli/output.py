"""What reaches a terminal, and what reaches a pipe.

On a terminal no control character of a pack is ever printed; into a pipe go the exact
bytes. Findings, tables and messages are one line each and safe in both.
"""

import os
import sys
from io import TextIOWrapper

import click

from satchel.text import printable

__all__ = [
    "bold",
    "flat",
    "on_terminal",
    "os_sentence",
    "say",
    "say_json",
    "tell",
    "use_utf8",
    "width",
    "write",
    "write_text",
]


def use_utf8() -> None:
    """Print UTF-8 whatever the locale says, and escape what UTF-8 cannot carry.

    What is printed to a stream that is closed goes nowhere, and no file that is opened
    later takes its place.
    """
    # Python leaves None there, which the types of the library do not say.
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def on_terminal() -> bool:
    """Tell whether standard output is a terminal."""
    return sys.stdout.isatty()


def width() -> int | None:
    """Return the columns to fill; None where nobody said and nothing limits a line."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    if not on_terminal():
        return None
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError):
        return None


def flat(text: str) -> str:
    """Return text of a pack as part of one line that is safe on a terminal."""
    return printable(text, keep="")


def bold(text: str) -> str:
    """Return text as a heading; without colour the escape is taken out again."""
    return click.style(text, bold=True)


def say(text: str = "") -> None:
    """Print a line; what it holds of a pack has gone through `flat`."""
    click.echo(text)


def tell(text: str) -> None:
    """Print one line on standard error, safe on a terminal."""
    click.echo(flat(text), err=True)


def say_json(value: object) -> None:
    """Print JSON; all but printable ASCII is escaped, for terminals and locales."""
    import json

    click.echo(json.dumps(value, indent=2).replace("\x7f", "\\u007f"))


def write(data: bytes) -> None:
    """Print the exact bytes."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def write_text(text: str, data: bytes | None = None) -> None:
    """Print text of a pack: exact into a pipe, safe on a terminal.

    ``data`` is the text as bytes where it was read as bytes. On a terminal a line end
    is added where there is none.
    """
    if on_terminal():
        shown = printable(text.replace("\r\n", "\n"))
        click.echo(shown, nl=not text.endswith("\n"))
    else:
        write(text.encode("utf-8", "backslashreplace") if data is None else data)


def os_sentence(error: OSError) -> str:
    """Return what the system said, with the file that it is about first."""
    if error.filename is None or not error.strerror:
        return str(error)
    return f"{os.fsdecode(error.filename)}: {error.strerror}"
