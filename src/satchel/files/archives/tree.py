"""The files of an archive as they are found, and whether they can stand together."""

import unicodedata
from typing import Final

from satchel.errors import ArchiveError, LimitExceededError
from satchel.files.archives.budget import Budget
from satchel.files.left_out import is_left_out
from satchel.files.paths import path_problem, spelled
from satchel.model import SKILL_FILE

__all__ = ["Tree", "shown"]

_HIDDEN: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
"""Categories of characters that nobody sees, or that turn others around."""
_SHOWN_CHARS: Final = 80


def shown(name: str) -> str:
    """Return a member's name for a message: on one line, and not too long."""
    text = "".join(
        char
        if char.isprintable()
        else char.encode("unicode_escape", "surrogatepass").decode("ascii")
        for char in spelled(name[:_SHOWN_CHARS])
    )
    return f"{text!r}" if len(name) <= _SHOWN_CHARS else f"{text!r}..."


class Tree:
    """Files and folders by path, each path plain, and no two alike on any system."""

    def __init__(self, budget: Budget, depth: int, where: str) -> None:
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
        problem = path_problem(path) or _hidden(path)
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
        return ArchiveError(self._where, f"{shown(name)}: {problem}")

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
        tops = {top for top in tops if not is_left_out(top)}
        inside = f"{next(iter(tops))}/" if len(tops) == 1 else ""
        if inside and f"{inside}{SKILL_FILE}" in self._files:
            return inside
        other = self._spellings.get(SKILL_FILE.casefold(), "")
        hint = f"; rename {shown(other)}" if other else ""
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
                problem = f"on some systems this is the same as {shown(first)}"
                raise self.refused(name, problem)
            inner = count < len(parts)
            if inner and part in self._files:
                raise self.refused(name, f"{shown(part)} is a file, and no folder")
            if inner:
                self._folders.add(part)
        if path in self._members or (path in self._folders and not folder):
            raise self.refused(name, "the archive holds it twice")
        self._members.add(path)
        if folder:
            self._folders.add(path)
        else:
            self._files[path] = b""


def _hidden(path: str) -> str:
    if not path.isascii() and any(unicodedata.category(c) in _HIDDEN for c in path):
        return "it holds an invisible or a direction-changing character"
    return ""
