"""The files of an archive while it is unpacked: counted, limited, each path once."""

import unicodedata
import zlib
from collections.abc import Iterator
from typing import Final, NoReturn

from satchel.errors import ArchiveError, LimitExceededError
from satchel.files import escape_name, folded_name, is_excluded_file, path_problem
from satchel.model import SKILL_FILE, Limits

# Bytes that go into, and come out of, a decompressor at a time.
CHUNK_BYTES: Final = 65_536
# Below this nothing is a bomb; a tar of tiny files is mostly padding.
RATIO_FROM_BYTES: Final = 262_144
# Folders and extended headers count too, and may be more than the files.
MEMBERS_PER_FILE: Final = 4


class ArchiveBudget:
    """Counts members, files and bytes of an archive of ``packed`` bytes.

    Its methods raise `LimitExceededError` where these are too many.
    """

    def __init__(self, limits: Limits, packed: int, where: str) -> None:
        self.where: Final = where
        # Never 0, since the message about the ratio divides by it.
        self._packed = max(packed, 1)
        self._ratio = limits.archive_ratio
        self._most_files = _smaller(limits, "archive_files", "pack_files")
        self._most_bytes = _smaller(limits, "archive_bytes", "pack_bytes")
        self._files = self._members = self._bytes = self._streamed = 0

    @property
    def most_members(self) -> int:
        """How many members of all kinds an archive may have."""
        return self._most_files[1] * MEMBERS_PER_FILE

    def take_member(self) -> None:
        """Count one member of any kind."""
        self._members += 1
        self.check_members(self._members)

    def check_members(self, count: int) -> None:
        """Compare a number of members with the limit, and count none."""
        if count > self.most_members:
            self._refuse(self._most_files[0], self.most_members, count, "members")

    def take_file(self, size: int) -> None:
        """Count one file and its bytes."""
        self._files += 1
        if self._files > self._most_files[1]:
            self._refuse(*self._most_files, self._files, "files")
        self._bytes += size
        if self._bytes > self._most_bytes[1]:
            self._refuse(*self._most_bytes, self._bytes, "bytes")

    def take_out(self, size: int, *, overhead: int = 0) -> None:
        """Count bytes that came out of a decompressor.

        ``overhead`` is how many of all these bytes may belong to no file.
        """
        self._streamed += size
        if self._streamed > self._most_bytes[1] + overhead:
            self._refuse(*self._most_bytes, self._streamed, "bytes")
        if self._streamed > max(RATIO_FROM_BYTES, self._ratio * self._packed):
            times = -(-self._streamed // self._packed)
            self._refuse("archive_ratio", self._ratio, times, "times its size")

    def _refuse(self, limit: str, maximum: int, actual: int, unit: str) -> NoReturn:
        raise LimitExceededError(limit, maximum, actual, unit, self.where)


def _smaller(limits: Limits, *names: str) -> tuple[str, int]:
    """Return the name and the value of the limit that is reached first."""
    return min(((name, getattr(limits, name)) for name in names), key=lambda at: at[1])


def inflate(
    data: bytes | memoryview, wbits: int, budget: ArchiveBudget, *, overhead: int = 0
) -> Iterator[bytes]:
    """Yield the bytes of one whole stream, in pieces of `CHUNK_BYTES` at most."""
    engine = zlib.decompressobj(wbits)
    for start in range(0, len(data), CHUNK_BYTES):
        feed = bytes(data[start : start + CHUNK_BYTES])
        out = b""
        # After a full piece there may be more output, even without more input.
        while feed or len(out) == CHUNK_BYTES:
            try:
                # Bounds the output: one call without it could fill the memory.
                out = engine.decompress(feed, CHUNK_BYTES)
            except zlib.error as error:
                detail = f"the compressed data is damaged ({error})"
                raise ArchiveError(budget.where, detail) from None
            budget.take_out(len(out), overhead=overhead)
            yield out
            feed = engine.unconsumed_tail
            if engine.eof:
                # Programs disagree about a second stream: some read on, others stop.
                if engine.unused_data or start + CHUNK_BYTES < len(data):
                    detail = "there is data after the end of the compressed data"
                    raise ArchiveError(budget.where, detail)
                return
    raise ArchiveError(budget.where, "the compressed data ends early")


# Categories of invisible characters, and of those that change the direction.
_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
_SHOWN_CHARS: Final = 80


def shown_name(name: str) -> str:
    """Return a member's name for a message: on one line, and not too long."""
    text = "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in escape_name(name[:_SHOWN_CHARS])
    )
    return f"{text!r}" if len(name) <= _SHOWN_CHARS else f"{text!r}..."


class ArchiveTree:
    """Files and folders by path: each path is plain, and no two are one on any system.

    A member is added in two steps, so that nothing of it is unpacked before its path is
    accepted: `place`, then `put`. In a ``library`` there may be links, which are only
    remembered, and packs at any depth.
    """

    def __init__(
        self, limits: Limits, packed: int, where: str, *, library: bool = False
    ) -> None:
        self.budget: Final = ArchiveBudget(limits, packed, where)
        self.library: Final = library
        self.links: Final = set[str]()
        self._depth = limits.pack_depth
        self._files: dict[str, bytes] = {}
        self._folders: set[str] = set()
        self._members: set[str] = set()
        self._spellings: dict[str, str] = {}

    def place(self, name: str, *, folder: bool) -> str:
        """Reserve the path that a name means, and return it; empty for ``./``."""
        self.budget.take_member()
        path = name.removesuffix("/") if folder else name
        path = "" if path == "." else path.removeprefix("./")
        if folder and not path and name in {".", "./"}:
            return path
        problem = path_problem(path)
        if not (problem or path.isascii()) and any(
            unicodedata.category(char) in _HIDDEN_CATEGORIES for char in path
        ):
            problem = "it has an invisible or a direction-changing character"
        if problem:
            raise self.refused(name, problem)
        # One more than the pack's own depth: a folder around the pack does not count.
        if not self.library:
            self._check_depth(path, self._depth + 1)
        self._reserve(name, path, folder=folder)
        return path

    def put(self, path: str, data: bytes) -> None:
        """Set the content of a reserved path."""
        self.budget.take_file(len(data))
        self._files[path] = data

    def put_link(self, path: str) -> None:
        """Remember that a reserved path is a link; no member can be below it."""
        del self._files[path]
        self.links.add(path)

    def refused(self, name: str, problem: str) -> ArchiveError:
        """Return the error that names a member."""
        return self.error(f"{shown_name(name)}: {problem}")

    def decoded(self, raw: bytes) -> str:
        """Return the text of a name; any other encoding than UTF-8 would be a guess."""
        try:
            return raw.decode()
        except UnicodeDecodeError:
            problem = "the name is not UTF-8"
            raise self.refused(raw.decode("latin-1"), problem) from None

    def error(self, detail: str) -> ArchiveError:
        return ArchiveError(self.budget.where, detail)

    @property
    def folder(self) -> str:
        """The name of the one folder that the pack is in; empty at the root."""
        return self._root().removesuffix("/")

    def below_one_folder(self) -> tuple[str, dict[str, bytes], frozenset[str]]:
        """Return the one folder that all is in, and all files and links, as in it."""
        top = "" if SKILL_FILE in self._files else self._one_folder()
        start = len(top) + 1 if top else 0
        inside = (path for path in sorted(self._files) if path.startswith(top))
        files = {path[start:]: self._files[path] for path in inside}
        return top, files, frozenset(path[start:] for path in self.links)

    def pack(self) -> dict[str, bytes]:
        """Return the files of the pack, sorted by path; SKILL.md is among them."""
        root = self._root()
        pack = {
            path.removeprefix(root): data
            for path, data in sorted(self._files.items())
            if path.startswith(root)
        }
        for path in pack:
            self._check_depth(path, self._depth)
        return pack

    def _check_depth(self, path: str, most: int) -> None:
        depth = path.count("/")
        if depth > most:
            where = self.budget.where
            raise LimitExceededError("pack_depth", self._depth, depth, "folders", where)

    def _root(self) -> str:
        """Return what all paths of the pack begin with: nothing, or one folder."""
        if SKILL_FILE in self._files:
            return ""
        inside = f"{self._one_folder()}/"
        if f"{inside}{SKILL_FILE}" in self._files:
            return inside
        other = self._spellings.get(folded_name(SKILL_FILE), "")
        hint = f"; rename {shown_name(other)}" if other else ""
        detail = f"it has no {SKILL_FILE} at its root or in its one folder{hint}"
        raise self.error(detail)

    def _one_folder(self) -> str:
        """Return the one folder that all is in; empty where there are others."""
        paths = (*self._files, *self._folders, *self.links)
        # macOS adds a folder "__MACOSX" next to the one that was packed.
        tops = {path.partition("/")[0] for path in paths}
        tops = {top for top in tops if not is_excluded_file(top)}
        return tops.pop() if len(tops) == 1 and tops <= self._folders else ""

    def _reserve(self, name: str, path: str, *, folder: bool) -> None:
        """Check that each part of a path has one spelling, and one kind."""
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            part = "/".join(parts[:count])
            # macOS and Windows fold case, and macOS composes Unicode: there one file
            # would replace the other, or be put into its folder.
            first = self._spellings.setdefault(folded_name(part), part)
            if first != part:
                problem = f"on some systems this is the same as {shown_name(first)}"
                raise self.refused(name, problem)
            inner = count < len(parts)
            if inner and (part in self._files or part in self.links):
                raise self.refused(name, f"{shown_name(part)} is a file, not a folder")
            if inner:
                self._folders.add(part)
        # A folder may be a member after files in it, but only once.
        if path in self._members or (path in self._folders and not folder):
            raise self.refused(name, "the archive has it twice")
        self._members.add(path)
        if folder:
            self._folders.add(path)
        else:
            # Reserved at once, so that no later member can be below a file.
            self._files[path] = b""
