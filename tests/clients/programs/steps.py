"""How a client's program tells what it did: a line of JSON for each step."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path


@contextmanager
def step(what: str) -> Iterator[list[str]]:
    """Tell one step; what is put into the list is said of it.

    An exception is told, and the next step is made all the same.
    """
    said: list[str] = []
    outcome = "passed"
    try:
        yield said
    except Exception as error:  # noqa: BLE001 - any of them is a step that failed
        outcome, said = "failed", [f"{type(error).__name__}: {error}"]
    told = {"what": what, "outcome": outcome, "said": " ".join(said)[:500]}
    sys.stdout.write(f"{json.dumps(told)}\n")


def same(actual: object, expected: object) -> None:
    """Compare, and say both where they differ.

    Raises:
        AssertionError: They are not the same.
    """
    if actual != expected:
        raise AssertionError(f"{actual!r}, not {expected!r}"[:400])


def files_of(library: str) -> dict[str, bytes]:
    """Return every file of a library of skills by its path."""
    folder = Path(library)
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def digest(data: bytes) -> str:
    """Return a digest as the skills extension writes it."""
    return f"sha256:{sha256(data).hexdigest()}"
