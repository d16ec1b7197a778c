"""All skills of a server, as one sync gets them, and what is wrong with some."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from satchel.errors import SkillError, SourceUnavailableError
from satchel.model import Finding, Limits
from satchel_server.mcp_source._connection import (
    INDEX_URI,
    McpConnection,
    NotServedError,
    SkillPage,
)
from satchel_server.mcp_source._entry import (
    EntryRefusedError,
    McpSkillEntry,
    index_items,
    parse_entry,
    parse_index_entry,
    short_line,
)

# Pages of one listing.
MAX_PAGES: Final = 1_000
# Pages in a row that have no new skill.
MAX_PAGES_WITHOUT_NEW: Final = 3
# Entries of one server that get a finding each; more are only counted.
MAX_ENTRY_FINDINGS: Final = 100


@dataclass(frozen=True, slots=True)
class ServerListing:
    """The entries of a server, by the URI of their folder and sorted by it.

    ``cursor`` is where the list goes on; None if it ended.
    """

    entries: Mapping[str, McpSkillEntry]
    findings: tuple[Finding, ...]
    ttl_s: float
    cursor: str | None = None


def list_skills(  # noqa: PLR0913 - what a source knows, and needs only here
    server: McpConnection,
    also: Iterable[str],
    limits: Limits,
    *,
    max_s: float,
    now: Callable[[], float],
    before: ServerListing | None = None,
) -> ServerListing:
    """Ask a server for its skills; none of their files is read.

    A list that does not end in ``max_s`` seconds, or breaks off, is used as far as it
    came. The next call, to which this one's result is ``before``, goes on from there.
    ``also`` has URIs of skills that the server may not list.
    """
    listing = _Listing(server, limits)
    if not server.has_skills():
        listing.add_older_index()
        return listing.result(0.0)
    ends_at = now() + max_s
    if before is not None and before.cursor is not None:
        listing.cursor = before.cursor
        # This call begins in the middle of the list, so the first part is kept.
        listing.add_missing(before)
    ttl_s = listing.add_pages(lambda: now() >= ends_at)
    for uri in also:
        ttl_s = min(ttl_s, listing.add_by_uri(uri))
    # The list is not at its end, so what is missing may still be there.
    if before is not None and listing.cursor is not None:
        listing.add_missing(before)
    return listing.result(ttl_s)


@dataclass(slots=True)
class _Listing:
    """What one server has listed so far."""

    server: McpConnection
    limits: Limits
    entries: dict[str, McpSkillEntry] = field(default_factory=dict[str, McpSkillEntry])
    findings: list[Finding] = field(default_factory=list[Finding])
    refused: int = 0
    size: int = 0
    """Skills and files, which ``scan_entries`` limits."""
    new: int = 0
    """Entries that no earlier page had."""
    roots: set[str] = field(default_factory=set[str])
    cursor: str | None = None

    def add_missing(self, before: ServerListing) -> None:
        """Add the entries of an earlier listing that this one did not come to."""
        for root, entry in before.entries.items():
            if root not in self.entries:
                self.entries[root] = entry
                self.size += 1 + len(entry.listed)

    def add_pages(self, late: Callable[[], bool]) -> float:
        """Add every page from ``cursor`` on; return how long all of them hold."""
        cursors: set[str] = set()
        ttl_s, pages_without_new = float("inf"), 0
        for number in range(1, MAX_PAGES + 1):
            page = self._next_page(number)
            if page is None:
                return 0.0
            ttl_s = min(ttl_s, page.ttl_s)
            new_before = self.new
            reason = self._add_page(page, number)
            pages_without_new = 0 if self.new > new_before else pages_without_new + 1
            self.cursor = page.cursor
            # A server could otherwise keep the host busy for ever.
            if page.cursor in cursors:
                reason = f"page {number} leads back to an earlier one"
            elif pages_without_new == MAX_PAGES_WITHOUT_NEW:
                reason = f"{pages_without_new} pages in a row have no new skill"
            if reason:
                self._cut(reason)
            if self.cursor is None:
                return ttl_s
            cursors.add(self.cursor)
            # After a page, so that each call gets further, however slow the server is.
            if late():
                self._stop(f"it did not end in time; {number:,} pages came")
                return ttl_s
        self._cut(f"its list has more than {MAX_PAGES:,} pages")
        return ttl_s

    def add_by_uri(self, uri: str) -> float:
        """Add a skill that the user named; return how long the answer holds."""
        if any(entry.uri == uri for entry in self.entries.values()):
            return float("inf")
        where = short_line(uri)
        try:
            item, ttl_s = self.server.skill(uri)
        except NotServedError:
            self._refuse(where, "skill-not-found", "the server has no such skill")
            return 0.0
        if _uri(item) == uri:
            self._add(item, where)
        else:
            self._refuse(where, "invalid-entry", "the server answered with another one")
        return ttl_s

    def add_older_index(self) -> None:
        """Add the index that servers had before the extension was final."""
        try:
            items = index_items(self.server.index())
        except NotServedError:
            self._report("no-skills-offered", index=INDEX_URI)
            return
        except EntryRefusedError as error:
            self._refuse(INDEX_URI, error.code, error.problem, error.fix)
            return
        for number, item in enumerate(items, 1):
            if self._is_full():
                self._cut(f"it lists more than {self.limits.scan_entries:,} skills")
                break
            self._add(item, f"{INDEX_URI}, entry {number}", older=True)

    def result(self, ttl_s: float) -> ServerListing:
        if self.refused > MAX_ENTRY_FINDINGS:
            more = f"{self.refused - MAX_ENTRY_FINDINGS:,} more entries are not used"
            self.findings.append(
                Finding("invalid-entry", "error", more, self.server.label)
            )
        entries = dict(sorted(self.entries.items()))
        # A list that has not ended goes on at the very next scan.
        ttl_s = ttl_s if self.cursor is None else 0.0
        return ServerListing(entries, tuple(self.findings), ttl_s, self.cursor)

    def _next_page(self, number: int) -> SkillPage | None:
        """Return the next page; None if the list breaks off."""
        try:
            return self.server.page(self.cursor)
        except SourceUnavailableError as error:
            if self.cursor is None:
                raise
            if number == 1:  # the server forgot where the last listing stopped
                self.cursor = None
                return self.server.page(None)
            self._stop(f"it broke off after {number - 1:,} pages: {error.detail}")
            return None

    def _add_page(self, page: SkillPage, number: int) -> str:
        """Add one page; return why no more is added, empty if more may be."""
        for index, item in enumerate(page.skills, 1):
            if self._is_full():
                limit = f"scan_entries = {self.limits.scan_entries:,}"
                return f"it lists more than {limit} skills and files"
            uri = _uri(item)
            place = f"page {number}, entry {index}"
            self._add(item, short_line(uri) if isinstance(uri, str) else place)
        return ""

    def _is_full(self) -> bool:
        return self.size + self.refused >= self.limits.scan_entries

    def _add(self, item: object, where: str, *, older: bool = False) -> None:
        """Add an entry, or a finding that says why it is not used."""
        parse = parse_index_entry if older else parse_entry
        try:
            entry = parse(item, self.limits)
        except EntryRefusedError as error:
            self._refuse(where, error.code, error.problem, error.fix)
        except SkillError as error:  # one of its files is over a limit
            self._refuse(where, error.code, str(error))
        else:
            if entry.root in self.roots:
                self._refuse(where, "invalid-entry", "an earlier one has its URI")
                return
            self.roots.add(entry.root)
            self.entries[entry.root] = entry
            self.size += 1 + len(entry.listed)
        # Refused ones count, too: a page of nothing else does not end the list.
        self.new += 1

    def _refuse(self, where: str, code: str, problem: str, fix: str = "") -> None:
        self.refused += 1
        if self.refused <= MAX_ENTRY_FINDINGS:
            path = f"{self.server.label}: {where}"
            message = f"not used: {problem}"
            self.findings.append(Finding(code, "error", message, path, fix=fix))

    def _stop(self, reason: str) -> None:
        """Report that the list is not complete yet."""
        self._report("partial-listing", sentence="server", reason=reason)

    def _cut(self, reason: str) -> None:
        """End the list here."""
        self.cursor = None
        self._report("endless-listing", reason=reason)

    def _report(self, code: str, **values: Any) -> None:  # noqa: ANN401
        self.findings.append(Finding.of(code, self.server.label, **values))


def _uri(item: object) -> object:
    return cast("Any", item).get("uri") if isinstance(item, dict) else None
