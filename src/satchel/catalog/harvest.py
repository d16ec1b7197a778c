"""One source's answers over time: in a thread, with a deadline, the last good kept."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from satchel.catalog.entry import Acceptance, Entry, identity
from satchel.errors import SkillError
from satchel.model import Finding, Found, SourceState
from satchel.protocols import Clock, NamesSkills, SkillSource

if TYPE_CHECKING:
    from satchel.catalog.intake import Intake

__all__ = ["Field", "Harvest"]

NEVER_ANSWERED: Final = "no answer yet"


@dataclass(frozen=True, slots=True)
class Harvest:
    """All that one good answer of a source held; ``entries`` by key, in its order."""

    entries: Mapping[str, Entry]
    findings: tuple[Finding, ...]
    at: float


class Field:
    """One source, what it last gave, and the thread that asks it again.

    ``label`` is the source's own, made unique among its neighbours.

    A source that hangs keeps its thread; until that comes back, no second one is
    started, and the last harvest is served, marked stale.
    """

    def __init__(
        self, source: SkillSource, label: str, accept: Acceptance, clock: Clock
    ) -> None:
        self.source = source
        self.label = label
        self.harvest: Harvest | None = None
        self.error = NEVER_ANSWERED
        self._accept = accept
        self._clock = clock
        self._thread: threading.Thread | None = None
        self._answer: Harvest | str = NEVER_ANSWERED

    def begin(self) -> None:
        """Start asking, unless an earlier question is still open."""
        if self._thread is not None and self._thread.is_alive():
            return
        self._answer = NEVER_ANSWERED
        self._thread = threading.Thread(
            target=self._ask, name=f"satchel-sync-{self.label}", daemon=True
        )
        self._thread.start()

    def finish(self, timeout_s: float) -> None:
        """Wait at most ``timeout_s`` seconds; take what came, or say what did not."""
        thread = self._thread
        if thread is None:
            return
        thread.join(max(timeout_s, 0.0))
        if thread.is_alive():
            self.error = "no answer within the deadline"
        elif isinstance(self._answer, Harvest):
            self.harvest, self.error = self._answer, ""
        else:
            self.error = self._answer

    @property
    def state(self) -> SourceState:
        """How the source answered, for the catalog."""
        packs = len(self.harvest.entries) if self.harvest else 0
        release = getattr(self.source, "release", "")
        return SourceState(self.label, packs, self.error, release)

    def _ask(self) -> None:
        try:
            self._answer = self._reap()
        except SkillError as error:
            self._answer = str(error)
        except Exception as error:  # noqa: BLE001 - a source is a plug-in: R33
            self._answer = f"the source raised {type(error).__name__}: {error}"

    def _reap(self) -> Harvest:
        known: Mapping[str, Entry] = self.harvest.entries if self.harvest else {}
        intake: Intake | None = None
        entries: dict[str, Entry] = {}
        findings: list[Finding] = []
        for item in self.source.scan():
            if not isinstance(item, Found):
                findings.append(item)
                continue
            last = known.get(item.key)
            if last is None or last.stamp != item.stamp:
                intake = intake or self._intake()
                last = intake.read(item)
            entries[item.key] = last
        return Harvest(entries, tuple(findings), self._clock.monotonic())

    def _intake(self) -> "Intake":
        from satchel.catalog.intake import Intake

        source = self.source
        identify = source.identify if isinstance(source, NamesSkills) else identity
        return Intake(source, self.label, self._accept, identify)
