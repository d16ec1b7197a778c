"""Archives of packs: read within limits, written to the same bytes, and as a source."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel_store.archives._archive_tree import ArchiveTree as ArchiveTree
    from satchel_store.archives._archive_writer import (
        archive_problem as archive_problem,
        tar_gz as tar_gz,
        zip_pack as zip_pack,
    )
    from satchel_store.archives._source import (
        ArchiveSource as ArchiveSource,
        TreeSource as TreeSource,
        files_in as files_in,
    )
    from satchel_store.archives._unpack import (
        UnpackedArchive as UnpackedArchive,
        archive_size_limit as archive_size_limit,
        open_archive as open_archive,
        open_library as open_library,
        unpack as unpack,
    )

__getattr__ = lazy_door(
    __name__,
    {
        "_archive_tree": "ArchiveTree",
        "_archive_writer": "archive_problem tar_gz zip_pack",
        "_source": "ArchiveSource TreeSource files_in",
        "_unpack": "UnpackedArchive archive_size_limit open_archive open_library "
        "unpack",
    },
)
