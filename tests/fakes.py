"""A source in memory that can be edited, broken and slowed down; a clock to turn."""

import threading
from collections.abc import Callable, Iterable
from typing import TypeVar

from satchel.errors import (
    ReferenceNotFoundError,
    SkillError,
    SkillNotFoundError,
    SourceUnavailableError,
)
from satchel.model import FileStat, Finding, Found, Manifest

_T = TypeVar("_T")

__all__ = [
    "LOADERS",
    "FakeClock",
    "FakeSource",
    "RunningClock",
    "away",
    "in_threads",
    "pack",
]

LOADERS = {
    "lean": ("load_skill", "skill_id"),
    "agent-skills": ("load_skill", "skill_id"),
    "packs": ("load_skill", "name"),
    "references": ("load_skill_instructions", "skill_name"),
}
"""By style: the tool that loads a skill, and its parameter for the id."""


def pack(
    name: str, description: str = "Use when testing.", body: str = "# Do\n"
) -> str:
    """Return the text of a small SKILL.md."""
    return f"---\nname: {name}\ndescription: {description}\n---\n{body}"


class FakeClock:
    """Stands still until it is turned."""

    def __init__(self) -> None:
        self.time = 1000.0

    def monotonic(self) -> float:
        return self.time

    def now(self) -> float:
        return self.time


class RunningClock(FakeClock):
    """Goes on by a second whenever somebody looks at it."""

    def monotonic(self) -> float:
        self.time += 1
        return self.time


class FakeSource:
    """Packs as ``{key: {path: text}}``; each edit moves the stamp."""

    def __init__(self, label: str, packs: dict[str, dict[str, str | bytes]]) -> None:
        self.label = label
        self.packs = packs
        self.failure: Exception | None = None
        self.hold: threading.Event | None = None
        self.manifests_read = 0
        self.scans = 0
        self.closed = 0

    def scan(self) -> Iterable[Found | Finding]:
        self.scans += 1
        if self.hold is not None:
            self.hold.wait(30)
        if self.failure is not None:
            raise self.failure
        for key in sorted(self.packs):
            files = self.files(key)
            yield Found(key, f"{self.label}/{key}", tuple(files), tuple(files))

    def manifest(self, key: str) -> bytes | Manifest:
        self.manifests_read += 1
        return self.read(key, "SKILL.md", 1 << 20)

    def files(self, key: str) -> list[FileStat]:
        if key not in self.packs:
            raise SkillNotFoundError(key)
        return [
            FileStat(path, len(_bytes(text)), hash(text))
            for path, text in sorted(self.packs[key].items())
        ]

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        if isinstance(self.failure, SkillError):
            raise self.failure
        del limit_bytes
        try:
            return _bytes(self.packs[key][path])
        except KeyError:
            raise ReferenceNotFoundError(key, path) from None

    def close(self) -> None:
        self.closed += 1


def away(label: str) -> SourceUnavailableError:
    """Return what a source raises that cannot be reached."""
    return SourceUnavailableError(label, "the line is dead")


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def in_threads(call: Callable[[_T], object], arguments: Iterable[_T]) -> None:
    """Make one call for each argument, all at once, and wait for all of them."""
    threads = [threading.Thread(target=call, args=(value,)) for value in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
