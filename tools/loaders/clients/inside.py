"""Clients in Python, asked inside their own environment by a program of ours."""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tools.loaders.clients import reading
from tools.loaders.clients.desk import end
from tools.loaders.driver import Seen, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Generator
    from subprocess import Popen

    from tools.loaders.clients.desk import Desk

PROGRAMS: Final = Path(__file__).with_name("programs")


@contextmanager
def program(desk: Desk, name: str) -> Generator[Popen[str]]:
    """Start one of the programs, and yield it."""
    process = subprocess.Popen(
        [*desk.command, str(PROGRAMS / "forking.py"), f"ask_{name}"],
        cwd=desk.root,
        env=desk.environ({"HERMES_HOME": str(desk.home)}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        start_new_session=True,
    )
    try:
        yield process
    finally:
        end(process)


def ask(process: Popen[str], folder: Path) -> dict[str, Any]:
    """Return what a program says of a folder.

    Raises:
        UnavailableError: It has ended.
    """
    try:
        print(json.dumps(str(folder)), file=process.stdin, flush=True)
    except OSError as error:
        raise UnavailableError("its program ended") from error
    line = process.stdout.readline() if process.stdout else ""
    if not line:
        raise UnavailableError("its program ended")
    answer: dict[str, Any] = json.loads(line)
    return answer


def pairs(answer: dict[str, Any]) -> Seen:
    """Return the skills that a program listed."""
    found = tuple(
        (name, description) for name, description in answer.get("found") or ()
    )
    return Seen(found, answer.get("error", ""))


def prompt(answer: dict[str, Any]) -> Seen:
    """Return the skills in a system prompt of Hermes."""
    return Seen(reading.hermes(answer.get("found") or ""), answer.get("error", ""))
