"""Read one pack again between two syncs, because a load found it changed."""

import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from satchel.catalog._packs import ScannedPack
from satchel.errors import SkillError, SkillNotFoundError, SourceUnavailableError
from satchel.model import SKILL_FILE, Descriptor, FileReader, FileStat, Found, Manifest
from satchel.protocols import SkillSource

if TYPE_CHECKING:
    from satchel.catalog._source_scanner import SourceScanner


PAUSE_S: Final = 0.05
"""Seconds between two looks that have to agree. It is longer than the 4 ms in which
Linux gives two writes one time, so that equal times mean that nothing was written."""
SHORT_PAUSE_S: Final = 0.01
"""The same, for a pack that never settles: only its bytes are compared then."""
MAX_LOOKS: Final = 8
"""Looks at a pack that is good and does not settle; the second half of them hurry."""
EQUAL_LOOKS: Final = 3
"""Looks that have to agree that a pack is gone or broken, for a sync."""
MAX_LOOKS_AT_BROKEN: Final = 20
"""Looks at a pack that is gone or broken: an editor may be half through writing it."""


@dataclass(frozen=True, slots=True)
class RereadPack:
    """One pack as it was read: ``entry`` is None where it is gone.

    ``readers`` replace those of the catalog for the load that asked: they have the
    bytes that the entry was made of, so that one more edit does not come between.
    """

    entry: ScannedPack | None
    readers: Mapping[str, FileReader]


class PackRereader:
    """Reads one pack at a time again, however many loads wait for it. Thread-safe."""

    def __init__(self, sleep: Callable[[float], object] = time.sleep) -> None:
        """Take what waits between two looks."""
        self._sleep = sleep
        self._lock = threading.Lock()
        self._busy: dict[tuple[str, str], tuple[threading.Lock, int]] = {}

    @contextmanager
    def alone(self, label: str, key: str) -> Generator[None]:
        """Let one caller at a time look at a pack."""
        place = label, key
        with self._lock:
            turn, users = self._busy.get(place, (threading.Lock(), 0))
            self._busy[place] = turn, users + 1
        try:
            with turn:
                yield
        finally:
            with self._lock:
                turn, users = self._busy.pop(place)
                if users > 1:
                    self._busy[place] = turn, users - 1

    def read(
        self,
        field: "SourceScanner",
        descriptor: Descriptor,
        file: str,
        *,
        sure: bool,
        wait_for_writer: bool,
    ) -> RereadPack | None:
        """Return the pack as it is now, or None where nothing about it has changed.

        A pack of this machine is looked at until two looks agree, so that a file which
        is being written is not taken for a version of it.

        Args:
            field: The source, and how its packs are read.
            descriptor: The pack as the catalog has it.
            file: The file that a load asked for; it is read, too.
            sure: The pack is known to have changed, whatever its marks say.
            patient: Whether to look until two looks agree. One look finds a pack that
                is good, and nothing of one that is gone or broken.

        Raises:
            SkillError: The source does not answer.
        """
        near = getattr(field.source, "near", False)
        if not (sure or near):
            return None  # nobody asks a far source for each name that a model made up
        found = _find_pack(field.source, descriptor)
        entry = field.known(descriptor.origin.key)
        same = found and entry and found.stamp == entry.stamp
        if same and not sure:
            return None
        if not wait_for_writer:
            seen = _take_snapshot(field, descriptor, file, found)
            if not seen.is_good:
                return None
        elif near:
            settled = self._settled(field, descriptor, file)
            if settled is None:
                return None
            seen = settled
        elif same:
            return None  # the source says what it said, and its bytes are others
        else:
            seen = _take_snapshot(field, descriptor, file, found)
        return RereadPack(seen.entry, {field.label: seen.reader(field.source)})

    def _settled(
        self, field: "SourceScanner", descriptor: Descriptor, file: str
    ) -> "_PackSnapshot | None":
        """Look until two looks agree, or patience ends; return the last look.

        None where it is still being written then, and no good one was seen.
        """
        source = field.source
        before = seen = _take_snapshot(
            field, descriptor, file, _find_pack(source, descriptor)
        )
        for look in range(MAX_LOOKS_AT_BROKEN):
            without_waiting = look >= MAX_LOOKS // 2
            self._sleep(SHORT_PAUSE_S if without_waiting and seen.is_good else PAUSE_S)
            before = seen
            seen = _take_snapshot(
                field, descriptor, file, _find_pack(source, descriptor)
            )
            same = before.held == seen.held and before.is_good
            if (
                seen.is_good
                and same
                and (without_waiting or before.stamp == seen.stamp)
            ):
                return seen
            if seen.is_good and look >= MAX_LOOKS:
                break
        return seen if seen.is_good or before.stamp == seen.stamp else None


@dataclass(frozen=True, slots=True)
class _PackSnapshot:
    """One look at a pack; ``held`` are the bytes that were read, by path."""

    key: str
    entry: ScannedPack | None
    held: Mapping[str, bytes]

    @property
    def is_good(self) -> bool:
        return self.entry is not None and not self.entry.refused

    @property
    def stamp(self) -> object:
        return self.entry.stamp if self.entry else None

    def reader(self, source: SkillSource) -> FileReader:
        files = self.entry.descriptor.files if self.entry else ()
        return _SnapshotReader(source, self.key, self.held, files)


def _take_snapshot(
    field: "SourceScanner", descriptor: Descriptor, file: str, found: Found | None
) -> _PackSnapshot:
    key = descriptor.origin.key
    if found is None:
        return _PackSnapshot(key, None, {})
    noting = _RecordingSource(field.source)
    entry = field.builder(noting).read(found)
    if file != SKILL_FILE and any(s.path == file for s in entry.descriptor.files):
        noting.note(key, file, field.accept.limits.file_bytes)
    return _PackSnapshot(key, entry, noting.held)


def rescan_unstable(
    field: "SourceScanner",
    entries: Mapping[str, ScannedPack],
    sleep: Callable[[float], object] = time.sleep,
) -> dict[str, ScannedPack]:
    """Return what a scan saw, without what it saw of packs while they were written.

    A pack that was good, and now is gone or broken, may be half through being replaced.
    Those are looked at until some looks agree, all together, for half a second at most.
    """
    seen = dict(entries)
    known: Mapping[str, ScannedPack] = field.result.entries if field.result else {}
    if not (getattr(field.source, "near", False) and hasattr(field.source, "scan_one")):
        return seen
    doubtful = {key: each for key, each in known.items() if _is_unstable(each, seen)}
    if not doubtful:
        return seen
    agreed = dict.fromkeys(doubtful, 0)
    for _ in range(MAX_LOOKS):
        sleep(PAUSE_S)
        for key, before in list(doubtful.items()):
            descriptor = before.descriptor
            try:
                found = _find_pack(field.source, descriptor)
            except SkillError:
                found = None
            now = _take_snapshot(field, descriptor, SKILL_FILE, found).entry
            was = seen.pop(key, None)
            if now is not None:
                seen[key] = now
            same = (was and was.stamp) == (now and now.stamp)
            agreed[key] = agreed[key] + 1 if same else 0
            if agreed[key] == EQUAL_LOOKS or not (now is None or now.refused):
                del doubtful[key]
        if not doubtful:
            break
    seen.update(doubtful)  # still being written: the last good state stays for now
    return {key: seen[key] for key in sorted(seen)}


def _is_unstable(before: ScannedPack, seen: Mapping[str, ScannedPack]) -> bool:
    now = seen.get(before.descriptor.origin.key)
    return not before.refused and (now is None or now.refused)


def is_current(field: "SourceScanner", descriptor: Descriptor) -> bool:
    """Tell whether a pack was not read again since this descriptor was made."""
    entry = field.known(descriptor.origin.key)
    if entry is None:
        return False
    now = entry.descriptor
    return (now.digest, now.files) == (descriptor.digest, descriptor.files)


def _find_pack(source: SkillSource, descriptor: Descriptor) -> Found | None:
    """Return the pack as a scan would; a source that can looks for it alone."""
    key, location = descriptor.origin.key, descriptor.origin.location
    scan_one = getattr(source, "scan_one", None)
    try:
        if scan_one is not None:
            found: Found | None = scan_one(key, location)
            return found
        all_found = (each for each in source.scan() if isinstance(each, Found))
        return next((each for each in all_found if each.key == key), None)
    except SkillNotFoundError:
        return None
    except SkillError:
        raise
    except Exception as error:  # a source is a plug-in
        raise SourceUnavailableError(descriptor.source, type(error).__name__) from error


class _RecordingSource:
    """A source that keeps what was read of it: one look at one pack."""

    def __init__(self, source: SkillSource) -> None:
        self._source = source
        self.label = source.label
        self.remote: str = getattr(source, "remote", "")
        self.scan = source.scan
        self.files = source.files
        self.close = source.close
        self.held: dict[str, bytes] = {}

    def manifest(self, key: str) -> bytes | Manifest:
        data = self._source.manifest(key)
        if isinstance(data, bytes):
            self.held[SKILL_FILE] = data
        return data

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        data = self.held[path] = self._source.read(key, path, limit_bytes)
        return data

    def note(self, key: str, file: str, limit_bytes: int) -> None:
        try:
            self.read(key, file, limit_bytes)
        except (SkillError, OSError):
            return  # the load that asked for it says what is wrong


class _SnapshotReader:
    """A reader that has some files of one pack; the rest comes from the source."""

    def __init__(
        self,
        source: SkillSource,
        key: str,
        held: Mapping[str, bytes],
        files: tuple[FileStat, ...],
    ) -> None:
        self._source = source
        self._key = key
        self._held = held
        self._files = files

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        """Return what is held; it was read within the limit."""
        if key == self._key and path in self._held:
            return self._held[path]
        return self._source.read(key, path, limit_bytes)

    def files(self, key: str) -> Iterable[FileStat]:
        """Return what the pack held when it was read."""
        return self._files if key == self._key else self._source.files(key)
