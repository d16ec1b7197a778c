"""All that one look at a server shows: its skills, and what is wrong with some."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, cast

from satchel.errors import SkillError, SourceUnavailableError
from satchel.model import Finding, Limits, Severity
from satchel.sources.over_mcp.asking import INDEX_URI, Asking, Unknown
from satchel.sources.over_mcp.entry import SkillEntry, entry_of
from satchel.sources.over_mcp.index import index_entry, items_of
from satchel.sources.over_mcp.refusal import RefusedError, told

__all__ = ["Seen", "look"]

MAX_PAGES: Final = 1_000
"""Pages of one listing."""
MAX_TOLD: Final = 100
"""Entries of one server that are told of one by one."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look showed: entries by the URI of their folder, sorted by it."""

    entries: Mapping[str, SkillEntry]
    findings: tuple[Finding, ...]
    ttl_s: float


def look(  # noqa: PLR0913 - what a source knows, and asks only here
    asking: Asking,
    label: str,
    also: Iterable[str],
    limits: Limits,
    *,
    patience_s: float,
    now: Callable[[], float],
) -> Seen:
    """Ask a server for its skills; no file of any of them is read.

    Args:
        asking: How the server is asked.
        label: What the host calls it, for findings.
        also: URIs of skills that it may not list.
        limits: Bounds on each skill; ``scan_entries`` on all skills and files.
        patience_s: Seconds for all pages together.
        now: Tells the time in seconds.

    Raises:
        SourceUnavailableError: It does not answer, or not with a list of skills.
    """
    taken = _Taken(label, limits)
    if asking.has_skills():
        ends_at = now() + patience_s
        ttl_s = _pages(asking, taken, lambda: now() >= ends_at)
        for uri in also:
            ttl_s = min(ttl_s, _one(asking, taken, uri))
    else:
        ttl_s = _older(asking, taken)
    return taken.seen(ttl_s)


@dataclass(slots=True)
class _Taken:
    """What was taken in so far."""

    label: str
    limits: Limits
    entries: dict[str, SkillEntry] = field(default_factory=dict[str, SkillEntry])
    findings: list[Finding] = field(default_factory=list[Finding])
    refused: int = 0
    held: int = 0

    @property
    def full(self) -> bool:
        """Whether no more is taken in."""
        return self.held + self.refused >= self.limits.scan_entries

    def add(self, raw: object, where: str, *, older: bool = False) -> None:
        """Take an entry in, or say why not; the others are none the worse for it."""
        try:
            entry = (index_entry if older else entry_of)(raw, self.limits)
        except RefusedError as refused:
            self.refuse(where, refused.code, refused.why, refused.fix)
        except SkillError as error:  # over a limit of ours on one file
            self.refuse(where, error.code, str(error))
        else:
            if entry.root in self.entries:
                self.refuse(where, "invalid-entry", "an earlier one has its URI")
                return
            self.entries[entry.root] = entry
            self.held += 1 + len(entry.listed)

    def refuse(self, where: str, code: str, why: str, fix: str = "") -> None:
        """Tell of an entry that is not used."""
        self.refused += 1
        if self.refused <= MAX_TOLD:
            self.tell(where, code, "error", f"not used: {why}", fix)

    def tell(
        self, where: str, code: str, severity: Severity, message: str, fix: str = ""
    ) -> None:
        """Note something that is to be told."""
        path = f"{self.label}: {where}" if where else self.label
        self.findings.append(Finding(code, severity, message, path, fix=fix))

    def seen(self, ttl_s: float) -> Seen:
        """Return all that was taken in."""
        if self.refused > MAX_TOLD:
            more = f"{self.refused - MAX_TOLD:,} more entries are not used"
            self.tell("", "invalid-entry", "error", more)
        entries = dict(sorted(self.entries.items()))
        return Seen(entries, tuple(self.findings), ttl_s)


def _pages(asking: Asking, taken: _Taken, late: Callable[[], bool]) -> float:
    """Take in every page; return for how long the shortest-lived of them holds."""
    cursors: set[str] = set()
    cursor: str | None = None
    ttl_s = float("inf")
    for number in range(1, MAX_PAGES + 1):
        page = asking.page(cursor)
        ttl_s = min(ttl_s, page.ttl_s)
        for index, raw in enumerate(page.skills):
            if taken.full:
                limit = f"scan_entries = {taken.limits.scan_entries:,}"
                _cut(taken, f"it lists more than {limit} skills and files")
                return ttl_s
            taken.add(raw, _place(raw, number, index))
        cursor = page.cursor
        if cursor is None:
            return ttl_s
        if cursor in cursors:
            _cut(taken, f"page {number} leads back to an earlier one")
            return ttl_s
        cursors.add(cursor)
        if late():
            detail = f"its list did not end in time; {number:,} pages came"
            raise SourceUnavailableError(taken.label, detail)
    _cut(taken, f"its list has more than {MAX_PAGES:,} pages")
    return ttl_s


def _cut(taken: _Taken, why: str) -> None:
    fix = "ask the server's owner; what came until then is used"
    taken.tell("", "endless-listing", "error", f"the rest is not asked for: {why}", fix)


def _place(raw: object, page: int, index: int) -> str:
    """Return where an entry stands, by its URI where it has one."""
    uri = _uri(raw)
    return told(uri) if isinstance(uri, str) else f"page {page}, entry {index + 1}"


def _uri(raw: object) -> object:
    return cast("dict[str, object]", raw).get("uri") if isinstance(raw, dict) else None


def _one(asking: Asking, taken: _Taken, uri: str) -> float:
    """Take in a skill that was named by its URI."""
    if any(entry.uri == uri for entry in taken.entries.values()):
        return float("inf")
    try:
        raw, ttl_s = asking.skill(uri)
    except Unknown:
        taken.refuse(told(uri), "skill-not-found", "the server has no such skill")
        return 0.0
    if _uri(raw) == uri:
        taken.add(raw, told(uri))
    else:
        taken.refuse(told(uri), "invalid-entry", "the server answered with another one")
    return ttl_s


def _older(asking: Asking, taken: _Taken) -> float:
    """Take in the index that servers had before the extension was final."""
    try:
        items = items_of(asking.index())
    except Unknown:
        taken.tell(
            "",
            "no-skills-offered",
            "warning",
            f"the server has neither the Skills extension nor {INDEX_URI}",
            "take it out, or ask its owner whether it serves skills",
        )
        return 0.0
    except RefusedError as refused:
        taken.refuse(INDEX_URI, refused.code, refused.why, refused.fix)
        return 0.0
    for number, raw in enumerate(items, 1):
        if taken.full:
            _cut(taken, f"it lists more than {taken.limits.scan_entries:,} skills")
            break
        taken.add(raw, f"{INDEX_URI}, entry {number}", older=True)
    return 0.0
