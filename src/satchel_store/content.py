"""The content-addressed store: bytes by their digest, checked whenever they are read.

It is a folder of the user, shared by all projects; what is in it can be fetched again.
"""

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from satchel.errors import DigestMismatchError, ReferenceNotFoundError
from satchel.files import digest_bytes, is_digest, write_file

VARIABLE: Final = "SATCHEL_STORE"
_PREFIX: Final = "sha256:"
_FILE_MODE: Final = 0o444


def default_folder() -> Path:
    """Return the folder that ``SATCHEL_STORE`` names, else that of the user's cache."""
    from platformdirs import user_cache_path

    named = os.environ.get(VARIABLE, "").strip()
    return Path(named or user_cache_path("satchel", appauthor=False) / "store")


class ContentStore:
    """Bytes by digest, ``sha256:4f1c...``, in a folder; safe across processes."""

    def __init__(self, folder: Path | str | None = None) -> None:
        """Take the folder, which is made when it is first written to."""
        self.folder: Final = default_folder() if folder is None else Path(folder)

    def keep(self, data: bytes) -> str:
        """Keep bytes, and return their digest."""
        digest = digest_bytes(data)
        place = self._place(digest)
        # One of another size was cut off, or is damaged: it is written again.
        with suppress(OSError):
            if os.stat(place).st_size == len(data):  # noqa: PTH116 - many files
                return digest
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        write_file(place, data, _FILE_MODE)
        return digest

    def has(self, digest: str) -> bool:
        """Tell whether there is something under a digest; `get` checks what it is."""
        return os.path.isfile(self._place(digest))  # noqa: PTH113 - many files

    def get(self, digest: str) -> bytes:
        """Return the bytes of a digest.

        Raises:
            ReferenceNotFoundError: They are not here.
            DigestMismatchError: Something else is; it is removed.
        """
        place = self._place(digest)
        try:
            with open(place, "rb", buffering=0) as file:  # noqa: PTH123 - many files
                data = file.read()
        except FileNotFoundError as error:
            raise ReferenceNotFoundError("", digest, detail="not stored") from error
        actual = _PREFIX + sha256(data).hexdigest()
        if actual != digest:
            with suppress(OSError):
                os.unlink(place)  # noqa: PTH108 - it is a text
            raise DigestMismatchError("", digest, detail=f"the store has {actual}")
        return data

    def prune(self, needed: Collection[str]) -> tuple[int, int]:
        """Remove all but these digests; return how many files and bytes went."""
        files = size = 0
        for place in [*self._stored()]:
            if _PREFIX + place.parent.name + place.name in needed:
                continue
            with suppress(FileNotFoundError):  # another process prunes, too
                size += place.stat().st_size
                place.unlink()
                files += 1
        return files, size

    def _stored(self) -> Iterator[Path]:
        # Also what a process that was killed left while it wrote.
        return (self.folder / "sha256").glob("[0-9a-f][0-9a-f]/*")

    def _place(self, digest: str) -> str:
        if not is_digest(digest):
            raise ReferenceNotFoundError("", digest, detail="not a digest")
        digits = digest.removeprefix(_PREFIX)
        # A text: to make a path of each would take longer than to look at the file.
        return f"{self.folder}/sha256/{digits[:2]}/{digits[2:]}"
