"""One source over time: scanned in a thread, first waited for while it moves."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from satchel.catalog._packs import ParseOptions, ScannedPack
from satchel.errors import SkillError, SourceUnavailableError
from satchel.files import digest_bytes
from satchel.model import Catalog, FileReader, Finding, Found, SourceStatus
from satchel.protocols import Clock, FullSource, SkillSource, with_abilities

if TYPE_CHECKING:
    from satchel.catalog._descriptor_builder import DescriptorBuilder

NEVER_ANSWERED: Final = "no answer yet"


@dataclass(frozen=True, slots=True)
class ScanResult:
    """What one scan of a source found; ``packs`` by key, in its order.

    ``whole`` is false where the source was given up, or failed, before its first scan
    was complete: these are the packs that were read until then.
    """

    packs: Mapping[str, ScannedPack]
    findings: tuple[Finding, ...]
    at: float
    whole: bool = True


class PackIndex(Protocol):
    """What earlier processes read of packs; `satchel.index` has one on disk.

    It is at ``path``, with a folder ``segments`` for what search keeps. ``fewest`` is
    how many packs a source has to have.
    """

    path: str
    fewest: int

    @property
    def segments(self) -> str: ...
    def may_hold_packs(self) -> bool: ...
    def of_source(
        self, source: SkillSource, accept: ParseOptions
    ) -> "SourceIndex | None": ...
    def of_catalogs(self, rules: object) -> "CatalogIndex": ...
    def close(self) -> None: ...


class SourceIndex(Protocol):
    """What an index knows of one source; ``looked`` grows while it looks at packs."""

    name: str
    looked: int

    def begin(self, began: tuple[int, float]) -> None: ...
    def packs(self, label: str) -> dict[str, ScannedPack]: ...
    def recall(
        self, scanner: "SourceScanner", last: object
    ) -> tuple[Mapping[str, ScannedPack], tuple[Finding, ...]] | None: ...
    def save(
        self, packs: Mapping[str, ScannedPack], findings: tuple[Finding, ...]
    ) -> None: ...
    def forget(self, key: str) -> None: ...
    def rows_of(self, packs: object) -> tuple[str, Mapping[str, int]] | None: ...


class CatalogIndex(Protocol):
    """The catalogs of a list of sources; the last one, and what is known of it."""

    catalog: Catalog | None
    conflict_findings: Sequence[Finding]
    changes: tuple[Catalog, frozenset[str]] | None

    def recall(self, scanners: "Sequence[SourceScanner]") -> Catalog | None: ...
    def save(self, scanners: "Sequence[SourceScanner]", catalog: Catalog) -> None: ...


class SourceScanner:
    """One source, its last result, and the thread that scans it again.

    A source that hangs keeps its thread; until that comes back no second one is
    started, and the last result is served, marked stale. What was read before it hung
    is used where there is no result, and is not read again.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what a registry knows of it
        self,
        source: SkillSource,
        label: str,
        accept: ParseOptions,
        clock: Clock,
        on_end: Callable[[], object],
        packs: PackIndex | None = None,
    ) -> None:
        """Take ``on_end``, which the scanning thread calls when a scan has ended."""
        self.given: Final = source
        self.source: Final = with_abilities(source)
        # A server that hangs must not take a thread for each load of its skills.
        direct = self.source.near or self.source.limits_reads
        self.reader: Final[FileReader] = (
            self.source if direct else _limited(self.source, label, clock)
        )
        self.label: Final = label
        self.accept: Final = accept
        self.result: ScanResult | None = None
        self.error = NEVER_ANSWERED
        self.is_scanning = False
        self.index: SourceIndex | None = None
        """What the index knows of the source, once it was asked."""
        self._pack_index = packs
        self._clock = clock
        self._on_end = on_end
        self._answer: ScanResult | str | None = None
        self._packs: dict[str, ScannedPack] = {}
        self._findings: list[Finding] = []
        self._unsettled: set[str] = set()
        self._progress: object = None
        self._began_at = self._moved_at = 0.0

    def begin(self) -> None:
        """Start a scan, unless an earlier one has not ended."""
        self._take_answer()  # one that came too late for the last sync
        if self.is_scanning:
            return
        self.is_scanning = True
        self._began_at = self._moved_at = self._clock.monotonic()
        self._progress = self._current_progress()
        thread = threading.Thread(
            target=self._run, name=f"satchel-sync-{self.label}", daemon=True
        )
        try:
            thread.start()
        except RuntimeError as error:  # the system has no more threads to give
            self._answer, self.is_scanning = str(error), False

    def is_done(self, deadline_s: float) -> bool:
        """Tell whether there is nothing to wait for: an answer, or no hope of one.

        A folder of this machine is waited for. Of any other source, a first answer is
        waited for until nothing moved for ``deadline_s`` seconds. A source that has
        answered before is waited for ``deadline_s`` seconds at most, since its last
        answer can be used.
        """
        if self._take_answer():
            return True
        if self.source.near and self.source.root:
            # A folder of this machine: if it seems to stand still, the machine is busy.
            return False
        now = self._clock.monotonic()
        progress = self._current_progress()
        if progress != self._progress:
            self._progress, self._moved_at = progress, now
        whole = self.result is not None and self.result.whole
        if now - (self._began_at if whole else self._moved_at) < deadline_s:
            return False
        lack = "no answer" if whole else "no progress"
        self._fail(f"{lack} for {deadline_s:g} s")
        return True

    @property
    def looked(self) -> int:
        """How many packs it has looked at, in the scan that runs or the last one."""
        if not self.is_scanning:
            return len(self.result.packs) if self.result else 0
        return max(len(self._packs), self.index.looked if self.index else 0)

    @property
    def has_late_answer(self) -> bool:
        """Whether there is an answer that has not been used yet."""
        return not self.is_scanning and self._answer is not None

    @property
    def state(self) -> SourceStatus:
        packs = len(self.result.packs) if self.result else 0
        partial = self.result is None or not self.result.whole
        release = self.source.release or ""
        return SourceStatus(self.label, packs, self.error, release, partial)

    def pack(self, key: str) -> ScannedPack | None:
        return self.result.packs.get(key) if self.result else None

    def replace(self, key: str, pack: ScannedPack | None) -> None:
        """Replace one pack by what was just read; None takes it out."""
        if self.result is None:
            return
        # A scan that is running began earlier, and may undo this; the next load of the
        # pack then reads it again.
        packs = dict(self.result.packs)
        if pack is not None:
            packs[key] = pack
        else:
            packs.pop(key, None)
        self.result = replace(self.result, packs=packs)
        if self.index is not None:
            self.index.forget(key)

    def builder(self, source: FullSource) -> "DescriptorBuilder":
        from satchel.catalog._descriptor_builder import DescriptorBuilder

        return DescriptorBuilder(source, self.label, self.accept)

    def _take_answer(self) -> bool:
        """Use the answer that is there; return whether no scan is running."""
        if self.is_scanning:
            return False
        answer, self._answer = self._answer, None
        if isinstance(answer, ScanResult):
            self.result, self.error = answer, ""
            self._packs = {}
        elif answer is not None:
            self._fail(answer)
        return True

    def _fail(self, error: str) -> None:
        """Keep the last result; where none was whole, add what was read since."""
        self.error = error
        last, read = self.result, dict(self._packs)
        if last is None or not last.whole:
            packs = {**(last.packs if last else {}), **read}
            if packs:
                ordered, at = dict(sorted(packs.items())), self._clock.monotonic()
                findings = tuple(self._findings)
                self.result = ScanResult(ordered, findings, at, whole=False)

    def _current_progress(self) -> object:
        """Return a value that is another one when the source made progress."""
        progress = None
        with suppress(Exception):  # a source is a plug-in
            progress = self.source.progress
        looked = self.index.looked if self.index else 0
        return len(self._packs), len(self._findings), progress, looked

    def _run(self) -> None:
        try:
            self._answer = self._scan()
        except SourceUnavailableError as error:
            self._answer = error.detail if error.name == self.label else str(error)
        except SkillError as error:
            self._answer = str(error)
        except Exception as error:  # noqa: BLE001 - a source is a plug-in
            self._answer = f"the source raised {type(error).__name__}: {error}"
        # In this order: who sees that the scan has ended finds the answer.
        self.is_scanning = False
        self._on_end()

    def _scan(self) -> ScanResult:
        stored, index = self._pack_index, None
        began = (time.time_ns(), time.monotonic()) if stored else (0, 0.0)
        if stored is not None and stored.may_hold_packs():
            index = self._open_index(stored, began)
            now = self.result.packs if self.result else None
            # Of an attempt that failed there is more in memory.
            if index and not self._packs and (recalled := index.recall(self, now)):
                return ScanResult(*recalled, self._clock.monotonic())
        builder: DescriptorBuilder | None = None
        items = self.source.scan()
        last = dict(self.result.packs.items()) if self.result else {}
        # What an attempt that failed has read need not be read again.
        before = last | self._packs
        packs, findings = self._packs, self._findings = dict[str, ScannedPack](), []
        if stored is not None and isinstance(items, tuple):
            is_large = len(items) >= max(1, stored.fewest)
            index = (index or self._open_index(stored, began)) if is_large else None
        if index is not None and not before:
            before = index.packs(self.label)
        for item in items:
            if not isinstance(item, Found):
                findings.append(item)
                continue
            key = item.key
            pack = before.get(key)
            if (
                pack is None
                or pack.stamp != item.stamp
                or (key in self._unsettled and self._is_edited(pack))
            ):
                builder = builder or self.builder(self.source)
                pack = builder.read(item)
            packs[key] = pack
            # A file that was written this very moment may change without a new mark.
            (self._unsettled.discard if item.settled else self._unsettled.add)(key)
        if last and self.source.near and self.source.finds_one:
            from satchel.catalog._reread import rescan_unstable

            packs = rescan_unstable(self, last, packs)
        if index is not None:
            index.save(packs, tuple(findings))
        return ScanResult(packs, tuple(findings), self._clock.monotonic())

    def _open_index(
        self, stored: PackIndex, began: tuple[int, float]
    ) -> SourceIndex | None:
        """Return what the index knows of the source; None if it can know nothing."""
        if self.index is None:
            self.index = stored.of_source(self.given, self.accept)
        if self.index is not None:
            self.index.begin(began)
        return self.index

    def _is_edited(self, pack: ScannedPack) -> bool:
        """Tell whether SKILL.md is another one, where its stamp might not show it."""
        try:
            data = self.source.manifest(pack.descriptor.origin.key)
        except SkillError:
            return True  # reading it in full reports what is wrong
        return isinstance(data, bytes) and digest_bytes(data) != pack.descriptor.digest


def _limited(source: FullSource, label: str, clock: Clock) -> FileReader:
    from satchel.files import LimitedReader  # no folder needs it

    return LimitedReader(source, label, clock.monotonic)
