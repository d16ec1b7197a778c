"""The seams: what a part of Satchel asks of something it does not know."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from satchel.model import (
    ApprovalAnswer,
    Catalog,
    FileStat,
    Finding,
    Found,
    Hit,
    Manifest,
    Question,
    Reply,
    UsageEvent,
)

__all__ = [
    "Approval",
    "Approver",
    "Clock",
    "NamesByPlace",
    "NamesSkills",
    "Ranker",
    "SkillSource",
    "TokenCounter",
    "UsageSink",
    "UsedApprovals",
]

Approval: TypeAlias = Reply | ApprovalAnswer | bool
"""What somebody answers; True is ``yes_once``, False ``no``."""

Approver: TypeAlias = Callable[[Question], Approval | Awaitable[Approval]]
"""Somebody who is asked before a thing is done."""


@runtime_checkable
class SkillSource(Protocol):
    """A place that packs come from: read-only, uncached, safe across threads.

    Everything it returns is untrusted. A source raises only `SkillError`s; anything
    else that escapes it is treated as `SourceUnavailableError` by the registry.
    Third parties can check theirs with `satchel.testing.SourceContract`.

    Two attributes beyond the protocol are for skills of other machines. Where
    ``yields`` is true, no skill of the source takes another's place. ``remote`` names
    the kind of place (``MCP server``): it is told wherever a skill of the source is,
    and nothing of it is read before somebody asks.

    A third one, ``progress``, is for places where `scan` takes long before it yields:
    any value that changes while it gets on. A first scan is waited for as long as
    ``progress`` changes or packs are yielded, and given up when nothing moved for the
    deadline of the registry.
    """

    @property
    def label(self) -> str:
        """Short name for messages and metrics, free of credentials."""
        ...

    def scan(self) -> Iterable[Found | Finding]:
        """Yield each pack once, sorted by key, and what was met on the way.

        Cheap: no file body is read.

        Raises:
            SourceUnavailableError: No answer now; the same call may work later.
        """
        ...

    def manifest(self, key: str) -> bytes | Manifest:
        """Return the raw SKILL.md, or a manifest where there is no file.

        Raises:
            SkillNotFoundError: The source answered, and has no such pack.
            LimitExceededError: The file is over ``Limits.skill_md_bytes``.
            ReferenceUnreadableError: It is there and cannot be read.
            SourceUnavailableError: As for `scan`.
        """
        ...

    def files(self, key: str) -> Iterable[FileStat]:
        """Yield every regular file of the pack, SKILL.md included, sorted by path.

        Raises:
            SkillNotFoundError, LimitExceededError, SourceUnavailableError: As above.
        """
        ...

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        """Return one file's raw bytes; ``path`` is relative and uses ``/``.

        Raises:
            ReferenceEscapesError: ``path`` would leave the pack, or goes through a
                link or to something that is no regular file.
            ReferenceNotFoundError: The pack has no such file.
            ReferenceUnreadableError: It is there and cannot be read.
            LimitExceededError: It is larger than ``limit_bytes``.
            SourceUnavailableError: As for `scan`.
        """
        ...

    def close(self) -> None:
        """Let go of what is held; a second call does nothing."""
        ...


@runtime_checkable
class NamesSkills(Protocol):
    """A source that decides under which id a pack enters the catalog, or whether."""

    def identify(self, manifest: Manifest) -> str | None:
        """Return the id for this manifest; None leaves the pack out, as filtered."""
        ...


@runtime_checkable
class NamesByPlace(Protocol):
    """A source whose ids depend on where a pack is; it goes before `NamesSkills`."""

    def identify_at(self, manifest: Manifest, key: str) -> str | None:
        """Return the id of the pack ``key``; None leaves it out, as filtered."""
        ...


class Ranker(Protocol):
    """Finds the skills of a catalog that match a query."""

    def rank(self, catalog: Catalog, query: str, k: int) -> Sequence[Hit]:
        """Return at most ``k`` hits, best first, ties by id."""
        ...


class UsageSink(Protocol):
    """Takes events of use; may fail without anybody's load failing with it."""

    def record(self, event: UsageEvent) -> None:
        """Take one event."""
        ...


class UsedApprovals(Protocol):
    """Remembers for which calls an approval was used; see `satchel.runtime`."""

    def use(self, key: str) -> bool:
        """Note the key for good, and tell whether it is new: at once, for all threads.

        What it raises is taken as: it cannot be noted, so the call is not made.
        """
        ...


class TokenCounter(Protocol):
    """Counts what a text costs a model."""

    @property
    def name(self) -> str:
        """What to call the count: an estimate says that it is one."""
        ...

    def count(self, text: str) -> int:
        """Return how many tokens ``text`` costs; 0 for no text."""
        ...


class Clock(Protocol):
    """Tells the time; tests bring their own."""

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        ...

    def now(self) -> float:
        """Return seconds since the epoch."""
        ...
