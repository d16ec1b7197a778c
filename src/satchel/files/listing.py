"""Which files of a pack are listed, whatever the pack is kept in."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final

from satchel.errors import LimitExceededError
from satchel.files.left_out import Kind, kind_left_out
from satchel.files.paths import path_problem, spelled
from satchel.model import FileStat, Finding, Limits

__all__ = ["Listing"]

_NAMED: Final = 5
"""Files with key material that one message names."""
_SKIPPED: Final = {
    "link-in-pack": ("a link is not followed", "put the file itself into the pack"),
    "special-file": ("it is a FIFO, a device or a socket", "remove it"),
    "unreadable-file": ("it cannot be read", "give the right to read it"),
    "unsafe-file-name": ("no path may name it", "rename it"),
}


@dataclass(slots=True)
class Listing:
    """The list of one pack in the making: by name and by amount, without I/O.

    Every path it lists is one that `path_problem` finds nothing in. What it does not
    list is told once for each kind, with a count.
    """

    limits: Limits
    _files: list[FileStat] = field(default_factory=list[FileStat])
    _left_out: dict[Kind, list[str]] = field(default_factory=dict[Kind, list[str]])
    _skipped: dict[str, list[tuple[str, str]]] = field(
        default_factory=dict[str, list[tuple[str, str]]]
    )
    _entries: int = 0
    _size: int = 0

    def admits(self, path: str) -> bool:
        """Tell whether ``path`` may be listed by its name; note it where it may not."""
        kind = kind_left_out(path)
        if kind:
            self._left_out.setdefault(kind, []).append(path)
            return False
        problem = path_problem(path)
        if problem:
            self.skip("unsafe-file-name", path, problem)
        return not problem

    def skip(self, code: str, path: str, detail: str = "") -> None:
        """Note that ``path`` is not listed, under the code of a finding."""
        self._skipped.setdefault(code, []).append((path, detail))

    def add_folder(self, path: str) -> None:
        """Count a folder that is about to be entered.

        Raises:
            LimitExceededError: It is too deep, or one too many.
        """
        self._check_depth(path, path.count("/") + 1)
        self._count()

    def add(self, file: FileStat) -> None:
        """List a file that was admitted.

        Raises:
            LimitExceededError: It is too deep, or the pack now has too many files or
                bytes.
        """
        self._check_depth(file.path, file.path.count("/"))
        self._count()
        self._size += file.size
        if self._size > self.limits.pack_bytes:
            limit = self.limits.pack_bytes
            raise LimitExceededError("pack_bytes", limit, self._size, "bytes")
        self._files.append(file)

    def _check_depth(self, path: str, depth: int) -> None:
        limit = self.limits.pack_depth
        if depth > limit:
            raise LimitExceededError("pack_depth", limit, depth, "folders", path)

    def _count(self) -> None:
        self._entries += 1
        if self._entries > self.limits.pack_files:
            limit = self.limits.pack_files
            raise LimitExceededError("pack_files", limit, self._entries, "files")

    def files(self) -> tuple[FileStat, ...]:
        """Return what is listed, sorted by path."""
        return tuple(sorted(self._files, key=attrgetter("path")))

    def findings(self) -> tuple[Finding, ...]:
        """Return what is to be told, with pack-relative paths."""
        found = [_left_out(*each) for each in sorted(self._left_out.items())]
        found += [_skipped(*each) for each in sorted(self._skipped.items())]
        if len(self._files) > 1:
            found += _collisions(file.path for file in self.files())
        return tuple(found)


def _left_out(kind: Kind, paths: list[str]) -> Finding:
    """Tell of one kind; key material by name, for its author has to find it."""
    entries = "entry" if len(paths) == 1 else "entries"
    named = ""
    if kind == "key material":
        named = f": {', '.join(map(spelled, sorted(paths)[:_NAMED]))}"
        named += f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return Finding(
        "files-left-out",
        "note",
        f"never listed: {kind} ({len(paths)} {entries}){named}",
        fix="put what the skill needs into a file of another name",
    )


def _skipped(code: str, places: list[tuple[str, str]]) -> Finding:
    path, detail = min(places)
    reason, fix = _SKIPPED[code]
    more = f" (and {len(places) - 1} more like it)" if len(places) > 1 else ""
    message = f"not listed: {detail or reason}{more}"
    return Finding(code, "warning", message, spelled(path), fix=fix)


def _collisions(paths: Iterable[str]) -> list[Finding]:
    """Return a finding for each path that some file system takes for an earlier one.

    macOS and Windows fold case, macOS composes Unicode: one of the two files would
    silently replace the other there.
    """
    import unicodedata

    seen: dict[str, str] = {}
    found: list[Finding] = []
    for path in paths:
        folded = path.lower()
        if not path.isascii():
            folded = unicodedata.normalize("NFC", path).casefold()
        first = seen.setdefault(folded, path)
        if first != path:
            message = f"on some systems this is the same file as {first!r}"
            fix = "rename one of the two"
            found.append(
                Finding("colliding-file-names", "warning", message, path, fix=fix)
            )
    return found
