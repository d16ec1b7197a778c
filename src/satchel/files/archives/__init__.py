"""Archives of one pack, made and taken apart in memory: no file system is met."""

from satchel.files.archives.budget import Budget
from satchel.files.archives.tree import Tree
from satchel.files.archives.unpacking import (
    Unpacked,
    artifact_limit,
    is_archive,
    open_archive,
    unpack,
)

__all__ = [
    "Budget",
    "Tree",
    "Unpacked",
    "artifact_limit",
    "is_archive",
    "open_archive",
    "unpack",
]
