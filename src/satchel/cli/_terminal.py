"""What reaches a terminal, and what reaches a pipe: text, JSON, columns, progress."""

import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from io import TextIOWrapper
from typing import Any, Final, TypeVar

import click

from satchel.text import cells, clip, plural, printable, wrap

_Command = TypeVar("_Command", bound=Callable[..., Any])
_KEY: Final = "satchel.cli._terminal"


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


def use_utf8() -> None:
    """Print UTF-8 whatever the locale is, and escape what UTF-8 cannot encode.

    Output to a stream that is closed goes nowhere: a file that is opened later must not
    take its place.
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


def _store_color(ctx: click.Context, _: click.Parameter, when: str | None) -> None:
    if when is not None:
        ctx.color = {"always": True, "never": False}.get(when)


# What `--color` says counts before NO_COLOR and FORCE_COLOR.
color_option: Final = click.option(
    "--color",
    type=click.Choice(("auto", "always", "never")),
    expose_value=False,
    callback=_store_color,
    help="When output has colours.  [default: auto, on a terminal]",
)


def width() -> int | None:
    """Return the columns to fill; None if nothing limits a line."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    if not on_terminal():
        return None
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError):
        return None


def one_line(text: str) -> str:
    """Return text of a pack as part of one line that is safe on a terminal."""
    return printable(text, keep="")


def bold(text: str) -> str:
    """Return text as a heading; without colour click removes the escape."""
    return click.style(text, bold=True)


def echo(text: str = "") -> None:
    """Print a line; text of a pack in it must have gone through `one_line`."""
    click.echo(text)


def echo_prose(text: str, *, err: bool = False) -> None:
    """Print lines; those wider than the terminal are broken between words."""
    columns = width() if not err or sys.stderr.isatty() else None
    parts: list[str] = []
    for line in text.split("\n"):
        words = line.lstrip(" ")
        indent = line[: len(line) - len(words)]
        parts += wrap(words, columns, first=indent, rest=f"{indent}  ")
    click.echo("\n".join(parts), err=err)


def echo_error(text: str) -> None:
    """Print one line on standard error, safe on a terminal; nothing with ``-q``."""
    if not is_quiet():
        echo_always(text)


def echo_always(*texts: str) -> None:
    """Print lines on standard error, safe on a terminal, with ``-q``, too."""
    echo_prose("\n".join(map(one_line, texts)), err=True)


def echo_detail(text: str) -> None:
    """Print one line on standard error with ``-v`` only."""
    if is_verbose():
        echo_error(text)


def echo_problem(text: str) -> None:
    """Print why a command failed, after the one prefix of errors; with ``-q``, too."""
    # A message may have several lines; text of a pack in it has none.
    head = click.style("error:", fg="red", bold=True)
    colour = False if os.environ.get("NO_COLOR") else None
    click.echo(f"{head} {printable(text)}", err=True, color=colour)


def flag(name: str, text: str, parameter: str = "") -> Callable[[_Command], _Command]:
    """Return the decorator for an option without a value; ``text`` is its help.

    ``parameter`` is what the function calls it; empty is the name of the option.
    """
    names = (name, parameter) if parameter else (name,)
    return click.option(*names, is_flag=True, help=text)


json_option: Final = flag("--json", "Print one JSON object.", "as_json")


def echo_json(value: Mapping[str, object]) -> None:
    """Print a JSON object in printable ASCII, for any terminal and locale.

    Its ``schema_version`` grows when a key goes, or means something else.
    """
    from satchel.text import ascii_json

    click.echo(ascii_json({"schema_version": 1, **value}))


def write(data: bytes) -> None:
    """Print the exact bytes."""
    # Text that still waits in the text layer comes before these bytes.
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def write_text(text: str, data: bytes | None = None) -> None:
    """Print text of a pack: exact into a pipe, safe on a terminal.

    ``data`` is the text as bytes, if it was read as bytes. On a terminal a missing line
    end is added.
    """
    if on_terminal():
        shown = printable(text.replace("\r\n", "\n"))
        click.echo(shown, nl=not text.endswith("\n"))
    else:
        write(text.encode("utf-8", "backslashreplace") if data is None else data)


# Columns that the last cell needs to be on the line of the others.
MIN_LAST: Final = 24


def layout(rows: Sequence[tuple[str, ...]], columns: int | None) -> Iterator[str]:
    """Yield the lines of a table whose last column gets the rest of the width.

    On a narrow terminal each last cell gets a line of its own, indented.
    """
    if not rows:
        return
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)][:-1]
    taken = sum(width + 2 for width in widths)
    stacked = columns is not None and columns - taken < MIN_LAST
    for *heads, last in rows:
        if stacked:
            yield clip("  ".join(head for head in heads if head), columns)
            room = max((columns or 0) - 4, 8)
            yield f"    {clip(last, room, at_words=True)}"
            continue
        padded = (
            head + " " * (width - cells(head))
            for head, width in zip(heads, widths, strict=True)
        )
        rest = None if columns is None else columns - taken
        yield "  ".join([*padded, clip(last, rest, at_words=True)]).rstrip()


def echo_rows(
    rows: Sequence[tuple[str, ...]], columns: int | None, indent: str = ""
) -> None:
    """Print the lines of a table without a head, as `layout` has them."""
    for line in layout(rows, columns):
        echo(f"{indent}{line}")


def echo_table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Print a table as wide as the terminal, its head in bold; nothing without rows."""
    if rows:
        first, *lines = layout([head, *rows], width())
        echo(bold(first))
        for line in lines:
            echo(line)


# Seconds before the line appears, and between two of its states.
STEP_S: Final = 1.0


@contextmanager
def progress(doing: str) -> Generator[Callable[[int], object] | None]:
    """Show on a terminal's standard error what is done here, once it takes long.

    What it gives takes the number of packs so far, to be shown; None where nothing is.
    At the end the line is erased. Pipes, files and the shell's completion get nothing.
    """
    completes = "_SATCHEL_COMPLETE" in os.environ
    if completes or is_quiet() or not sys.stderr.isatty():
        yield None
        return
    done = threading.Event()
    packs: list[int] = []
    thread = threading.Thread(target=_show, args=(doing, packs, done), daemon=True)
    thread.start()
    try:
        yield packs.append
    finally:
        done.set()
        thread.join()


def _show(doing: str, packs: list[int], done: threading.Event) -> None:
    begun = time.monotonic()
    line = ""
    while not done.wait(STEP_S):
        count = f"{plural(packs[-1], 'pack')}, " if packs else ""
        line = f"{doing}: {count}{time.monotonic() - begun:.0f} s"
        sys.stderr.write(f"\r{line}")
        sys.stderr.flush()
    if line:
        sys.stderr.write(f"\r{' ' * len(line)}\r")
        sys.stderr.flush()
