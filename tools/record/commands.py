"""What the command line prints, and its status."""

from __future__ import annotations

import shutil
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from click.testing import CliRunner

from satchel.cli import main
from tools.record.answers import Answer, answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

LIBRARY: Final = (
    ("list", "--skills", "{}"),
    ("list", "--json", "--skills", "{}"),
    ("doctor", "--skills", "{}"),
    ("find", "review a pull request", "--skills", "{}"),
    ("find", "tax form", "--json", "--skills", "{}"),
    ("prompt", "--format", "xml-id", "--budget", "500", "--skills", "{}"),
    ("check", "{}"),
    ("check", "{}", "--profile", "strict", "--format", "markdown"),
)
FORMATS: Final = ("text", "json", "sarif", "github", "markdown")
ROLES: Final = ("backend", "qa", "analyst", "no-such-role")
COMMANDS: Final = (  # noqa: SIM905 - a line of each word would read worse
    "list find show prompt doctor why check explain new convert diff pack retire role "
    "build publish serve connect usage"
).split()


def ask(home: Path, libraries: Mapping[str, Path]) -> Iterator[Answer]:
    """Run the commands on whole libraries, then pack by pack."""
    for name in sorted(libraries.keys() - {"made-up"}):
        for arguments in LIBRARY:
            yield _run(home, *(part.format(name) for part in arguments))
    yield from _of_made_up(home)
    yield from _of_examples(home)
    for role in ROLES:
        yield _run(home, "role", role, "--templates", "templates")
    yield from _of_work(home)
    for command in COMMANDS:
        yield _run(home, command, "--no-such-option")
    for code in _codes():
        yield _run(home, "explain", code)


def _of_made_up(home: Path) -> Iterator[Answer]:
    packs = _packs(home, "made-up")
    for pack in packs:
        yield _run(home, "check", pack)
    for pack in packs[::6]:
        yield _run(home, "check", pack, "--for", "claude-code,codex,hermes")
        yield _run(home, "convert", pack, "--to", "strict", "-o", "strict")
    for pack in _packs(home, "strict"):
        text = (home / pack / "SKILL.md").read_text("utf-8", "surrogateescape")
        yield answer(f"{pack}/SKILL.md", text, home)
    for before, after in pairwise(packs[::20]):
        yield _run(home, "diff", before, after)


def _of_examples(home: Path) -> Iterator[Answer]:
    for pack in _packs(home, "examples"):
        name = pack.rpartition("/")[2]
        for format in FORMATS:  # noqa: A001 - the word of the option
            yield _run(home, "check", pack, "--format", format)
        for more in ((), ("--envelope", "xml"), ("--envelope", "json")):
            yield _run(home, "show", name, *more, "--skills", "examples")
        yield _run(home, "why", name, "--skills", "examples")


def _packs(home: Path, library: str) -> list[str]:
    """Return the folders of a library's packs, relative to ``home``, sorted."""
    found = (home / library).rglob("SKILL.md")
    return sorted(path.parent.relative_to(home).as_posix() for path in found)


def _of_work(home: Path) -> Iterator[Answer]:
    """Make, pack, build and retire, in a copy."""
    shutil.copytree(home / "examples", home / "work")
    description = "Greet a customer. Use when a chat begins."
    yield _run(home, "new", "greet", "--description", description, "--in", "work")
    yield _run(home, "check", "work/greet")
    yield _run(home, "pack", "work/pdf-forms", "-o", "pdf-forms.skill")
    yield _run(home, "build", "dist", "--skills", "work")  # a template is unfinished
    yield _run(home, "build", "dist", "--skills", "work", "--allow-findings")
    yield _run(home, "publish", "dist", "public")
    yield _run(home, "retire", "sql-style", "--for", "pdf-forms", "--skills", "work")
    yield _run(home, "why", "sql-style", "--skills", "work")
    yield _run(home, "connect", "claude-code")


def _codes() -> list[str]:
    """Return every code that `explain` lists."""
    listed = CliRunner().invoke(main, ["explain"]).stdout.splitlines()
    words = (line.split() for line in listed)
    return sorted({first[0] for first in words if first and "-" in first[0]})


def _run(home: Path, *arguments: str) -> Answer:
    done = CliRunner().invoke(main, list(arguments), prog_name="satchel")
    text = f"status {done.exit_code}\n{done.stdout}"
    if done.stderr:
        text += f"--- standard error\n{done.stderr}"
    return answer(" ".join(arguments), text, home)
