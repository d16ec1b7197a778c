"""A SKILL.md that is a link: what it leads to, and whether that may be read."""

# ruff: noqa: PTH115, PTH116, PTH118, PTH120 - paths as text, as where they are searched
import os
import stat
from typing import NamedTuple

from satchel.files import escape_name, exclusion_kind, mark_of
from satchel.model import SKILL_FILE, FileStat


class SkillLink(NamedTuple):
    """The file that a SKILL.md is a link to: ``base/path``, without links in ``path``.

    ``base`` is the folder that was named, or the repository around it; ``file`` is what
    a walk would see in the place of the link.
    """

    base: str
    path: str
    file: FileStat


def resolve_link(skill: os.DirEntry[str], root: str) -> SkillLink | str:
    """Return where a SKILL.md leads that is no file, or what is wrong with it."""
    if not skill.is_symlink():
        return "a folder" if skill.is_dir() else "a FIFO, a device or a socket"
    path = skill.path
    target = escape_name(os.readlink(path))
    try:
        status = os.stat(path)
    except OSError:
        return f"a dead link: there is no {target}"
    if not stat.S_ISREG(status.st_mode):
        return f"a link to what is no file, {target}"
    real, base = os.path.realpath(path), os.path.realpath(root)
    below = path_below(real, base) or path_below(real, _repository(base))
    if below is None:
        return f"a link that leads out, to {target}"
    inside = below.replace(os.sep, "/")
    if exclusion_kind(inside) in {"key material", "version control"}:
        return f"a link to what no pack lists, {target}"
    file = FileStat(SKILL_FILE, status.st_size, mark_of(status))
    return SkillLink(real[: -len(below)], inside, file)


def _repository(folder: str) -> str:
    """Return the folder with ``.git`` that one is in; itself where there is none."""
    above = folder
    while not os.path.lexists(os.path.join(above, ".git")):
        if above == os.path.dirname(above):
            return folder
        above = os.path.dirname(above)
    return above


def path_below(path: str, root: str) -> str | None:
    """Return ``path`` relative to ``root``; None where it is not below it."""
    if path == root:
        return ""
    prefix = root.rstrip(os.sep) + os.sep
    return path.removeprefix(prefix) if path.startswith(prefix) else None
