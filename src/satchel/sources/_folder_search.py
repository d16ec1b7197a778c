"""Find the packs below a folder, and follow few links that lead out of it."""

# ruff: noqa: PTH115, PTH116, PTH118, PTH119 - a Path for each folder costs too much
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from satchel.errors import LimitExceededError
from satchel.files import (
    TOO_LARGE_FIX,
    escape_name,
    list_folder,
    locate_findings,
    stat_of,
    walk_pack,
)
from satchel.model import SKILL_FILE, FileStat, Finding, Found, Limits
from satchel.text import plural

# Where a pack really is: a folder that is trusted, and a path below it.
PackLocation: TypeAlias = tuple[str, str]

_Entries: TypeAlias = Sequence[os.DirEntry[str]]

# Entries kept for a folder: most packs have fewer than ten.
_RESERVED_ENTRIES: Final = 64

_SKILLS: Final = "skills"
# Folders of clients that packs are in; the rest are copies and caches.
#
# Source: `satchel.clients`, and the plug-ins that repositories keep in ``.github``.
_CLIENT_SUBFOLDERS: Final = frozenset({_SKILLS, "skill", "plugins"})
_NEVER: Final = frozenset({".git", ".hg", ".svn", ".venv", ".tox", ".nox", ".cache"})
_SKIPPED: Final = frozenset({"node_modules", "__pycache__"})


class FolderSearchResult(NamedTuple):
    """What one search found; ``places`` says where each pack really is, by key."""

    found: tuple[Found, ...]
    findings: tuple[Finding, ...]
    places: dict[str, PackLocation]


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
class FolderSearch:
    """One search below ``root``; every instance is used once.

    Attributes:
        shown: The root as the user wrote it; begins every path that is shown.
        depth: How many folders deep to search.
        root_may_be_pack: Whether a SKILL.md in the root makes that the only pack.
        starts: Folders below the root to search in its place, whatever their names.
        client_folders: Whether to search ``skills`` and ``plugins`` in a folder whose
            name begins with a dot, and such a folder in one called ``skills``.
        seen: Entries that were looked at so far; grows while the search goes on.
        trace: What the result depends on, for an index.
    """

    root: str
    shown: str
    limits: Limits
    depth: int
    root_may_be_pack: bool = True
    starts: tuple[str, ...] = ()
    client_folders: bool = False
    seen: int = 0
    trace: SearchTrace = field(default_factory=SearchTrace)
    _found: list[Found] = field(default_factory=list[Found])
    _findings: list[Finding] = field(default_factory=list[Finding])
    _places: dict[str, PackLocation] = field(default_factory=dict[str, PackLocation])
    _links: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    _visited: set[str] = field(default_factory=set[str])
    _left: int = 0
    """Entries that may still be looked at."""
    _reserved: int = 0
    """Those of them that are reserved for the folders still to come."""
    _too_deep: int = 0

    def run(self) -> FolderSearchResult:
        """Search; ``OSError`` or ``ValueError`` if the root cannot be listed."""
        self._left = self.limits.scan_entries
        if not self.starts:
            self._enter(self.root, "", 0)
        for start in self.starts:
            self._start(start)
        # Links last: a pack is listed where it really is, not where a link shows it.
        while self._links:
            links, self._links = sorted(self._links), []
            for key, path in links:
                self._follow(key, path)
        if self._left < 0:
            self._report_too_many(self.shown)
        if self._too_deep and self.root_may_be_pack:
            self._report(
                "limit-exceeded",
                self.shown,
                severity="note",
                sentence="depth",
                folders=plural(self._too_deep, "folder"),
                limit=self.depth,
            )
        self._found.sort(key=lambda pack: pack.key)
        self._findings.sort(key=lambda finding: (finding.path, finding.code))
        return FolderSearchResult(
            tuple(self._found), tuple(self._findings), self._places
        )

    def look_at_pack(self, key: str) -> tuple[Found | None, bool]:
        """Return one pack as `run` would, and whether there is nothing else to say."""
        path = os.path.join(self.root, key)
        entries = list_folder(path, self.limits.scan_entries)
        self.seen = len(entries)
        for entry in entries:
            if entry.name == SKILL_FILE:
                self._pack(entries, entry, path, key)
        is_clear = self.trace.is_plain and not self._findings
        return (self._found[0] if self._found else None), is_clear

    def _start(self, folder: str) -> None:
        self.trace.is_plain = False
        path = os.path.join(self.root, folder)
        try:
            self._admit(folder, path, (self.root, folder), depth=0)
        except OSError as error:
            where = self._where(folder)
            self._report("unreadable-folder", where, reason=error.strerror or "")

    def _report(self, code: str, path: str, **values: Any) -> None:  # noqa: ANN401
        self._findings.append(Finding.of(code, path, **values))

    def _report_too_many(self, path: str) -> None:
        self.trace.is_plain = False
        limit = self.limits.scan_entries
        self._report("limit-exceeded", path, sentence="entries", limit=limit)

    def _where(self, key: str) -> str:
        return f"{self.shown.rstrip('/')}/{key}" if key else self.shown

    def _enter(self, path: str, key: str, depth: int) -> None:
        """List a folder and take it in: a pack, or a place to search on."""
        if self._left < self._reserved:
            return
        entries = list_folder(path, self._left - self._reserved)
        self._left -= len(entries)
        self.seen += len(entries)
        self._visited.add(path)
        if self.root_may_be_pack or depth:
            for entry in entries:
                if entry.name == SKILL_FILE:
                    self._pack(entries, entry, path, key)
                    return
        self.trace.folders.append(key)
        if depth:
            for entry in entries:
                self._look_at(entry, key, depth)
        else:
            self._share_out(entries, key)

    def _share_out(self, entries: _Entries, key: str) -> None:
        """Look at what is in the top folder, and let none of it starve the rest."""
        to_come = len(entries)
        for entry in entries:
            if self._left < 0:
                return
            to_come -= 1
            # At most half of what is left is kept for the folders still to come.
            self._reserved = min(self._left // 2, to_come * _RESERVED_ENTRIES)
            self._look_at(entry, key, 0)
            if self._left < self._reserved > 0:
                self._left = self._reserved
                where = self._where(f"{key}/{entry.name}" if key else entry.name)
                self._report_too_many(where)
        self._reserved = 0

    def _look_at(self, entry: os.DirEntry[str], key: str, depth: int) -> None:
        name = entry.name
        if name in _SKIPPED or (name[0] == "." and not self.client_folders):
            return
        below = f"{key}/{name}" if key else name
        try:
            if name[0] == ".":
                self._look_behind_dot(entry, key, below, depth)
            elif entry.is_dir(follow_symlinks=False):
                self._go_down(entry.path, below, depth + 1)
            elif entry.is_symlink():
                self._links.append((below, entry.path))
            elif name != SKILL_FILE and name.lower() == SKILL_FILE.lower():
                self._report("wrong-case-skill-file", self._where(below), name=name)
        except FileNotFoundError:
            return  # gone since it was listed: as if it had never been there
        except OSError as error:
            self.trace.is_plain = False
            where = escape_name(self._where(below))
            self._report("unreadable-folder", where, reason=error.strerror or "")

    def _look_behind_dot(
        self, entry: os.DirEntry[str], key: str, below: str, depth: int
    ) -> None:
        """Look where clients keep skills: `.claude/skills`, `skills/.curated`."""
        if entry.name in _NEVER or not entry.is_dir(follow_symlinks=False):
            return
        if os.path.basename(key or self.root) == _SKILLS:
            self._go_down(entry.path, below, depth + 1)
            return
        self.trace.folders.append(below)
        for inner in list_folder(entry.path, max(0, self._left - self._reserved)):
            self._left -= 1
            if inner.name in _CLIENT_SUBFOLDERS:
                self._look_at(inner, below, depth)

    def _go_down(self, path: str, key: str, depth: int) -> None:
        if depth > self.depth:
            self._too_deep += 1
        elif key.isprintable() or escape_name(key) == key:
            self._enter(path, key, depth)
        else:
            self._report("unsafe-file-name", escape_name(self._where(key)))

    def _pack(
        self, entries: _Entries, skill: os.DirEntry[str], path: str, key: str
    ) -> None:
        where = self._where(key)
        if not skill.is_file(follow_symlinks=False):
            path = f"{where}/{SKILL_FILE}"
            self._report("irregular-skill-file", path, kind=_kind(skill))
            self.trace.folders.append(key)
            return
        if len(entries) == 1:  # nearly every pack: nothing to walk
            files: tuple[FileStat, ...] = (stat_of(skill, SKILL_FILE),)
        else:
            files = self._walk(entries, path, where, key)
        if not files:
            self.trace.is_plain = False
            return
        place = (self.root, key)
        if not key:  # its key is no path below the root
            self.trace.is_plain = False
        key = key or os.path.basename(self.root) or self.root
        self._places[key] = place
        self._found.append(Found(key, where, files, files))

    def _walk(
        self, entries: _Entries, path: str, where: str, key: str
    ) -> tuple[FileStat, ...]:
        """Return the files of a pack; none, and a finding, where it is refused."""
        try:
            walked = walk_pack(path, entries, limits=self.limits)
        except LimitExceededError as error:
            self._findings.append(Finding.of_error(error, where, fix=TOO_LARGE_FIX))
            return ()
        if not any(file.path == SKILL_FILE for file in walked.files):
            reason = f"{SKILL_FILE} is closed to us, or just went away"
            self._report("unreadable-folder", where, reason=reason)
            return ()
        if walked.folders:
            self.trace.subfolders[key] = walked.folders
        if walked.findings:
            if any(finding.code == "unreadable-file" for finding in walked.findings):
                self.trace.is_plain = False
            self._findings += locate_findings(walked.findings, where)
        return walked.files

    def _follow(self, key: str, path: str) -> None:
        """Follow a link to a folder: once, and only to where packs may be."""
        where = escape_name(self._where(key))
        target = ""
        try:
            target = escape_name(os.readlink(path))
            if not stat.S_ISDIR(os.stat(path).st_mode):
                self.trace.links[key] = True
                return
            self.trace.is_plain = False
            real = os.path.realpath(path)
            below = _below(real, os.path.realpath(self.root))
            if below is not None:
                place = os.path.join(self.root, below) if below else self.root
                self._admit(key, place, (self.root, below))
            elif "/" not in key and _is_pack(real):
                drive, rest = os.path.splitdrive(real)
                if self._admit(key, real, (drive + os.sep, rest.lstrip(os.sep))):
                    self._report("linked-pack", where, target=target)
            else:
                self._report("link-leaves-root", where, target=target)
        except OSError:
            self.trace.links[key] = False
            self._report("broken-link", where, target=target)

    def _admit(
        self, key: str, path: str, place: PackLocation, *, depth: int | None = None
    ) -> bool:
        """Search where no plain key leads; return whether a pack was found there."""
        if path in self._visited:
            return False  # links may lead in a circle
        before = len(self._found)
        self._go_down(path, key, key.count("/") + 1 if depth is None else depth)
        root, folder = place
        for pack in self._found[before:]:
            inner = (folder + pack.key[len(key) :]).replace(os.sep, "/")
            self._places[pack.key] = (root, inner)
        return len(self._found) > before


def _below(path: str, root: str) -> str | None:
    """Return ``path`` relative to ``root``; None where it is not below it."""
    if path == root:
        return ""
    prefix = root.rstrip(os.sep) + os.sep
    return path.removeprefix(prefix) if path.startswith(prefix) else None


def _is_pack(folder: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(os.path.join(folder, SKILL_FILE)).st_mode)
    except OSError:
        return False


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "a link"
    if entry.is_dir(follow_symlinks=False):
        return "a folder"
    return "a FIFO, a device or a socket"
