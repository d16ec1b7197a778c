"""The index on disk: what one process read of packs, for the next one."""

from typing import TYPE_CHECKING

from satchel.index._location import (
    LARGE_SOURCE as LARGE_SOURCE,
    NO_INDEX as NO_INDEX,
    Check as Check,
    IndexChoice as IndexChoice,
    IndexSettings as IndexSettings,
)
from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel.index._file import (
        IndexFile as IndexFile,
        NewRow as NewRow,
        PackRow as PackRow,
        StoredRows as StoredRows,
    )

__all__: list[str] = []

__getattr__ = lazy_door(__name__, {"_file": "IndexFile NewRow PackRow StoredRows"})
