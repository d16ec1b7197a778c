"""Looking at a chained log: whether anything in it was changed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, Final, cast

from satchel.errors import MissingPathError
from satchel.usage.files import GENESIS, HEAD_SUFFIX
from satchel.usage.lines import CLOSED, STARTED

__all__ = ["Verdict", "verify"]


_NO_HEAD: Final = (
    "there is no head, so lines that are missing at the end cannot be told: name a "
    "copy of it with --head"
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found: how many lines, the digest of the last, and what is wrong.

    ``broken`` is the number of the first line that is wrong, from 1; None where none
    is. ``detail`` says what is wrong with it. ``anchored`` tells whether there was a
    head to hold the end against: without one, lines that are missing at the end cannot
    be told, which is wrong too. ``open_writers`` is how many writers have no close in
    the log: they are at work, were killed, or what they wrote last was cut off.
    """

    lines: int
    digest: str
    broken: int | None = None
    detail: str = ""
    anchored: bool = False
    open_writers: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong, as far as can be told."""
        return self.broken is None


def verify(
    path: str | PathLike[str], head: str | PathLike[str] | None = None
) -> Verdict:
    """Walk the chain from its first line to its last.

    What is told: a line that was changed, put in, taken out or moved; by a head also
    lines that are missing at the end; and that there is no head. What is not: lines
    that somebody appended as a writer would; an end that was cut off with its head
    written anew, unless a writer went on after it; and a log that was written anew as
    a whole. Against these only a head helps that was copied elsewhere.

    Args:
        path: The log.
        head: A head file, or a copy of an earlier one; None is ``PATH.head`` where that
            is there.

    Raises:
        MissingPathError: The log, or a head that was named, is not there.
    """
    log = Path(path)
    if not log.is_file():
        raise MissingPathError(str(path))
    anchor = _head(log, head)
    digest, number, at_anchor = GENESIS, 0, None
    writers: set[object] = set()
    with log.open("rb") as lines:
        for line in lines:
            wrong = _wrong(line, number + 1, digest)
            if wrong:
                return Verdict(number, digest, number + 1, wrong, anchor is not None)
            number += 1
            digest = sha256(line[:-1]).hexdigest()
            _note_writer(writers, line)
            if anchor is not None and anchor.get("line") == number:
                at_anchor = digest
    found = Verdict(
        number, digest, anchored=anchor is not None, open_writers=len(writers)
    )
    if anchor is None:
        return replace(found, broken=number + 1, detail=_NO_HEAD) if number else found
    return _held_against(anchor, at_anchor, found)


def _head(log: Path, head: str | PathLike[str] | None) -> Mapping[str, object] | None:
    """Return what a head says; one that cannot be read says that line 0 is the last."""
    file = Path(f"{log}{HEAD_SUFFIX}") if head is None else Path(head)
    if not file.is_file():
        if head is not None:
            raise MissingPathError(str(head))
        return None
    try:
        said: Any = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        said = None
    return cast("dict[str, object]", said) if isinstance(said, dict) else {}


def _note_writer(writers: set[object], line: bytes) -> None:
    """Put in who began, and take out who came to its close."""
    if STARTED.encode() in line or CLOSED.encode() in line:
        value: Any = json.loads(line)
        if value.get("event") == STARTED:
            writers.add(value.get("writer"))
        elif value.get("event") == CLOSED:
            writers.discard(value.get("writer"))


def _wrong(line: bytes, number: int, digest: str) -> str:
    """Return what is wrong with a line; empty for nothing."""
    if not line.endswith(b"\n"):
        return "it has no end: a writer was cut off, or is at work"
    try:
        value: Any = json.loads(line)
        before, counted = value["prev"], value["line"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return "it is no line of a chained log"
    if before != digest:
        return (
            "it does not follow from the line before: one of them was changed, or what "
            "was between them is missing"
        )
    if counted != number:
        return f"it says that it is line {counted!r}"
    return ""


def _held_against(
    anchor: Mapping[str, object], at_anchor: str | None, found: Verdict
) -> Verdict:
    line, digest = anchor.get("line"), anchor.get("digest")
    if not isinstance(line, int) or not isinstance(digest, str):
        detail = "the head cannot be read"
    elif line > found.lines:
        detail = f"the head tells of {line:,} lines: the end was cut off"
    elif at_anchor is not None and at_anchor != digest:
        return replace(found, broken=line, detail="it is not the line of the head")
    else:
        return found
    return replace(found, broken=found.lines + 1, detail=detail)
