"""A pack as one .zip: equal files give equal bytes, on any machine."""

import io
import stat
from collections.abc import Collection, Mapping
from typing import Final
from zipfile import ZIP_STORED, ZipFile, ZipInfo

__all__ = ["zip_pack"]

_NO_TIME: Final = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a .zip can say (APPNOTE.TXT 4.4.6)."""
_UNIX: Final = 3
_FILE: Final = stat.S_IFREG | 0o644
_PROGRAM: Final = stat.S_IFREG | 0o755


def zip_pack(
    folder: str, files: Mapping[str, bytes], programs: Collection[str] = ()
) -> bytes:
    """Return a .zip with one folder in it, and ``files`` by path in that.

    Sorted by path by code point; no entries for folders, no time, no owner, mode 0644,
    and 0755 for those of ``programs``. The files are stored as they are: how deflate
    packs them is up to the zlib that Python was built with, and equal packs would then
    differ between machines.
    """
    whole = io.BytesIO()
    with ZipFile(whole, "w", ZIP_STORED) as archive:
        for path in sorted(files):
            member = ZipInfo(f"{folder}/{path}", _NO_TIME)
            member.create_system = _UNIX
            member.external_attr = (_PROGRAM if path in programs else _FILE) << 16
            archive.writestr(member, files[path])
    return whole.getvalue()
