"""Read one pack again between two syncs, because a load found it changed.

A load compares what it reads with the catalog. If the two differ, somebody edited the
pack since the sync. That one pack is then read again here, outside of the load, and
gets its place in a new catalog; the other packs are not looked at.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, cast

from satchel.catalog._packs import ParseOptions, ScannedPack
from satchel.errors import SkillError, SkillNotFoundError, SourceUnavailableError
from satchel.model import SKILL_FILE, Descriptor, FileReader, FileStat, Found, Manifest
from satchel.protocols import CompleteSource, FullSource

if TYPE_CHECKING:
    from satchel.catalog._descriptor_builder import DescriptorBuilder

# Seconds between two looks that have to agree. It is longer than the 4 ms in which
# Linux gives two writes one time, so that equal times mean that nothing was written.
PAUSE_S: Final = 0.05
# The same, for a pack that goes on changing: only its bytes are compared then.
SHORT_PAUSE_S: Final = 0.01
# Looks at a pack that is good and goes on changing; the second half is quicker.
MAX_LOOKS: Final = 8
# Looks that have to agree that a pack is gone or broken, for a sync.
EQUAL_LOOKS: Final = 3
# Looks at a pack that is gone or broken: an editor may be writing it.
MAX_LOOKS_AT_BROKEN: Final = 20


class ScannedSource(Protocol):
    """A source, what was last read of it, and how its packs are read."""

    @property
    def source(self) -> FullSource: ...

    @property
    def label(self) -> str: ...

    @property
    def accept(self) -> ParseOptions: ...

    def pack(self, key: str) -> ScannedPack | None: ...

    def builder(self, source: FullSource) -> "DescriptorBuilder": ...


@dataclass(frozen=True, slots=True)
class RereadPack:
    """One pack as it was read: ``pack`` is None where it is gone.

    ``readers`` replace those of the catalog for the load that asked: they have the
    bytes that the pack was read from, so that one more edit does not come between.
    """

    pack: ScannedPack | None
    readers: Mapping[str, FileReader]


class PackRereader:
    """Reads one pack at a time again, however many loads wait for it. Thread-safe."""

    def __init__(self, sleep: Callable[[float], object] = time.sleep) -> None:
        self._sleep = sleep
        self._lock = threading.Lock()
        self._busy: dict[tuple[str, str], tuple[threading.Lock, int]] = {}

    @contextmanager
    def alone(self, label: str, key: str) -> Generator[None]:
        """Let one caller at a time look at a pack."""
        place = label, key
        # Counted, so that the lock of a pack goes with the last who waits for it.
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

    def read(  # noqa: PLR0913 - what it looks at, and how
        self,
        scanner: ScannedSource,
        descriptor: Descriptor,
        file: str,
        before: ScannedPack | None,
        *,
        sure: bool,
        wait_for_writer: bool,
    ) -> RereadPack | None:
        """Return the pack as it is now, or None where nothing about it has changed.

        ``file`` is what a load asked for; it is read, too. ``before`` is the pack as it
        was read last. ``sure`` says that it has changed for certain, whatever its marks
        say. ``wait_for_writer`` says to look until two looks agree; one look finds a
        pack that is good, and nothing of one that is gone or broken.
        """
        source = scanner.source
        if not (sure or source.near):
            return None  # a name that a model made up is no reason to ask a far source
        # The cheap look first: marks alone, and no file is opened.
        listed = _find_pack(source, descriptor)
        same = listed and before and listed.stamp == before.stamp
        if same and not sure:
            return None
        if not wait_for_writer:
            snapshot = _take_snapshot(scanner, descriptor, file, listed)
            if not snapshot.is_good:
                return None
        elif source.near:
            stable = self._wait_until_stable(scanner, descriptor, file)
            if stable is None:
                return None
            snapshot = stable
        elif same:
            return None  # the source lists what it listed, and its bytes are others
        else:
            snapshot = _take_snapshot(scanner, descriptor, file, listed)
        readers = {scanner.label: _SnapshotReader(source, snapshot)}
        return RereadPack(snapshot.pack, readers)

    def _wait_until_stable(
        self, scanner: ScannedSource, descriptor: Descriptor, file: str
    ) -> "_PackSnapshot | None":
        """Look until two looks agree, or a limit is reached; return the last look.

        None where it is still being written then, and no good state was seen.
        """

        def look() -> _PackSnapshot:
            listed = _find_pack(scanner.source, descriptor)
            return _take_snapshot(scanner, descriptor, file, listed)

        before = latest = look()
        for number in range(MAX_LOOKS_AT_BROKEN):
            quick = number >= MAX_LOOKS // 2
            self._sleep(SHORT_PAUSE_S if quick and latest.is_good else PAUSE_S)
            before, latest = latest, look()
            same = before.bytes_read == latest.bytes_read and before.is_good
            if latest.is_good and same and (quick or before.stamp == latest.stamp):
                return latest
            if latest.is_good and number >= MAX_LOOKS:
                break
        return latest if latest.is_good or before.stamp == latest.stamp else None


@dataclass(frozen=True, slots=True)
class _PackSnapshot:
    """One look at a pack; ``bytes_read`` by path."""

    key: str
    pack: ScannedPack | None
    bytes_read: Mapping[str, bytes]

    @property
    def is_good(self) -> bool:
        return self.pack is not None and not self.pack.refused

    @property
    def stamp(self) -> object:
        return self.pack.stamp if self.pack else None


def _take_snapshot(
    scanner: ScannedSource, descriptor: Descriptor, file: str, listed: Found | None
) -> _PackSnapshot:
    key = descriptor.origin.key
    if listed is None:
        return _PackSnapshot(key, None, {})
    # Recorded, since the load that asked has to get the very bytes that were parsed.
    recording = _RecordingSource(scanner.source)
    pack = scanner.builder(cast("FullSource", recording)).read(listed)
    if file != SKILL_FILE and any(s.path == file for s in pack.descriptor.files):
        # The load that asked for it reports what is wrong.
        with suppress(SkillError, OSError):
            recording.read(key, file, scanner.accept.limits.file_bytes)
    return _PackSnapshot(key, pack, recording.bytes_read)


def rescan_unstable(
    scanner: ScannedSource,
    before: Mapping[str, ScannedPack],
    packs: Mapping[str, ScannedPack],
) -> dict[str, ScannedPack]:
    """Return what a scan found, without what it saw of packs while they were written.

    A pack that was good ``before``, and now is gone or broken, may be half replaced.
    Such packs are looked at until some looks agree, for half a second at most.
    """
    # Only packs that were good are looked at again: one that was broken before the scan
    # would make every sync wait.
    result = dict(packs)
    unstable = {key: pack for key, pack in before.items() if _is_unstable(pack, result)}
    if not unstable:
        return result
    equal = dict.fromkeys(unstable, 0)
    for _ in range(MAX_LOOKS):
        time.sleep(PAUSE_S)
        for key, good in list(unstable.items()):
            descriptor = good.descriptor
            try:
                listed = _find_pack(scanner.source, descriptor)
            except SkillError:
                listed = None
            now = _take_snapshot(scanner, descriptor, SKILL_FILE, listed).pack
            last = result.pop(key, None)
            if now is not None:
                result[key] = now
            same = (last and last.stamp) == (now and now.stamp)
            equal[key] = equal[key] + 1 if same else 0
            if equal[key] == EQUAL_LOOKS or not (now is None or now.refused):
                del unstable[key]
        if not unstable:
            break
    result.update(unstable)  # still being written: the last good state stays for now
    return {key: result[key] for key in sorted(result)}


def _is_unstable(before: ScannedPack, packs: Mapping[str, ScannedPack]) -> bool:
    now = packs.get(before.descriptor.origin.key)
    return not before.refused and (now is None or now.refused)


def is_current(pack: ScannedPack | None, descriptor: Descriptor) -> bool:
    """Tell whether a pack was not read again since this descriptor was made."""
    if pack is None:
        return False
    now = pack.descriptor
    return (now.digest, now.files) == (descriptor.digest, descriptor.files)


def _find_pack(source: FullSource, descriptor: Descriptor) -> Found | None:
    """Return the pack as a scan would; None where there is none."""
    try:
        return source.scan_one(descriptor.origin.key, descriptor.origin.location)
    except SkillNotFoundError:
        return None
    except SkillError:
        raise
    except Exception as error:  # a source is a plug-in
        raise SourceUnavailableError(descriptor.source, type(error).__name__) from error


class _RecordingSource(CompleteSource):
    """A source that keeps what was read of it: one look at one pack."""

    def __init__(self, source: FullSource) -> None:
        super().__init__(source)
        self.bytes_read: dict[str, bytes] = {}

    def manifest(self, key: str) -> bytes | Manifest:
        data = self._source.manifest(key)
        if isinstance(data, bytes):
            self.bytes_read[SKILL_FILE] = data
        return data

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        data = self.bytes_read[path] = self._source.read(key, path, limit_bytes)
        return data


class _SnapshotReader(FileReader):
    """A reader that has some files of one pack; the rest comes from the source."""

    def __init__(self, source: FullSource, snapshot: _PackSnapshot) -> None:
        self._source = source
        self._snapshot = snapshot

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        snapshot = self._snapshot
        if key == snapshot.key and path in snapshot.bytes_read:
            return snapshot.bytes_read[path]
        return self._source.read(key, path, limit_bytes)

    def files(self, key: str) -> Iterable[FileStat]:
        if key != self._snapshot.key:
            return self._source.files(key)
        pack = self._snapshot.pack
        return pack.descriptor.files if pack else ()
