"""What scripts of questions can use besides Satchel's own doors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from click.testing import CliRunner

from satchel.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


_LABEL: Final = 200
MARK: Final = "\x00 about "


class Answers(list[tuple[str, str]]):
    """Several answers to one statement, each with its label."""


def write(path: str, text: str | bytes) -> None:
    """Write a file, and the folders above it."""
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogateescape")
    file.write_bytes(text)


def pack(  # noqa: PLR0913 - the parts of a pack, each by name
    folder: str,
    name: str = "",
    *,
    description: str = "Do it. Use when a test asks for it.",
    body: str = "# Title\n\nDo it.\n",
    head: str = "",
    files: Mapping[str, str | bytes] | None = None,
) -> None:
    """Write a pack; ``head`` is more lines of its frontmatter."""
    name = name or folder.rpartition("/")[2]
    head = f"name: {name}\ndescription: {description}\n{head}"
    write(f"{folder}/SKILL.md", f"---\n{head}---\n{body}")
    for path, text in (files or {}).items():
        write(f"{folder}/{path}", text)


def run(line: str | Iterable[str], typed: str | None = None, **env: str) -> str:
    """Run a command; return its status, output and errors.

    Words of a line are separated by spaces; a list has words with spaces in them.
    """
    words = line.split() if isinstance(line, str) else list(line)
    done = CliRunner().invoke(main, words, input=typed, env=env, prog_name="satchel")
    text = f"status {done.exit_code}\n{done.stdout}"
    if done.stderr:
        text += f"--- standard error\n{done.stderr}"
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        text += f"--- raised {done.exception!r}"
    return text


def tree(folder: str) -> list[str]:
    """Return each file below a folder with its text, sorted."""
    found: list[str] = []
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file():
            text = path.read_bytes().decode("utf-8", "backslashreplace")
            found.append(f"=== {path.relative_to(folder).as_posix()}\n{text}")
    return found


def tried(call: Callable[..., object], *given: object, **named: object) -> object:
    """Return what a call returns, or what it raises."""
    from tools.record.transcripts import raised

    try:
        return call(*given, **named)
    except Exception as error:  # noqa: BLE001 - what is raised is the answer
        return raised(error)


def each(call: Callable[..., object], *given: object) -> Answers:
    """Ask the same of each of the things given; each is a question of its own."""
    from tools.record.transcripts import shown

    return Answers(
        (_label(one, number), shown(tried(call, one)))
        for number, one in enumerate(given, 1)
    )


def runs(*lines: str, **env: str) -> Answers:
    """Run commands, one after another; each is a question of its own."""
    return Answers((line, run(line, **env)) for line in lines)


def about(label: object) -> None:
    """Begin another answer: what is printed from here on."""
    print(f"{MARK}{label!s:.{_LABEL}}".replace("\n", " "))


def _label(one: object, number: int) -> str:
    # Packed bytes differ with the library that packed them.
    shown = one if isinstance(one, str) else repr(one)
    if isinstance(one, bytes) or len(shown) > _LABEL:
        return f"#{number}"
    return " ".join(shown.split())


HELPERS: Final[dict[str, Any]] = {
    "Path": Path,
    "about": about,
    "each": each,
    "os": os,
    "pack": pack,
    "run": run,
    "runs": runs,
    "tree": tree,
    "tried": tried,
    "write": write,
}
