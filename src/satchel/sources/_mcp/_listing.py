"""All that one look at a server shows: its skills, and what is wrong with some."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, cast

from satchel.errors import SkillError, SourceUnavailableError
from satchel.model import Finding, Limits, Severity
from satchel.sources._mcp._entry import (
    McpSkillEntry,
    index_items,
    parse_entry,
    parse_index_entry,
)
from satchel.sources._mcp._requests import (
    INDEX_URI,
    McpRequests,
    NotServedError,
    SkillPage,
)
from satchel.sources._mcp._uris import EntryRefusedError, short_line

MAX_PAGES: Final = 1_000
"""Pages of one listing."""
MAX_PAGES_WITHOUT_NEW: Final = 3
"""Pages in a row that bring no skill that was not listed before."""
MAX_ENTRY_FINDINGS: Final = 100
"""Entries of one server that are told of one by one."""


@dataclass(frozen=True, slots=True)
class ServerListing:
    """What a look showed: entries by the URI of their folder, sorted by it.

    ``cursor`` is where the list goes on, None where it ended.
    """

    entries: Mapping[str, McpSkillEntry]
    findings: tuple[Finding, ...]
    ttl_s: float
    cursor: str | None = None


def list_skills(  # noqa: PLR0913 - what a source knows, and asks only here
    asking: McpRequests,
    label: str,
    also: Iterable[str],
    limits: Limits,
    *,
    patience_s: float,
    now: Callable[[], float],
    before: ServerListing | None = None,
) -> ServerListing:
    """Ask a server for its skills; no file of any of them is read.

    A list that does not end in time, or breaks off, is used as far as it came. The next
    look goes on from there.

    Args:
        asking: How the server is asked.
        label: What the host calls it, for findings.
        also: URIs of skills that it may not list.
        limits: Bounds on each skill; ``scan_entries`` on all skills and files.
        patience_s: Seconds for all pages together.
        now: Tells the time in seconds.
        before: What the look before this one showed.

    Raises:
        SourceUnavailableError: It does not answer, or not with a list of skills.
    """
    taken = _ListingBuilder(label, limits)
    if not asking.has_skills():
        return taken.seen(_add_older_index(asking, taken))
    ends_at = now() + patience_s
    if before is not None and before.cursor is not None:
        taken.resume(before)
    ttl_s = _add_pages(asking, taken, lambda: now() >= ends_at)
    for uri in also:
        ttl_s = min(ttl_s, _add_by_uri(asking, taken, uri))
    if before is not None and taken.cursor is not None:
        taken.keep(before)
    return taken.seen(ttl_s)


@dataclass(slots=True)
class _ListingBuilder:
    """What was taken in so far."""

    label: str
    limits: Limits
    entries: dict[str, McpSkillEntry] = field(default_factory=dict[str, McpSkillEntry])
    findings: list[Finding] = field(default_factory=list[Finding])
    refused: int = 0
    held: int = 0
    news: int = 0
    roots: set[str] = field(default_factory=set[str])
    cursor: str | None = None

    def resume(self, before: ServerListing) -> None:
        """Go on where an earlier look had to stop."""
        self.cursor = before.cursor
        self.keep(before)

    def keep(self, before: ServerListing) -> None:
        """Keep what an earlier look showed, where this one did not come to it."""
        for root, entry in before.entries.items():
            if root not in self.entries:
                self.entries[root] = entry
                self.held += 1 + len(entry.listed)

    @property
    def full(self) -> bool:
        """Whether no more is taken in."""
        return self.held + self.refused >= self.limits.scan_entries

    def add(self, raw: object, where: str, *, older: bool = False) -> None:
        """Take an entry in, or say why not; the others are none the worse for it."""
        try:
            entry = (parse_index_entry if older else parse_entry)(raw, self.limits)
        except EntryRefusedError as refused:
            self.refuse(where, refused.code, refused.why, refused.fix)
        except SkillError as error:  # over a limit of ours on one file
            self.refuse(where, error.code, str(error))
        else:
            if entry.root in self.roots:
                self.refuse(where, "invalid-entry", "an earlier one has its URI")
                return
            self.roots.add(entry.root)
            self.entries[entry.root] = entry
            self.held += 1 + len(entry.listed)
        self.news += 1

    def refuse(self, where: str, code: str, why: str, fix: str = "") -> None:
        """Tell of an entry that is not used."""
        self.refused += 1
        if self.refused <= MAX_ENTRY_FINDINGS:
            self.tell(where, code, "error", f"not used: {why}", fix)

    def tell(
        self, where: str, code: str, severity: Severity, message: str, fix: str = ""
    ) -> None:
        """Note something that is to be told."""
        path = f"{self.label}: {where}" if where else self.label
        self.findings.append(Finding(code, severity, message, path, fix=fix))

    def seen(self, ttl_s: float) -> ServerListing:
        """Return all that was taken in."""
        if self.refused > MAX_ENTRY_FINDINGS:
            more = f"{self.refused - MAX_ENTRY_FINDINGS:,} more entries are not used"
            self.tell("", "invalid-entry", "error", more)
        entries = dict(sorted(self.entries.items()))
        ttl_s = ttl_s if self.cursor is None else 0.0
        return ServerListing(entries, tuple(self.findings), ttl_s, self.cursor)


def _add_pages(
    asking: McpRequests, taken: _ListingBuilder, late: Callable[[], bool]
) -> float:
    """Take in every page; return for how long the shortest-lived of them holds.

    ``taken.cursor`` is where to begin, and then where the list goes on.
    """
    cursors: set[str] = set()
    ttl_s, idle = float("inf"), 0
    for number in range(1, MAX_PAGES + 1):
        page = _next_page(asking, taken, number)
        if page is None:
            return 0.0
        ttl_s = min(ttl_s, page.ttl_s)
        known = taken.news
        why = _add_page(taken, page, number)
        idle = idle + 1 if taken.news == known else 0
        taken.cursor = page.cursor
        if page.cursor in cursors:
            why = f"page {number} leads back to an earlier one"
        elif idle == MAX_PAGES_WITHOUT_NEW:
            why = f"{idle} pages in a row bring no skill that is new"
        if why:
            _end_listing(taken, why)
        if taken.cursor is None:
            return ttl_s
        cursors.add(taken.cursor)
        if late():
            _note_incomplete(taken, f"it did not end in time; {number:,} pages came")
            return ttl_s
    _end_listing(taken, f"its list has more than {MAX_PAGES:,} pages")
    return ttl_s


def _add_page(taken: _ListingBuilder, page: SkillPage, number: int) -> str:
    """Take in one page; return why no more is, if that is so."""
    for index, raw in enumerate(page.skills):
        if taken.full:
            limit = f"scan_entries = {taken.limits.scan_entries:,}"
            return f"it lists more than {limit} skills and files"
        taken.add(raw, _entry_location(raw, number, index))
    return ""


def _next_page(
    asking: McpRequests, taken: _ListingBuilder, number: int
) -> SkillPage | None:
    """Return the next page; None where the list breaks off.

    Raises:
        SourceUnavailableError: There is not even a first page.
    """
    try:
        return asking.page(taken.cursor)
    except SourceUnavailableError as error:
        if taken.cursor is None:
            raise
        if number == 1:  # the server has forgotten where the last look stopped
            taken.cursor = None
            return asking.page(None)
        _note_incomplete(
            taken, f"it broke off after {number - 1:,} pages: {error.detail}"
        )
        return None


def _note_incomplete(taken: _ListingBuilder, why: str) -> None:
    """Tell that a list is not whole yet."""
    fix = "nothing: the next sync goes on from there"
    message = f"its list of skills is not whole: {why}; what came is used"
    taken.tell("", "partial-listing", "warning", message, fix)


def _end_listing(taken: _ListingBuilder, why: str) -> None:
    taken.cursor = None
    fix = "ask the server's owner; what came until then is used"
    taken.tell("", "endless-listing", "error", f"the rest is not asked for: {why}", fix)


def _entry_location(raw: object, page: int, index: int) -> str:
    """Return where an entry stands, by its URI where it has one."""
    uri = _entry_uri(raw)
    return (
        short_line(uri) if isinstance(uri, str) else f"page {page}, entry {index + 1}"
    )


def _entry_uri(raw: object) -> object:
    return cast("dict[str, object]", raw).get("uri") if isinstance(raw, dict) else None


def _add_by_uri(asking: McpRequests, taken: _ListingBuilder, uri: str) -> float:
    """Take in a skill that was named by its URI."""
    if any(entry.uri == uri for entry in taken.entries.values()):
        return float("inf")
    try:
        raw, ttl_s = asking.skill(uri)
    except NotServedError:
        taken.refuse(short_line(uri), "skill-not-found", "the server has no such skill")
        return 0.0
    if _entry_uri(raw) == uri:
        taken.add(raw, short_line(uri))
    else:
        taken.refuse(
            short_line(uri), "invalid-entry", "the server answered with another one"
        )
    return ttl_s


def _add_older_index(asking: McpRequests, taken: _ListingBuilder) -> float:
    """Take in the index that servers had before the extension was final."""
    try:
        items = index_items(asking.index())
    except NotServedError:
        taken.tell(
            "",
            "no-skills-offered",
            "warning",
            f"the server has neither the Skills extension nor {INDEX_URI}",
            "take it out, or ask its owner whether it serves skills",
        )
        return 0.0
    except EntryRefusedError as refused:
        taken.refuse(INDEX_URI, refused.code, refused.why, refused.fix)
        return 0.0
    for number, raw in enumerate(items, 1):
        if taken.full:
            _end_listing(
                taken, f"it lists more than {taken.limits.scan_entries:,} skills"
            )
            break
        taken.add(raw, f"{INDEX_URI}, entry {number}", older=True)
    return 0.0
