"""Files on disk and in archives: list, read, write and digest those of packs."""

from typing import TYPE_CHECKING

from satchel._lazy import lazy_door
from satchel.files._confined import (
    ARCHIVE_SUFFIXES as ARCHIVE_SUFFIXES,
    check_path,
    check_read_size as check_read_size,
    escape_name as escape_name,
    folded_name as folded_name,
    is_archive_name as is_archive_name,
    path_problem as path_problem,
    read_confined,
)
from satchel.files._listing import (
    TOO_LARGE_FIX as TOO_LARGE_FIX,
    TREE_PREFIX as TREE_PREFIX,
    Listing as Listing,
    WalkedPack as WalkedPack,
    digest_bytes,
    exclusion_kind as exclusion_kind,
    is_digest as is_digest,
    is_excluded_file as is_excluded_file,
    is_settled as is_settled,
    list_folder as list_folder,
    locate_findings as locate_findings,
    mark_of as mark_of,
    read_seen as read_seen,
    stat_of as stat_of,
    tree_digest as tree_digest,
    walk_pack as walk_pack,
)
from satchel.files._lru import IdentityCache as IdentityCache, LruCache as LruCache

if TYPE_CHECKING:
    from satchel.files._archive_tree import ArchiveTree as ArchiveTree
    from satchel.files._archive_writer import (
        archive_problem as archive_problem,
        tar_gz as tar_gz,
        zip_pack as zip_pack,
    )
    from satchel.files._atomic_write import (
        replace_file as replace_file,
        staged_file as staged_file,
        write_file as write_file,
    )
    from satchel.files._discovery_index import (
        INDEX_V1 as INDEX_V1,
        INDEX_V2 as INDEX_V2,
        DiscoveryIndex as DiscoveryIndex,
        IndexEntry as IndexEntry,
        NotAnIndexError as NotAnIndexError,
        index_v1 as index_v1,
        index_v2 as index_v2,
        parse_index as parse_index,
    )
    from satchel.files._read_limiter import ReadLimiter as ReadLimiter
    from satchel.files._release_format import (
        FORMAT as FORMAT,
        SITE_FORMAT as SITE_FORMAT,
        canonical_json as canonical_json,
        check_release_id as check_release_id,
        folder_problem as folder_problem,
        parse_release as parse_release,
        parse_release_file as parse_release_file,
        render_pointer as render_pointer,
        render_release as render_release,
    )
    from satchel.files._unpack import (
        UnpackedArchive as UnpackedArchive,
        archive_size_limit as archive_size_limit,
        open_archive as open_archive,
        open_library as open_library,
        unpack as unpack,
    )

__all__ = ["check_path", "digest_bytes", "read_confined"]

__getattr__ = lazy_door(
    __name__,
    {
        "_archive_tree": "ArchiveTree",
        "_archive_writer": "archive_problem tar_gz zip_pack",
        "_atomic_write": "replace_file staged_file write_file",
        "_discovery_index": "INDEX_V1 INDEX_V2 DiscoveryIndex IndexEntry "
        "NotAnIndexError index_v1 index_v2 parse_index",
        "_read_limiter": "ReadLimiter",
        "_release_format": "FORMAT SITE_FORMAT canonical_json check_release_id "
        "folder_problem parse_release parse_release_file render_pointer "
        "render_release",
        "_unpack": "UnpackedArchive archive_size_limit open_archive open_library "
        "unpack",
    },
)
