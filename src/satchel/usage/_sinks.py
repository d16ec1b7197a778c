"""Give an event to every sink; a sink that fails never fails a load."""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from satchel.model import CatalogSynced, SkillSynced, UsageEvent
from satchel.protocols import UsageSink

if TYPE_CHECKING:
    import logging


_T = TypeVar("_T")

Event: TypeAlias = UsageEvent | SkillSynced | CatalogSynced
DeferredEvent: TypeAlias = tuple[Any, ...]
"""What makes an event, and what it is to be given, as one tuple.

A loaded file waits for a note to be made, and the collector looks at each that waits;
a tuple is the least that there is.
"""


@dataclass(frozen=True, slots=True)
class UsageState:
    """How the keeping of events is, in this process, since it began.

    ``lost`` events are nowhere; ``waiting`` ones are not written yet; ``failures`` is
    how often a sink or its store failed. ``problem`` is why events are not kept now,
    empty while they are.
    """

    lost: int = 0
    waiting: int = 0
    failures: int = 0
    problem: str = ""


def make_event(note: DeferredEvent) -> Any:  # noqa: ANN401 - what the note is of
    """Return the event that a note is of; it is called once."""
    return note[0](*note[1:])


class ListSink:
    """Keeps events in memory, in order: for tests and for a look at one run."""

    def __init__(self) -> None:
        """Start with none."""
        self.events: list[UsageEvent] = []
        self.syncs: list[CatalogSynced] = []
        self.skill_syncs: list[SkillSynced] = []

    def record(self, event: UsageEvent) -> None:
        """Keep the event."""
        self.events.append(event)

    def synced(self, event: CatalogSynced) -> None:
        """Keep what was on offer, apart from the loads."""
        self.syncs.append(event)

    def skill_synced(self, event: SkillSynced) -> None:
        """Keep what was fetched for a copy, apart from the loads."""
        self.skill_syncs.append(event)


class LoadsOnly:
    """A sink that is told of loads, and not of what is on offer.

    For a command that a person runs: to look at skills is not to offer them.
    """

    synced: Final = None

    def __init__(self, sink: UsageSink) -> None:
        """Pass everything else on."""
        self._sink = sink

    def record(self, event: UsageEvent) -> None:
        """Pass on."""
        self._sink.record(event)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the sink has
        """Return what the sink has besides."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._sink, name)


class Sinks:
    """The sinks of one Satchel: what one of them raises costs its event, never a load.

    Besides ``record`` a sink may have

    - ``synced(event)``, which is given a `CatalogSynced` for each day and change;
    - ``skill_synced(event)``, which is given a `SkillSynced` for each copy;
    - ``defer(note)``, which is given a note of each such event in its place, for
      `make`;
    - ``awake``, False while it would throw every event away;
    - ``flush()``, ``close()``, and ``retire()``, which is to close without a wait.
    """

    def __init__(self, sinks: Iterable[UsageSink]) -> None:
        """Take the sinks, which may be none."""
        self._takers = [(sink, getattr(sink, "defer", None)) for sink in sinks]
        self._listeners = self._that_have("synced")
        self._copy_listeners = self._that_have("skill_synced")
        sleepers: list[Any] = [s for s, _ in self._takers if hasattr(s, "awake")]
        self._sleepers = sleepers
        self._is_awake = len(sleepers) < len(self._takers)
        self._failures: dict[str, int] = {}
        self._lost = 0

    @property
    def awake(self) -> bool:
        """Whether some sink would take an event now."""
        return self._is_awake or any(sink.awake for sink in self._sleepers)

    @property
    def failures(self) -> Mapping[str, int]:
        """How often sinks failed, by their class."""
        return dict(self._failures)

    @property
    def state(self) -> UsageState:
        """How the keeping of events is; a sink that writes behind tells its own."""
        sinks = [sink for sink, _ in self._takers]
        problems = (_said_by(sink, "problem", str) for sink in sinks)

        def total(name: str) -> int:
            return sum(_said_by(sink, name, int) or 0 for sink in sinks)

        return UsageState(
            self._lost + total("dropped"),
            total("waiting"),
            sum(self._failures.values()) + total("failures"),
            next(filter(None, problems), ""),
        )

    def tell(self, note: DeferredEvent) -> None:
        """Give the event of one load to every sink; it is made once, or later."""
        event: Any = None
        for sink, defer in self._takers:
            try:
                if defer is not None:
                    defer(note)
                    continue
                event = event or make_event(note)
                sink.record(event)
            except BaseException as error:  # noqa: BLE001 - a sink is a plug-in: R33, C34
                self._failed(sink, error)
                self._lost += 1

    def emit_synced(self, note: DeferredEvent) -> None:
        """Tell the sinks that want to know what is on offer."""
        self._tell_some(self._listeners, note)

    def emit_skill_synced(self, note: DeferredEvent) -> None:
        """Tell the sinks that want to know what was fetched for a copy."""
        self._tell_some(self._copy_listeners, note)

    def _that_have(self, name: str) -> list[tuple[object, Any, Any]]:
        return [
            (sink, method, defer)
            for sink, defer in self._takers
            if (method := getattr(sink, name, None)) is not None
        ]

    def _tell_some(
        self, listeners: list[tuple[object, Any, Any]], note: DeferredEvent
    ) -> None:
        event: Any = None
        for sink, method, defer in listeners:
            try:
                if defer is not None:
                    defer(note)
                    continue
                event = event or make_event(note)
                method(event)
            except BaseException as error:  # noqa: BLE001 - as above
                self._failed(sink, error)
                self._lost += 1

    def flush(self) -> None:
        """Wait until all that was told is written, where a sink can be asked."""
        self._call("flush")

    def close(self) -> None:
        """Close every sink that can be closed."""
        self._call("close")

    def retire(self) -> None:
        """Let every sink write what it has and end, without waiting for it."""
        self._call("retire")

    def _call(self, name: str) -> None:
        for sink, _ in self._takers:
            method = getattr(sink, name, None)
            if method is None:
                continue
            try:
                method()
            except BaseException as error:  # noqa: BLE001 - as above
                self._failed(sink, error)

    def _failed(self, sink: object, error: BaseException) -> None:
        """Count what a sink raised.

        Raises:
            KeyboardInterrupt, SystemExit: It was one of these: somebody ends the
                program, while the sink was at work by chance.
        """
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise error
        name = type(sink).__name__
        count = self._failures[name] = self._failures.get(name, 0) + 1
        if count == 1:
            import logging

            log = logging.getLogger("satchel")
            kind = type(error).__name__
            log.warning("usage sink %s failed (%s); loads go on without", name, kind)
            log.debug("usage sink %s failed", name, exc_info=error)


def _said_by(sink: object, name: str, kind: type[_T]) -> _T | None:
    """Return what a sink says of itself; None where it says nothing of that kind."""
    try:
        value = getattr(sink, name, None)
    except Exception:  # noqa: BLE001 - a sink is a plug-in: R33
        return None
    return value if isinstance(value, kind) else None


def record(sinks: Iterable[UsageSink], event: UsageEvent) -> None:
    """Give the event to every sink; one that raises costs the event, never the load."""
    Sinks(sinks).tell((lambda: event,))


INFO: Final = 20
"""``logging.INFO``, without the import: it takes longer than reading ten packs."""


class LoggingSink:
    """Logs each event as one line, at level INFO, to the logger it is given.

    While that logger does not take the level, nothing is made of an event; nor while
    nobody in the program has imported `logging`.
    """

    def __init__(self, logger: "logging.Logger | None" = None) -> None:
        """Log to ``logger``; by default to ``satchel.usage``."""
        self._logger = logger

    @property
    def awake(self) -> bool:
        """Whether the logger takes the level now."""
        logger = self._logger
        if logger is None:
            logging = sys.modules.get("logging")
            if logging is None:
                return False
            logger = self._logger = logging.getLogger("satchel.usage")
        return logger.isEnabledFor(INFO)

    def defer(self, note: DeferredEvent) -> None:
        """Make the event and log it, if it would be seen."""
        if not self.awake:
            return
        event = make_event(note)
        if isinstance(event, UsageEvent):
            self.record(event)
        elif isinstance(event, SkillSynced):
            self.skill_synced(event)
        else:
            self.synced(event)

    def record(self, event: UsageEvent) -> None:
        """Log the event; every value from outside is quoted, so no line is forged."""
        self._log(
            event.as_dict(),
            "%s name=%r reference=%r script=%r source=%r duration_s=%.6f error=%r",
            event.event,
            event.name,
            event.reference,
            event.script,
            event.source,
            event.duration_s,
            event.error,
        )

    def skill_synced(self, event: SkillSynced) -> None:
        """Log what was fetched for a copy."""
        self._log(
            event.as_dict(),
            "%s name=%r file=%r source=%r code=%r via=%r",
            event.event,
            event.name,
            event.file,
            event.source,
            event.code,
            event.via,
        )

    def synced(self, event: CatalogSynced) -> None:
        """Log how many skills are on offer."""
        flat: dict[str, object] = {
            "event": event.event,
            "at": event.at,
            "skills": len(event.entries),
            "added": len(event.added),
            "release": event.release,
            "via": event.via,
        }
        self._log(
            flat,
            "%s skills=%d added=%d release=%r via=%r",
            event.event,
            len(event.entries),
            len(event.added),
            event.release,
            event.via,
        )

    def _log(self, flat: dict[str, object], form: str, *values: object) -> None:
        if self.awake and self._logger is not None:
            self._logger.info(form, *values, extra={"satchel_event": flat})
