"""The files of an archive while it is unpacked: counted, bounded.

And each path taken once.
"""

import unicodedata
import zlib
from collections.abc import Iterator
from typing import Final

from satchel.errors import ArchiveError, LimitExceededError
from satchel.files._paths import escape_name, is_excluded_file, path_problem
from satchel.model import SKILL_FILE, Limits

CHUNK_BYTES: Final = 65_536
"""Bytes that go into, and come out of, a decompressor at a time."""
RATIO_FROM_BYTES: Final = 262_144
"""Below this nothing is a bomb; a tar of tiny files is mostly padding."""
MEMBERS_PER_FILE: Final = 4
"""Folders and extended headers count, too, but may be more than the files."""


class ArchiveBudget:
    """Counts members, files and bytes of one archive; over the limit is an error."""

    def __init__(self, limits: Limits, packed: int, where: str) -> None:
        """Take the limits; ``packed`` is the size of the archive itself, in bytes."""
        self.where: Final = where
        self._packed = max(packed, 1)
        self._ratio = limits.archive_ratio
        self._most_files = _smaller(limits, "archive_files", "pack_files")
        self._most_bytes = _smaller(limits, "archive_bytes", "pack_bytes")
        self._files = self._members = self._bytes = self._streamed = 0

    @property
    def most_members(self) -> int:
        """How many members an archive may have, of all kinds together."""
        return self._most_files[1] * MEMBERS_PER_FILE

    def take_member(self) -> None:
        """Count one member of any kind.

        Raises:
            LimitExceededError: It is one too many.
        """
        self._members += 1
        self.check_members(self._members)

    def check_members(self, count: int) -> None:
        """Refuse more members than there may be.

        Raises:
            LimitExceededError: They are too many.
        """
        if count > self.most_members:
            name, _ = self._most_files
            most = self.most_members
            raise LimitExceededError(name, most, count, "members", self.where)

    def take_file(self, size: int) -> None:
        """Count one file and its bytes.

        Raises:
            LimitExceededError: It is one file too many, or too large.
        """
        self._files += 1
        name, most = self._most_files
        if self._files > most:
            raise LimitExceededError(name, most, self._files, "files", self.where)
        self._bytes += size
        name, most = self._most_bytes
        if self._bytes > most:
            raise LimitExceededError(name, most, self._bytes, "bytes", self.where)

    def take_out(self, size: int, *, overhead: int = 0) -> None:
        """Count bytes that a decompressor gave.

        Args:
            size: How many.
            overhead: How many of all of them may be no file's.

        Raises:
            LimitExceededError: They are too many, or too many for this archive.
        """
        self._streamed += size
        name, most = self._most_bytes
        if self._streamed > most + overhead:
            raise LimitExceededError(name, most, self._streamed, "bytes", self.where)
        ratio = self._ratio
        if self._streamed > max(RATIO_FROM_BYTES, ratio * self._packed):
            times = -(-self._streamed // self._packed)
            unit = "times its size"
            raise LimitExceededError("archive_ratio", ratio, times, unit, self.where)


def _smaller(limits: Limits, *names: str) -> tuple[str, int]:
    """Return the name and the value of the limit that is reached first."""
    return min(((name, getattr(limits, name)) for name in names), key=lambda at: at[1])


def inflate(
    data: bytes | memoryview, wbits: int, budget: ArchiveBudget, *, overhead: int = 0
) -> Iterator[bytes]:
    """Yield what ``data`` holds compressed, in pieces of `CHUNK_BYTES` at most.

    Args:
        data: One stream, all of it, and nothing behind it.
        wbits: Its kind, as `zlib.decompressobj` names it.
        budget: What counts the bytes as they come.
        overhead: As for `Budget.take_out`.

    Raises:
        ArchiveError: It is damaged, ends early, or something stands behind its end.
        LimitExceededError: Too much comes out.
    """
    engine = zlib.decompressobj(wbits)
    for start in range(0, len(data), CHUNK_BYTES):
        feed = bytes(data[start : start + CHUNK_BYTES])
        out = b""
        # A full piece may leave more behind although all input is eaten.
        while feed or len(out) == CHUNK_BYTES:
            try:
                out = engine.decompress(feed, CHUNK_BYTES)
            except zlib.error as error:
                detail = f"the compressed data is damaged ({error})"
                raise ArchiveError(budget.where, detail) from None
            budget.take_out(len(out), overhead=overhead)
            yield out
            feed = engine.unconsumed_tail
            if engine.eof:
                if engine.unused_data or start + CHUNK_BYTES < len(data):
                    detail = "something stands behind the end of the compressed data"
                    raise ArchiveError(budget.where, detail)
                return
    raise ArchiveError(budget.where, "the compressed data ends early")


_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
"""Categories of characters that nobody sees, or that turn others around."""
_SHOWN_CHARS: Final = 80


def shown_name(name: str) -> str:
    """Return a member's name for a message: on one line, and not too long."""
    text = "".join(
        char
        if char.isprintable()
        else char.encode("unicode_escape", "surrogatepass").decode("ascii")
        for char in escape_name(name[:_SHOWN_CHARS])
    )
    return f"{text!r}" if len(name) <= _SHOWN_CHARS else f"{text!r}..."


class ArchiveTree:
    """Files and folders by path, each path plain, and no two alike on any system."""

    def __init__(self, budget: ArchiveBudget, depth: int, where: str) -> None:
        """Hold nothing yet; ``depth`` counts folders below the pack's own."""
        self._budget = budget
        self._depth = depth
        self._where = where
        self._files: dict[str, bytes] = {}
        self._folders: set[str] = set()
        self._members: set[str] = set()
        self._spellings: dict[str, str] = {}

    def place(self, name: str, *, folder: bool) -> str:
        """Return the path that a member's name means, and take its place.

        That of the root, ``./``, is empty.

        Raises:
            ArchiveError: The path is not plain, or its place is taken.
            LimitExceededError: It is too deep, or one member too many.
        """
        self._budget.take_member()
        path = name.removesuffix("/") if folder else name
        path = "" if path == "." else path.removeprefix("./")
        if folder and not path and name in {".", "./"}:
            return path
        problem = path_problem(path) or _hidden_character_problem(path)
        if problem:
            raise self.refused(name, problem)
        # One more than the pack's own depth: a folder around it is taken away.
        if path.count("/") > self._depth + 1:
            depth = path.count("/")
            raise LimitExceededError(
                "pack_depth", self._depth, depth, "folders", self._where
            )
        self._take(name, path, folder=folder)
        return path

    def put(self, path: str, data: bytes) -> None:
        """Hold a file at the place that it has taken.

        Raises:
            LimitExceededError: It is one file too many, or too large.
        """
        self._budget.take_file(len(data))
        self._files[path] = data

    def refused(self, name: str, problem: str) -> ArchiveError:
        """Return the error that names a member."""
        return ArchiveError(self._where, f"{shown_name(name)}: {problem}")

    @property
    def folder(self) -> str:
        """The name of the one folder that the pack lies in; empty at the root.

        Raises:
            ArchiveError: As for `pack`.
        """
        return self._root().removesuffix("/")

    def pack(self) -> dict[str, bytes]:
        """Return the files of the pack, sorted by path.

        Raises:
            ArchiveError: There is no SKILL.md at the root, nor in its one folder.
            LimitExceededError: A file is too deep.
        """
        root = self._root()
        pack = {
            path.removeprefix(root): data
            for path, data in sorted(self._files.items())
            if path.startswith(root)
        }
        deepest = max(path.count("/") for path in pack)
        if deepest > self._depth:
            raise LimitExceededError(
                "pack_depth", self._depth, deepest, "folders", self._where
            )
        return pack

    def _root(self) -> str:
        """Return what all paths of the pack begin with: nothing, or one folder."""
        if SKILL_FILE in self._files:
            return ""
        tops = {path.partition("/")[0] for path in (*self._files, *self._folders)}
        tops = {top for top in tops if not is_excluded_file(top)}
        inside = f"{next(iter(tops))}/" if len(tops) == 1 else ""
        if inside and f"{inside}{SKILL_FILE}" in self._files:
            return inside
        other = self._spellings.get(SKILL_FILE.casefold(), "")
        hint = f"; rename {shown_name(other)}" if other else ""
        detail = f"it has no {SKILL_FILE} at its root, nor in its one folder{hint}"
        raise ArchiveError(self._where, detail)

    def _take(self, name: str, path: str, *, folder: bool) -> None:
        """Let each part of a path have one spelling, and one kind.

        macOS and Windows fold case, macOS composes Unicode: there one file would
        replace the other, or fill its folder.
        """
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            part = "/".join(parts[:count])
            key = unicodedata.normalize("NFC", part).casefold()
            first = self._spellings.setdefault(key, part)
            if first != part:
                problem = f"on some systems this is the same as {shown_name(first)}"
                raise self.refused(name, problem)
            inner = count < len(parts)
            if inner and part in self._files:
                raise self.refused(name, f"{shown_name(part)} is a file, and no folder")
            if inner:
                self._folders.add(part)
        if path in self._members or (path in self._folders and not folder):
            raise self.refused(name, "the archive holds it twice")
        self._members.add(path)
        if folder:
            self._folders.add(path)
        else:
            self._files[path] = b""


def _hidden_character_problem(path: str) -> str:
    if not path.isascii() and any(
        unicodedata.category(c) in _HIDDEN_CATEGORIES for c in path
    ):
        return "it holds an invisible or a direction-changing character"
    return ""
