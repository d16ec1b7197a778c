"""What a search of a folder looks at, and what it reports instead of listing."""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from satchel.files import escape_name, list_folder
from satchel.model import SKILL_FILE, Finding, Limits

Entries: TypeAlias = Sequence[os.DirEntry[str]]

# Folders that may be very large, and hold nothing that the user wrote.
PRUNED: Final = frozenset(
    [
        *(".git", ".hg", ".svn", ".bzr", ".jj", "node_modules", ".venv", ".tox"),
        *(".nox", ".cache", ".mypy_cache", ".ruff_cache", ".pytest_cache"),
    ]
)
# What an environment has, whatever it is called: those of Python, and of conda.
_ENVIRONMENT: Final = re.compile(r"pyvenv\.cfg|conda-meta")


class UnlistedFolder(NamedTuple):
    """A folder from which nothing is listed, why, and where its packs could be.

    Without a reason it is too deep.
    """

    path: str
    key: str
    reason: str = ""
    place: str = ""


@dataclass(slots=True)
class SearchTrace:
    """What a search depends on: one that sees the same again has the same result.

    Attributes:
        folders: Keys of the folders that were listed and are no packs.
        subfolders: The folders inside of packs, by key; nothing for most packs.
        links: Links that lead to no folder, by key: whether they lead to something.
        is_plain: Whether that is all, so that no link was followed, no limit reached
            and nothing closed.
    """

    folders: list[str] = field(default_factory=list[str])
    subfolders: dict[str, tuple[str, ...]] = field(
        default_factory=dict[str, tuple[str, ...]]
    )
    links: dict[str, bool] = field(default_factory=dict[str, bool])
    is_plain: bool = True


@dataclass(eq=False)
class FolderReport:
    """What one search below ``root`` has seen, and its findings.

    Attributes:
        shown: The root as the user wrote it; begins every path that is shown.
        depth: How many folders deep to search.
        seen: Entries that were looked at so far; grows while the search goes on.
        trace: What the result depends on, for an index.
        unlisted: Folders in which each SKILL.md is reported at the end.
    """

    root: str
    shown: str
    limits: Limits
    depth: int
    seen: int = 0
    trace: SearchTrace = field(default_factory=SearchTrace)
    findings: list[Finding] = field(default_factory=list[Finding])
    unlisted: list[UnlistedFolder] = field(default_factory=list[UnlistedFolder])
    visited: set[str] = field(default_factory=set[str])
    left: int = 0
    """Entries that may still be looked at."""
    reserved: int = 0
    """Those of them that are reserved for the folders still to come."""
    entries_of: Callable[[str, int], Entries] | None = None
    """Lists a folder that is not on a disk."""

    def report(self, code: str, path: str, **values: Any) -> None:  # noqa: ANN401
        self.findings.append(Finding.of(code, path, **values))

    def report_too_many(self, path: str) -> None:
        self.trace.is_plain = False
        limit = self.limits.scan_entries
        self.report("limit-exceeded", path, sentence="entries", limit=limit)

    def cannot_read(self, key: str, error: OSError) -> None:
        self.trace.is_plain = False
        where = escape_name(self.where(key))
        self.report("unreadable-folder", where, reason=error.strerror or "")

    def where(self, key: str) -> str:
        return f"{self.shown.rstrip('/')}/{key}" if key else self.shown

    def list_within(self, path: str, key: str) -> Entries | None:
        """Return what is in a folder; None, and a finding, where that is too much."""
        allowed = self.left - self.reserved if self.reserved > 0 else self.left
        entries_of = self.entries_of or list_folder
        entries = entries_of(path, allowed) if allowed >= 0 else ()
        count = len(entries)
        self.left -= count
        self.seen += count
        if count <= allowed:
            return entries
        self.trace.is_plain = False
        limit = self.limits.scan_entries
        self.prune(key, f"there are more than scan_entries = {limit:,} entries")
        return None

    def prune(self, key: str, reason: str = "folders of this name never are") -> None:
        """Report a folder that is not searched; the root has a finding of its own."""
        if key:
            where = escape_name(self.where(key))
            self.report("unsearched-folder", where, reason=reason)

    def is_environment(self, entries: Entries, key: str) -> bool:
        """Tell whether a folder is an environment, and report it."""
        if not any(_ENVIRONMENT.fullmatch(entry.name) for entry in entries):
            return False
        self.prune(key, "it is an environment")
        return True

    def report_unlisted(self) -> None:
        """Report each SKILL.md in the folders from which nothing is listed."""
        while self.unlisted:
            folder = self.unlisted.pop()
            if folder.path in self.visited:
                continue  # a link led to it
            try:
                entries = self.list_within(folder.path, folder.key)
                if entries is not None:
                    self.trace.folders.append(folder.key)
                    if not self.is_environment(entries, folder.key):
                        for entry in entries:
                            self.set_aside(entry, folder)
            except FileNotFoundError:
                continue
            except OSError as error:
                self.cannot_read(folder.key, error)

    def set_aside(self, entry: os.DirEntry[str], folder: UnlistedFolder) -> None:
        """Report a SKILL.md in a folder from which nothing is listed, or look on."""
        name, key = entry.name, f"{folder.key}/{entry.name}"
        if name == SKILL_FILE:
            self.report_skill(key, folder.reason, folder.place)
        elif entry.is_dir(follow_symlinks=False):
            if name in PRUNED:
                self.prune(key)
            else:
                self.unlisted.append(folder._replace(path=entry.path, key=key))

    def report_skill(self, key: str, reason: str, place: str) -> None:
        """Report a SKILL.md that is not listed, and where it could be instead."""
        where = escape_name(self.where(key))
        if reason:
            place = escape_name(self.where(place))
            self.report("unlisted-skill", where, reason=reason, place=place)
        else:
            limit, note = self.depth, {"severity": "note", "sentence": "depth"}
            self.report("limit-exceeded", where, limit=limit, **note)
