"""Files on disk: list, read, write and digest those of packs."""

from typing import TYPE_CHECKING

from satchel.files._confined import (
    ARCHIVE_SUFFIXES as ARCHIVE_SUFFIXES,
    check_path,
    check_read_size as check_read_size,
    escape_name as escape_name,
    folded_name as folded_name,
    folder_problem as folder_problem,
    is_archive_name as is_archive_name,
    path_problem as path_problem,
    read_confined,
    read_file as read_file,
)
from satchel.files._exclusion import (
    exclusion_kind as exclusion_kind,
    is_excluded_file as is_excluded_file,
)
from satchel.files._listing import (
    TOO_LARGE_FIX as TOO_LARGE_FIX,
    TREE_PREFIX as TREE_PREFIX,
    Listing as Listing,
    WalkedPack as WalkedPack,
    digest_bytes,
    is_digest as is_digest,
    is_settled as is_settled,
    list_folder as list_folder,
    locate_findings as locate_findings,
    mark_of as mark_of,
    read_seen as read_seen,
    stat_of as stat_of,
    tree_digest as tree_digest,
    walk_pack as walk_pack,
)
from satchel.files._lru import LruCache as LruCache
from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel.files._atomic_write import (
        naming as naming,
        staged_file as staged_file,
        write_file as write_file,
    )
    from satchel.files._circuit_breaker import (
        LimitedReader as LimitedReader,
        ReadLimiter as ReadLimiter,
    )
    from satchel.files._left_out import may_be_public as may_be_public

__all__ = ["check_path", "digest_bytes", "read_confined"]

__getattr__ = lazy_door(
    __name__,
    {
        "_atomic_write": "naming staged_file write_file",
        "_circuit_breaker": "LimitedReader ReadLimiter",
        "_left_out": "may_be_public",
    },
)
