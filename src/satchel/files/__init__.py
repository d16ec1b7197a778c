"""Files of packs: which there are, which may be read, and reading just those."""

from satchel.files.confined import read_confined
from satchel.files.digest import TREE_PREFIX, digest_bytes, tree_digest
from satchel.files.left_out import is_left_out
from satchel.files.listing import Listing
from satchel.files.paths import check_path, is_archive_name, path_problem, spelled
from satchel.files.walk import (
    Walked,
    is_settled,
    list_folder,
    mark_of,
    stat_of,
    walk_pack,
)

__all__ = [
    "TREE_PREFIX",
    "Listing",
    "Walked",
    "check_path",
    "digest_bytes",
    "is_archive_name",
    "is_left_out",
    "is_settled",
    "list_folder",
    "mark_of",
    "path_problem",
    "read_confined",
    "spelled",
    "stat_of",
    "tree_digest",
    "walk_pack",
]
