"""Read one file from its source, at most once a turn, and check.

That it is the one in the catalog.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Final

from satchel.errors import (
    LimitExceededError,
    PackFileError,
    ReferenceNotFoundError,
    ReferenceUnreadableError,
    SkillError,
    SkillNotFoundError,
    SourceUnavailableError,
)
from satchel.model import SKILL_FILE, Descriptor, FileReader, Loaded

if TYPE_CHECKING:
    from mimetypes import MimeTypes


MARKDOWN: Final = "text/markdown"
_TEXT_TYPES: Final = ("application/json", "application/xml", "image/svg+xml")


def media_type(path: str, *, text: bool) -> str:
    """Return a media type that does not depend on the machine.

    A file whose name says one thing and whose bytes another is plain text or plain
    bytes (``.ts`` is TypeScript more often than a film).
    """
    if path.endswith(".md"):
        return MARKDOWN
    guess, encoding = _types().guess_type(path)
    is_text_type = guess is not None and (
        guess.startswith("text/") or guess in _TEXT_TYPES
    )
    if guess is None or encoding is not None or is_text_type is not text:
        return "text/plain" if text else "application/octet-stream"
    return guess


@cache
def _types() -> "MimeTypes":
    """Return the standard library's own table, without that of the machine."""
    from mimetypes import MimeTypes

    return MimeTypes()


def fetch(reader: FileReader, descriptor: Descriptor, file: str, limit: int) -> bytes:
    """Return the bytes; every failure names the skill and the path inside the pack."""
    name, listed = descriptor.id, descriptor.resources
    try:
        data = reader.read(descriptor.origin.key, file, limit)
    except ReferenceNotFoundError as error:
        raise ReferenceNotFoundError(name, file, listed) from error
    except SkillNotFoundError as error:
        detail = "the whole pack is gone"
        raise ReferenceNotFoundError(name, file, listed, detail) from error
    except PackFileError as error:
        raise type(error)(name, file, detail=error.detail) from error
    except LimitExceededError as error:
        raise _too_large(file, limit, error.actual) from error
    except SkillError:
        raise
    except (TimeoutError, ConnectionError) as error:  # a plug-in reads from elsewhere
        raise SourceUnavailableError(descriptor.source, type(error).__name__) from error
    except OSError as error:
        # Its message would carry the absolute path; strerror does not.
        detail = error.strerror or type(error).__name__
        raise ReferenceUnreadableError(name, file, detail=detail) from error
    except Exception as error:  # a source is a plug-in
        source = descriptor.source
        raise SourceUnavailableError(source, type(error).__name__) from error
    if len(data) > limit:
        raise _too_large(file, limit, len(data))
    return data


def _too_large(file: str, limit: int, actual: int) -> LimitExceededError:
    name = "skill_md_bytes" if file == SKILL_FILE else "file_bytes"
    return LimitExceededError(name, limit, actual, "bytes", file)


def has_changed(
    reader: FileReader, descriptor: Descriptor, file: str, size: int, digest: str
) -> bool:
    """Tell whether a file beside SKILL.md is not the one that was catalogued.

    Where the catalog knows its digest, that tells. False where the catalog does not say
    what it saw. Else what tells is size and mark, as of R25: a file that was written
    anew with the same bytes counts as changed.
    """
    known = next((stat for stat in descriptor.files if stat.path == file), None)
    if known is None:
        return False
    if known.size != size:
        return True
    if known.digest:
        return known.digest != digest
    key = descriptor.origin.key
    # A look at one file, where the source has it: a look at each file of a large pack
    # for each of them would take minutes. What it does not confirm is asked in full.
    if reader.is_unchanged(key, known):
        return False
    try:
        now = tuple(reader.files(key))
    except (SkillError, OSError):
        return True
    return known not in now


MAX_FILES: Final = 256
"""Files that a turn keeps: as many as Agent World's cache of loads."""
MAX_BYTES: Final = 64 * 1024 * 1024
"""Bytes that a turn keeps, beside the file it read last."""

Key = tuple[str, str]


class TurnCache:
    """Files that were loaded during one turn, by skill id and path.

    A new turn takes a new cache: nothing is carried over. Only successes are kept,
    the least recently used go first, and callers that want one file at the same time
    share one read. Safe across threads.
    """

    def __init__(self, max_files: int = MAX_FILES, max_bytes: int = MAX_BYTES) -> None:
        self._max_files = max_files
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, Loaded] = OrderedDict()
        self._bytes = 0
        self._reading: dict[Key, threading.Event] = {}
        self._reads = 0
        self._hits = 0

    @property
    def reads(self) -> int:
        """How many reads were begun, failed ones included."""
        return self._reads

    @property
    def hits(self) -> int:
        """How many calls were answered without a read of their own."""
        return self._hits

    def get(self, key: Key, read: Callable[[], Loaded]) -> Loaded:
        """Return what is kept under ``key``; else what ``read`` gives, and keep it.

        A call that waited for another's read that failed reads for itself, so that
        every caller gets an error of its own.
        """
        while True:
            with self._lock:
                kept = self._kept.get(key)
                if kept is not None:
                    self._kept.move_to_end(key)
                    self._hits += 1
                    return kept
                under_way = self._reading.get(key)
                if under_way is None:
                    done = self._reading[key] = threading.Event()
                    self._reads += 1
                    break
            under_way.wait()
        try:
            loaded = read()
            with self._lock:
                self._keep(key, loaded)
        finally:
            with self._lock:
                del self._reading[key]
            done.set()
        return loaded

    def _keep(self, key: Key, loaded: Loaded) -> None:
        self._kept[key] = loaded
        self._bytes += len(loaded.data)
        while len(self._kept) > 1 and (
            len(self._kept) > self._max_files or self._bytes > self._max_bytes
        ):
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= len(dropped.data)
