"""Archives of one pack, taken apart in memory: nothing of them meets a file system."""

from satchel.files.archives.budget import Budget
from satchel.files.archives.tree import Tree
from satchel.files.archives.unpacking import artifact_limit, is_archive, unpack

__all__ = ["Budget", "Tree", "artifact_limit", "is_archive", "unpack"]
