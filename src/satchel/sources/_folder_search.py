"""Find the packs below a folder, and follow few links that lead out of it."""

# ruff: noqa: PTH115, PTH116, PTH118, PTH119 - a Path for each folder costs too much
import os
import stat
import sys
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Final, NamedTuple, TypeAlias

from satchel.errors import LimitExceededError
from satchel.files import (
    TOO_LARGE_FIX,
    WalkedPack,
    escape_name,
    list_folder,
    locate_findings,
    stat_of,
    walk_pack,
)
from satchel.model import SKILL_FILE, FileStat, Finding, Found, Limits
from satchel.sources._unlisted import PRUNED, Entries, FolderReport, UnlistedFolder

# Where a pack really is: a folder that is trusted, and a path below it.
PackLocation: TypeAlias = tuple[str, str]

# Entries kept for a folder: most packs have fewer than ten.
_RESERVED_ENTRIES: Final = 64

# For a pack that is refused: what else is in it is looked for all the same.
_MOST: Final = Limits(pack_bytes=sys.maxsize, pack_depth=200)

_SKILLS: Final = "skills"
# Folders of clients that packs are in; the rest are copies and caches.
#
# Source: `satchel_lab.clients`, and the plug-ins that repositories keep in ``.github``.
_CLIENT_SUBFOLDERS: Final = frozenset({_SKILLS, "skill", "plugins"})
_SEARCHED: Final = "skills, skill and plugins"


class FolderSearchResult(NamedTuple):
    """What one search found; ``places`` says where each pack really is, by key.

    ``linked`` says where SKILL.md is, by the key of a pack in which it is a link.
    """

    found: tuple[Found, ...]
    findings: tuple[Finding, ...]
    places: dict[str, PackLocation]
    linked: dict[str, PackLocation]


@dataclass(eq=False)
class FolderSearch(FolderReport):
    """One search; every instance is used once.

    Attributes:
        root_may_be_pack: Whether a SKILL.md in the root makes that a pack.
        starts: Folders below the root to search in its place, whatever their names.
    """

    root_may_be_pack: bool = True
    starts: tuple[str, ...] = ()
    _found: list[Found] = field(default_factory=list[Found])
    _places: dict[str, PackLocation] = field(default_factory=dict[str, PackLocation])
    _linked: dict[str, PackLocation] = field(default_factory=dict[str, PackLocation])
    _links: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def run(self) -> FolderSearchResult:
        """Search; ``OSError`` or ``ValueError`` if the root cannot be listed."""
        self.left = self.limits.scan_entries
        if not self.starts:
            self._enter(self.root, "", 0)
        for start in self.starts:
            self._start(start)
        # Links last: a pack is listed where it really is, not where a link shows it.
        while self._links:
            links, self._links = sorted(self._links), []
            for key, path in links:
                self._follow(key, path)
        if self.left < 0:
            self.report_too_many(self.shown)
        if self.root_may_be_pack:
            self.report_unlisted()
        self._found.sort(key=lambda pack: pack.key)
        self.findings.sort(key=lambda finding: (finding.path, finding.code))
        return FolderSearchResult(
            tuple(self._found), tuple(self.findings), self._places, self._linked
        )

    def look_at_pack(self, key: str) -> tuple[Found | None, bool]:
        """Return one pack as `run` would, and whether there is nothing else to say."""
        path = os.path.join(self.root, key)
        entries = list_folder(path, self.limits.scan_entries)
        self.seen = len(entries)
        for entry in entries:
            if entry.name == SKILL_FILE:
                self._pack(entries, entry, path, key, key.count("/") + 1)
        is_clear = self.trace.is_plain and not (self.findings or self.unlisted)
        pack = next((pack for pack in self._found if pack.key == key), None)
        return pack, is_clear and len(self._found) == 1

    def _start(self, folder: str) -> None:
        self.trace.is_plain = False
        path = os.path.join(self.root, folder)
        try:
            self._admit(folder, path, (self.root, folder), depth=0)
        except OSError as error:
            self.cannot_read(folder, error)

    def _enter(self, path: str, key: str, depth: int) -> None:
        """List a folder and take it in: a pack, or a place to search on."""
        if path in self.visited:  # links may lead in a circle
            return
        self.visited.add(path)
        entries = self.list_within(path, key)
        if entries is None:
            return
        if self.root_may_be_pack or depth:
            for entry in entries:
                if entry.name == SKILL_FILE:
                    if self._pack(entries, entry, path, key, depth):
                        return
                    break
        self.trace.folders.append(key)
        if not depth:
            self._share_out(entries, key)
        elif not self.is_environment(entries, key):
            for entry in entries:
                self._look_at(entry, key, depth)

    def _share_out(self, entries: Entries, key: str) -> None:
        """Look at what is in the top folder, and let none of it starve the rest."""
        to_come = len(entries)
        for entry in entries:
            to_come -= 1
            # At most half of what is left is kept for the folders still to come.
            self.reserved = min(self.left // 2, to_come * _RESERVED_ENTRIES)
            self._look_at(entry, key, 0)
            if self.left < self.reserved > 0:
                self.left = self.reserved
                where = self.where(f"{key}/{entry.name}" if key else entry.name)
                self.report_too_many(where)
        self.reserved = 0

    def _look_at(self, entry: os.DirEntry[str], key: str, depth: int) -> None:
        name = entry.name
        below = f"{key}/{name}" if key else name
        try:
            if entry.is_dir(follow_symlinks=False):
                if name[0] == "." or name in PRUNED or name == "__pycache__":
                    self._look_behind(name, entry.path, below, depth)
                else:
                    self._go_down(entry.path, below, depth + 1)
            elif name[0] == "." or name == SKILL_FILE:
                return
            elif entry.is_symlink():
                self._links.append((below, entry.path))
            elif name.lower() == SKILL_FILE.lower():
                self.report("wrong-case-skill-file", self.where(below), name=name)
        except FileNotFoundError:
            return  # gone since it was listed: as if it had never been there
        except OSError as error:
            self.cannot_read(below, error)

    def _look_behind(self, name: str, path: str, key: str, depth: int) -> None:
        """Look where clients keep skills: `.claude/skills`, `skills/.curated`."""
        above = key.rpartition("/")[0]
        if name in PRUNED:
            self.prune(key)
        elif name[0] != ".":
            shown = escape_name(name)
            reason = f"it is in {shown}, and nothing in a folder of that name is listed"
            self.unlisted.append(UnlistedFolder(path, key, reason, above))
        elif os.path.basename(above or self.root) == _SKILLS:
            self._go_down(path, key, depth + 1)
        else:
            shown = escape_name(name)
            reason = f"it is in {shown}, of which only {_SEARCHED} are searched"
            folder = UnlistedFolder(path, key, reason, key)
            entries = self.list_within(path, key)
            if entries is not None and not self.is_environment(entries, key):
                self.trace.folders.append(key)
                for entry in entries:
                    if entry.name in _CLIENT_SUBFOLDERS:
                        self._look_at(entry, key, depth)
                    else:
                        self.set_aside(entry, folder)

    def _go_down(self, path: str, key: str, depth: int) -> None:
        if depth > self.depth:
            self.unlisted.append(UnlistedFolder(path, key))
        elif key.isprintable() or escape_name(key) == key:
            self._enter(path, key, depth)
        else:
            self.report("unsafe-file-name", escape_name(self.where(key)))

    def _pack(
        self, entries: Entries, skill: os.DirEntry[str], path: str, key: str, depth: int
    ) -> bool:
        """Take a folder in as a pack; return whether it is one, good or refused."""
        if not skill.is_file(follow_symlinks=False):
            return self._skill_link(entries, skill, path, key, depth)
        if len(entries) == 1 and key:  # nearly every pack: nothing to walk
            files = (stat_of(skill, SKILL_FILE),)
            self._places[key] = (self.root, key)
            self._found.append(Found(key, self.where(key), files, files))
            return True
        walked = self._walk(entries, path, key)
        self._take(walked.files, key, (self.root, key))
        if walked.inner or walked.hidden or walked.nested:
            self._look_inside(walked, path, key, depth)
        return True

    def _skill_link(
        self, entries: Entries, skill: os.DirEntry[str], path: str, key: str, depth: int
    ) -> bool:
        """Take a folder in whose SKILL.md is a good link; report any other."""
        from satchel.sources._skill_link import resolve_link  # few packs have one

        where = f"{self.where(key)}/{SKILL_FILE}"
        link = resolve_link(skill, self.root)
        if isinstance(link, str):
            self.report("irregular-skill-file", where, kind=link)
            return False
        self.trace.is_plain = False
        others = [entry for entry in entries if entry.name != SKILL_FILE]
        own = self._walk(others, path, key, (link.file,))
        files, place, more = own.files, (self.root, key), ""
        folder, _, name = link.path.rpartition("/")
        if name == SKILL_FILE:  # the same pack once more, with all of its files
            place = (link.base, folder)
            listed = self.list_within(os.path.join(*place), key) or ()
            files = self._walk(listed, os.path.join(*place), key).files
            more = "; files next to it are not used" if len(own.files) > 1 else ""
        else:
            self._linked[key or os.path.basename(self.root)] = link.base, link.path
        target = os.readlink(skill.path)
        self.report("linked-pack", where, sentence="copy", target=target, more=more)
        self._take(files, key, place)
        self._look_inside(own, path, key, depth)
        return True

    def _take(self, files: tuple[FileStat, ...], key: str, place: PackLocation) -> None:
        """List a pack with these files; one without any was refused."""
        if not (files and key):  # the key of the root is no path below it
            self.trace.is_plain = False
        if files:
            shown = key or os.path.basename(self.root) or self.root
            self._places[shown] = place
            self._found.append(Found(shown, self.where(key), files, files))

    def _walk(
        self, entries: Entries, path: str, key: str, linked: tuple[FileStat, ...] = ()
    ) -> WalkedPack:
        """Return what a pack holds; no file, and a finding, where it is refused."""
        where = self.where(key)
        try:
            walked = walk_pack(path, entries, self.entries_of, limits=self.limits)
        except LimitExceededError as error:
            self.findings.append(Finding.of_error(error, where, fix=TOO_LARGE_FIX))
            most = replace(_MOST, pack_files=max(1, self.left))
            try:  # other packs in it are not refused with it
                walked = walk_pack(path, entries, self.entries_of, limits=most)
            except LimitExceededError:
                self.prune(key, "it is a pack over the limits")
                return WalkedPack(())
            self.left -= len(walked.files)
            return replace(walked, files=())
        files = with_linked(walked.files, linked) if linked else walked.files
        if not any(file.path == SKILL_FILE for file in files):
            reason = f"{SKILL_FILE} is closed to us, or just went away"
            self.report("unreadable-folder", where, reason=reason)
            return WalkedPack(())
        if walked.folders:
            self.trace.subfolders[key] = walked.folders
        if walked.findings:
            if any(finding.code == "unreadable-file" for finding in walked.findings):
                self.trace.is_plain = False
            self.findings += locate_findings(walked.findings, where)
        return replace(walked, files=files) if linked else walked

    def _look_inside(self, walked: WalkedPack, path: str, key: str, depth: int) -> None:
        """Search the places for skills in a pack, and report what else is in it."""
        start = f"{key}/" if key else ""
        packs = frozenset(walked.inner)
        for inside in walked.inner + walked.hidden:
            inner, below = os.path.join(path, inside), start + inside
            name = inside.rpartition("/")[2]
            deeper = depth + inside.count("/")
            try:
                if inside in packs:
                    self._go_down(inner, below, deeper + 1)
                else:
                    self._look_behind(name, inner, below, deeper)
            except FileNotFoundError:
                continue
            except OSError as error:
                self.cannot_read(below, error)
        for nested in walked.nested:
            reason = f"it is inside of the pack {self.where(key)}"
            self.report_skill(start + nested, reason, key)

    def _follow(self, key: str, path: str) -> None:
        """Follow a link to a folder: once, and only to where packs may be."""
        from satchel.sources._skill_link import path_below

        where = escape_name(self.where(key))
        target = ""
        try:
            target = escape_name(os.readlink(path))
            if not stat.S_ISDIR(os.stat(path).st_mode):
                self.trace.links[key] = True
                return
            self.trace.is_plain = False
            real = os.path.realpath(path)
            below = path_below(real, os.path.realpath(self.root))
            if below is not None:
                place = os.path.join(self.root, below) if below else self.root
                self._admit(key, place, (self.root, below))
            elif "/" not in key and _is_pack(real):
                drive, rest = os.path.splitdrive(real)
                if self._admit(key, real, (drive + os.sep, rest.lstrip(os.sep))):
                    self.report("linked-pack", where, target=target)
            else:
                self.report("link-leaves-root", where, target=target)
        except OSError:
            self.trace.links[key] = False
            self.report("broken-link", where, target=target)

    def _admit(
        self, key: str, path: str, place: PackLocation, *, depth: int | None = None
    ) -> bool:
        """Search where no plain key leads; return whether a pack was found there."""
        before = len(self._found)
        self._go_down(path, key, key.count("/") + 1 if depth is None else depth)
        root, folder = place
        for pack in self._found[before:]:
            inner = (folder + pack.key[len(key) :]).replace(os.sep, "/")
            self._places[pack.key] = (root, inner)
        return len(self._found) > before


def _is_pack(folder: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(os.path.join(folder, SKILL_FILE)).st_mode)
    except OSError:
        return False


def with_linked(
    files: tuple[FileStat, ...], linked: tuple[FileStat, ...]
) -> tuple[FileStat, ...]:
    """Return the files of a walk with what it did not follow, sorted by path."""
    return tuple(sorted((*files, *linked), key=attrgetter("path"))) if linked else files
