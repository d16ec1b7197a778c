"""One source over time: scanned in a thread, waited for while it makes progress.

Read with a limit.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from satchel.catalog._packs import ParseOptions, ScannedPack, identify_by
from satchel.catalog._reread import rescan_unstable
from satchel.errors import SkillError, SourceUnavailableError
from satchel.files import ReadLimiter, digest_bytes
from satchel.model import FileStat, Finding, Found, SourceStatus
from satchel.protocols import Clock, SkillSource

if TYPE_CHECKING:
    from satchel.catalog._descriptor_builder import DescriptorBuilder


class LimitedReader:
    """A source whose reads have places; in all else it is the source itself."""

    def __init__(self, source: SkillSource, label: str, clock: Clock) -> None:
        """Take the source; ``label`` is what the catalog calls it."""
        self._source = source
        self._places = ReadLimiter(label, clock.monotonic)

    def __getattr__(self, name: str) -> object:
        """Return what only the source knows."""
        if name.startswith("_"):  # not set yet, as while a copy is being made
            raise AttributeError(name)
        found: object = getattr(self._source, name)
        return found

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        """Return one file's raw bytes; see `satchel.protocols.SkillSource.read`."""
        with self._places.hold():
            return self._source.read(key, path, limit_bytes)

    def files(self, key: str) -> Iterable[FileStat]:
        """Return what the pack holds; see `satchel.protocols.SkillSource.files`."""
        with self._places.hold():
            return tuple(self._source.files(key))


def reader_of(
    source: SkillSource, label: str, clock: Clock
) -> SkillSource | LimitedReader:
    """Return what reads files of a source.

    One of this machine (``near``) needs no places. One that keeps some of what it has
    fetched gives itself places for what it has to fetch (``has_places``).
    """
    own = getattr(source, "near", False) or getattr(source, "limits_reads", False)
    return source if own else LimitedReader(source, label, clock)


NEVER_ANSWERED: Final = "no answer yet"


@dataclass(frozen=True, slots=True)
class ScanResult:
    """What one answer of a source held; ``entries`` by key, in its order.

    ``whole`` is false where the source was given up, or failed, before its first
    answer was complete: these are the packs that were read until then.
    """

    entries: Mapping[str, ScannedPack]
    findings: tuple[Finding, ...]
    at: float
    whole: bool = True


class SourceScanner:
    """One source, what it last gave, and the thread that asks it again.

    ``label`` is the source's own, made unique among its neighbours.

    A source that hangs keeps its thread; until that comes back, no second one is
    started, and the last harvest is served, marked stale. What was read before it hung
    is used where there is no harvest, and is not read again.
    """

    def __init__(
        self,
        source: SkillSource,
        label: str,
        accept: ParseOptions,
        clock: Clock,
        ended: Callable[[], object],
    ) -> None:
        """Take what to call, in the thread that asks, when an answer is there."""
        self.source = source
        self.reader = reader_of(source, label, clock)
        self.label = label
        self.result: ScanResult | None = None
        self.error = NEVER_ANSWERED
        self.accept = accept
        self._clock = clock
        self._ended = ended
        self._asking = False
        self._answer: ScanResult | str | None = None
        self._read: dict[str, ScannedPack] = {}
        self._told: list[Finding] = []
        self._doubted: set[str] = set()
        self._progress: object = None
        self._began_at = self._moved_at = 0.0

    def begin(self) -> None:
        """Start asking, unless an earlier question is still open."""
        self._take()  # an answer that came after nobody waited any more
        if self._asking:
            return
        self._asking = True
        self._began_at = self._moved_at = self._clock.monotonic()
        self._progress = self._look()
        thread = threading.Thread(
            target=self._ask, name=f"satchel-sync-{self.label}", daemon=True
        )
        try:
            thread.start()
        except RuntimeError as error:  # the system has no more threads to give
            self._answer, self._asking = str(error), False

    def settled(self, patience_s: float) -> bool:
        """Tell whether there is nothing to wait for: an answer, or no hope of one.

        A first answer is waited for as long as the source makes progress: until
        nothing moved for ``patience_s`` seconds. A source that has answered before is
        waited for ``patience_s`` seconds at most, since its last answer is there.
        """
        if self._take():
            return True
        now = self._clock.monotonic()
        progress = self._look()
        if progress != self._progress:
            self._progress, self._moved_at = progress, now
        whole = self.result is not None and self.result.whole
        if now - (self._began_at if whole else self._moved_at) < patience_s:
            return False
        lack = "no answer" if whole else "no progress"
        self._fail(f"{lack} for {patience_s:g} s")
        return True

    @property
    def near(self) -> bool:
        """Whether the source reads from this machine, by its own word."""
        return bool(getattr(self.source, "near", False))

    @property
    def ended(self) -> bool:
        """Whether no question to the source is open."""
        return not self._asking

    @property
    def has_late_answer(self) -> bool:
        """Whether there is an answer that nobody has taken yet."""
        return self.ended and self._answer is not None

    @property
    def state(self) -> SourceStatus:
        """How the source answered, for the catalog."""
        packs = len(self.result.entries) if self.result else 0
        release = getattr(self.source, "release", "")
        partial = self.result is None or not self.result.whole
        return SourceStatus(self.label, packs, self.error, release, partial)

    def _take(self) -> bool:
        """Take the answer that is there; tell whether nothing is asked any more."""
        if self._asking:
            return False
        answer, self._answer = self._answer, None
        if isinstance(answer, ScanResult):
            self.result, self.error = answer, ""
            self._read = {}
        elif answer is not None:
            self._fail(answer)
        return True

    def _fail(self, error: str) -> None:
        """Keep the last answer; where none was whole, add what was read since."""
        self.error = error
        last, read = self.result, dict(self._read)
        if last is None or not last.whole:
            entries = {**(last.entries if last else {}), **read}
            if entries:
                ordered = {key: entries[key] for key in sorted(entries)}
                at = self._clock.monotonic()
                self.result = ScanResult(ordered, tuple(self._told), at, whole=False)

    def _look(self) -> object:
        """Return what is another value when the source got on."""
        try:
            own: object = getattr(self.source, "progress", None)
        except Exception:  # noqa: BLE001 - a source is a plug-in: R33
            own = None
        return len(self._read), len(self._told), own

    def known(self, key: str) -> ScannedPack | None:
        """Return the pack of this key as it was last read."""
        return self.result.entries.get(key) if self.result else None

    def replace(self, key: str, entry: ScannedPack | None) -> None:
        """Put one pack as it was just read in the place of its earlier self.

        None takes it out. A scan that is under way began earlier, and may undo this;
        the next load of the pack then reads it again.
        """
        if self.result is None:
            return
        entries = dict(self.result.entries)
        if entry is not None:
            entries[key] = entry
        else:
            entries.pop(key, None)
        self.result = replace(self.result, entries=entries)

    def builder(self, reader: SkillSource) -> "DescriptorBuilder":
        """Return what reads packs of this source through ``reader``."""
        from satchel.catalog._descriptor_builder import DescriptorBuilder

        return DescriptorBuilder(
            reader, self.label, self.accept, identify_by(self.source)
        )

    def _ask(self) -> None:
        try:
            self._answer = self._scan()
        except SourceUnavailableError as error:
            self._answer = error.detail if error.name == self.label else str(error)
        except SkillError as error:
            self._answer = str(error)
        except Exception as error:  # noqa: BLE001 - a source is a plug-in: R33
            self._answer = f"the source raised {type(error).__name__}: {error}"
        self._asking = False
        self._ended()

    def _edited(self, last: ScannedPack) -> bool:
        """Tell whether SKILL.md is another one, where its stamp might not show it."""
        key = last.descriptor.origin.key
        if key not in self._doubted:
            return False
        try:
            data = self.source.manifest(key)
        except SkillError:
            return True  # whoever reads it in full says what is wrong
        return isinstance(data, bytes) and digest_bytes(data) != last.descriptor.digest

    def _scan(self) -> ScanResult:
        known: Mapping[str, ScannedPack] = self.result.entries if self.result else {}
        known = {**known, **self._read}  # with what an attempt that failed has read
        read, told = self._read, self._told = dict[str, ScannedPack](), list[Finding]()
        builder: DescriptorBuilder | None = None
        for item in self.source.scan():
            if not isinstance(item, Found):
                told.append(item)
                continue
            last = known.get(item.key)
            if last is None or last.stamp != item.stamp or self._edited(last):
                builder = builder or self.builder(self.source)
                last = builder.read(item)
            read[item.key] = last
            (self._doubted.discard if item.settled else self._doubted.add)(item.key)
        read = rescan_unstable(self, read)
        return ScanResult(read, tuple(told), self._clock.monotonic())
