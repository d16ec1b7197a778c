"""One source's answers over time: in a thread, waited for while it gets on."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from satchel.catalog.entry import Acceptance, Entry, identify_by
from satchel.catalog.places import reader_of
from satchel.catalog.rereading import look_again
from satchel.errors import SkillError, SourceUnavailableError
from satchel.files import digest_bytes
from satchel.model import Finding, Found, SourceState
from satchel.protocols import Clock, SkillSource

if TYPE_CHECKING:
    from satchel.catalog.intake import Intake

__all__ = ["Field", "Harvest"]

NEVER_ANSWERED: Final = "no answer yet"


@dataclass(frozen=True, slots=True)
class Harvest:
    """What one answer of a source held; ``entries`` by key, in its order.

    ``whole`` is false where the source was given up, or failed, before its first
    answer was complete: these are the packs that were read until then.
    """

    entries: Mapping[str, Entry]
    findings: tuple[Finding, ...]
    at: float
    whole: bool = True


class Field:
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
        accept: Acceptance,
        clock: Clock,
        ended: Callable[[], object],
    ) -> None:
        """Take what to call, in the thread that asks, when an answer is there."""
        self.source = source
        self.reader = reader_of(source, label, clock)
        self.label = label
        self.harvest: Harvest | None = None
        self.error = NEVER_ANSWERED
        self.accept = accept
        self._clock = clock
        self._ended = ended
        self._asking = False
        self._answer: Harvest | str | None = None
        self._read: dict[str, Entry] = {}
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
        whole = self.harvest is not None and self.harvest.whole
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
    def is_late(self) -> bool:
        """Whether there is an answer that nobody has taken yet."""
        return self.ended and self._answer is not None

    @property
    def state(self) -> SourceState:
        """How the source answered, for the catalog."""
        packs = len(self.harvest.entries) if self.harvest else 0
        release = getattr(self.source, "release", "")
        partial = self.harvest is None or not self.harvest.whole
        return SourceState(self.label, packs, self.error, release, partial)

    def _take(self) -> bool:
        """Take the answer that is there; tell whether nothing is asked any more."""
        if self._asking:
            return False
        answer, self._answer = self._answer, None
        if isinstance(answer, Harvest):
            self.harvest, self.error = answer, ""
            self._read = {}
        elif answer is not None:
            self._fail(answer)
        return True

    def _fail(self, error: str) -> None:
        """Keep the last answer; where none was whole, add what was read since."""
        self.error = error
        last, read = self.harvest, dict(self._read)
        if last is None or not last.whole:
            entries = {**(last.entries if last else {}), **read}
            if entries:
                ordered = {key: entries[key] for key in sorted(entries)}
                at = self._clock.monotonic()
                self.harvest = Harvest(ordered, tuple(self._told), at, whole=False)

    def _look(self) -> object:
        """Return what is another value when the source got on."""
        try:
            own: object = getattr(self.source, "progress", None)
        except Exception:  # noqa: BLE001 - a source is a plug-in: R33
            own = None
        return len(self._read), len(self._told), own

    def known(self, key: str) -> Entry | None:
        """Return the pack of this key as it was last read."""
        return self.harvest.entries.get(key) if self.harvest else None

    def replace(self, key: str, entry: Entry | None) -> None:
        """Put one pack as it was just read in the place of its earlier self.

        None takes it out. A scan that is under way began earlier, and may undo this;
        the next load of the pack then reads it again.
        """
        if self.harvest is None:
            return
        entries = dict(self.harvest.entries)
        if entry is not None:
            entries[key] = entry
        else:
            entries.pop(key, None)
        self.harvest = replace(self.harvest, entries=entries)

    def intake(self, reader: SkillSource) -> "Intake":
        """Return what reads packs of this source through ``reader``."""
        from satchel.catalog.intake import Intake

        return Intake(reader, self.label, self.accept, identify_by(self.source))

    def _ask(self) -> None:
        try:
            self._answer = self._reap()
        except SourceUnavailableError as error:
            self._answer = error.detail if error.source == self.label else str(error)
        except SkillError as error:
            self._answer = str(error)
        except Exception as error:  # noqa: BLE001 - a source is a plug-in: R33
            self._answer = f"the source raised {type(error).__name__}: {error}"
        self._asking = False
        self._ended()

    def _edited(self, last: Entry) -> bool:
        """Tell whether SKILL.md is another one, where its stamp might not show it."""
        key = last.descriptor.origin.key
        if key not in self._doubted:
            return False
        try:
            data = self.source.manifest(key)
        except SkillError:
            return True  # whoever reads it in full says what is wrong
        return isinstance(data, bytes) and digest_bytes(data) != last.descriptor.digest

    def _reap(self) -> Harvest:
        known: Mapping[str, Entry] = self.harvest.entries if self.harvest else {}
        known = {**known, **self._read}  # with what an attempt that failed has read
        read, told = self._read, self._told = dict[str, Entry](), list[Finding]()
        intake: Intake | None = None
        for item in self.source.scan():
            if not isinstance(item, Found):
                told.append(item)
                continue
            last = known.get(item.key)
            if last is None or last.stamp != item.stamp or self._edited(last):
                intake = intake or self.intake(self.source)
                last = intake.read(item)
            read[item.key] = last
            (self._doubted.discard if item.settled else self._doubted.add)(item.key)
        read = look_again(self, read)
        return Harvest(read, tuple(told), self._clock.monotonic())
