"""Give an event to every sink; a sink that fails never fails a load."""

import sys
from _thread import allocate_lock
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from satchel.model import ActEvent, CatalogSynced, SkillSynced, UsageEvent
from satchel.protocols import UsageSink

if TYPE_CHECKING:
    import logging

_T = TypeVar("_T")

Event: TypeAlias = UsageEvent | ActEvent | SkillSynced | CatalogSynced
# Days are whole days since 1970-01-01, UTC.
DAY_S: Final = 86_400
EVERY_KIND: Final = (UsageEvent, ActEvent, SkillSynced, CatalogSynced)
# The function that makes an event, and its arguments, as one tuple.
#
# A loaded file is in memory until its event is made, and the garbage collector looks at
# everything that waits; a tuple is the smallest object that does.
DeferredEvent: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class UsageState:
    """How well usage events are stored in this process, since it began.

    ``lost`` events are nowhere; ``waiting`` ones are not written yet; ``failures`` is
    how often a sink or its store failed. ``problem`` says why events cannot be stored
    now; it is empty while they can.
    """

    lost: int = 0
    waiting: int = 0
    failures: int = 0
    problem: str = ""


def make_event(deferred: DeferredEvent) -> Any:  # noqa: ANN401 - one of Event
    """Return the event that was deferred; to be called once."""
    return deferred[0](*deferred[1:])


# By kind, the method of a sink that takes an event of it.
_METHODS: Final[Mapping[type[Event], str]] = {
    UsageEvent: "record",
    ActEvent: "acted",
    SkillSynced: "skill_synced",
    CatalogSynced: "synced",
}


def _hand_over(deferred: DeferredEvent, sink: object) -> None:
    """Make an event, and call the method of a sink that takes its kind."""
    event = make_event(deferred)
    getattr(sink, _METHODS[type(event)])(event)


class _SharedEvent:
    """An event that several sinks wait for: the first one that asks makes it."""

    __slots__ = ("_deferred", "_event", "_lock")

    def __init__(self, deferred: DeferredEvent) -> None:
        self._deferred: DeferredEvent | None = deferred
        self._event: object = None
        # Sinks that write in the background ask from threads of their own.
        self._lock = allocate_lock()

    def make(self) -> object:
        with self._lock:
            if self._deferred is not None:
                self._event = make_event(self._deferred)
                self._deferred = None  # it holds the text of the file
            return self._event


class EventSink:
    """All that a sink can do; everything but `record` has a default.

    Inherit from it, and override what your sink does in a better way. An object that
    has only some of these members is a sink too: `Sinks` wraps it, once.
    """

    takes: tuple[type[Event], ...] = (UsageEvent,)
    """The kinds of events that the sink gets; nothing is made of the others."""

    @property
    def awake(self) -> bool:
        """False while the sink would throw every event away: then none is made."""
        return True

    @property
    def state(self) -> UsageState:
        """How well the sink stores its events."""
        return UsageState()

    def record(self, event: UsageEvent) -> None:
        """Take the event of one load."""
        raise NotImplementedError

    def synced(self, event: CatalogSynced) -> None:
        """Take the skills on offer: at each sync, and once a day."""

    def skill_synced(self, event: SkillSynced) -> None:
        """Take a file that was fetched for a copy."""

    def acted(self, event: ActEvent) -> None:
        """Take a call of a tool that needs a skill, or the run of a script."""

    def defer(self, deferred: DeferredEvent) -> None:
        """Take an event that is not made yet; by default, make it here."""
        _hand_over(deferred, self)

    def flush(self) -> object:
        """Wait until every event is stored."""

    def close(self) -> None:
        """Store what is left, and end."""

    def retire(self) -> None:
        """End as `close` does, but wait for nothing."""


class _AdaptedSink(EventSink):
    """Any object with ``record``, with those of the other abilities that it has."""

    def __init__(self, sink: UsageSink) -> None:
        self._sink: Any = sink
        self._own_defer = getattr(sink, "defer", None)
        has = [
            kind
            for kind, method in _METHODS.items()
            if kind is not UsageEvent and getattr(sink, method, None) is not None
        ]
        self.takes = getattr(sink, "takes", (UsageEvent, *has))

    @property
    def awake(self) -> bool:
        return bool(getattr(self._sink, "awake", True))

    @property
    def state(self) -> UsageState:
        # `LoadsOnly` wraps sinks of every kind, also those that know their state.
        if isinstance(self._sink, EventSink):
            return self._sink.state
        return UsageState(
            self._reported("dropped", 0),
            self._reported("waiting", 0),
            self._reported("failures", 0),
            self._reported("problem", ""),
        )

    def record(self, event: UsageEvent) -> None:
        self._sink.record(event)

    def defer(self, deferred: DeferredEvent) -> None:
        if self._own_defer is None:
            _hand_over(deferred, self._sink)
        else:
            self._own_defer(deferred)

    def flush(self) -> None:
        self._call("flush")

    def close(self) -> None:
        self._call("close")

    def retire(self) -> None:
        self._call("retire")

    def _call(self, name: str) -> None:
        method = getattr(self._sink, name, None)
        if method is not None:
            method()

    def _reported(self, name: str, default: _T) -> _T:
        try:
            value = getattr(self._sink, name, default)
        except Exception:  # noqa: BLE001 - a sink is a plug-in
            return default
        # A plug-in may use the name for something else; only the expected type counts.
        return value if isinstance(value, type(default)) else default


def _as_event_sink(sink: UsageSink) -> EventSink:
    return sink if isinstance(sink, EventSink) else _AdaptedSink(sink)


class LoadsOnly(_AdaptedSink):
    """A sink that gets loads, and not which skills are on offer.

    For a command that a person runs: to look at skills is not to offer them.
    """

    def __init__(self, sink: UsageSink) -> None:
        """Pass everything else on to ``sink``."""
        super().__init__(sink)
        self.takes = tuple(kind for kind in self.takes if kind is not CatalogSynced)


class ListSink(EventSink):
    """Stores events in memory, in order: for tests and for a look at one run."""

    takes = EVERY_KIND

    def __init__(self) -> None:
        """Start with none."""
        self.events: list[UsageEvent] = []
        self.syncs: list[CatalogSynced] = []
        self.skill_syncs: list[SkillSynced] = []
        self.acts: list[ActEvent] = []

    def record(self, event: UsageEvent) -> None:
        """Append to ``events``."""
        self.events.append(event)

    def synced(self, event: CatalogSynced) -> None:
        """Append to ``syncs``."""
        self.syncs.append(event)

    def skill_synced(self, event: SkillSynced) -> None:
        """Append to ``skill_syncs``."""
        self.skill_syncs.append(event)

    def acted(self, event: ActEvent) -> None:
        """Append to ``acts``."""
        self.acts.append(event)


# ``logging.INFO``, without the import: it takes longer than reading ten packs.
_INFO: Final = 20
_load_values = attrgetter(
    *("event", "name", "reference", "script", "source", "duration_s", "error")
)
_copy_values = attrgetter("event", "name", "file", "source", "code", "via")
_act_values = attrgetter("event", "tool", "script", "outcome", "approval")


class LoggingSink(EventSink):
    """Logs each event as one line, at level INFO, to a logger.

    While the logger does not take that level, no event is made; nor while nobody in the
    program has imported `logging`.
    """

    takes = EVERY_KIND

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
        return logger.isEnabledFor(_INFO)

    def defer(self, deferred: DeferredEvent) -> None:
        """Make the event and log it, if the line would be seen."""
        if self.awake:
            super().defer(deferred)

    def record(self, event: UsageEvent) -> None:
        """Log a load; every value from outside is quoted, so that no line is forged."""
        form = "%s name=%r reference=%r script=%r source=%r duration_s=%.6f error=%r"
        self._log(event.as_dict(), form, *_load_values(event))

    def skill_synced(self, event: SkillSynced) -> None:
        """Log a file that was fetched for a copy."""
        form = "%s name=%r file=%r source=%r code=%r via=%r"
        self._log(event.as_dict(), form, *_copy_values(event))

    def acted(self, event: ActEvent) -> None:
        """Log an act."""
        form = "%s tool=%r script=%r outcome=%r approval=%r"
        self._log(event.as_dict(), form, *_act_values(event))

    def synced(self, event: CatalogSynced) -> None:
        """Log how many skills are on offer."""
        fields: dict[str, object] = {
            "event": event.event,
            "at": event.at,
            "skills": len(event.entries),
            "added": len(event.added),
            "release": event.release,
            "via": event.via,
        }
        name, _, *values = fields.values()
        self._log(fields, "%s skills=%d added=%d release=%r via=%r", name, *values)

    def _log(self, fields: dict[str, object], form: str, *values: object) -> None:
        if self.awake and self._logger is not None:
            self._logger.info(form, *values, extra={"satchel_event": fields})


class Sinks:
    """The sinks of one Satchel: a sink that raises costs its event, never a load."""

    def __init__(self, sinks: Iterable[UsageSink]) -> None:
        """Take the sinks; an object that is no `EventSink` is wrapped as one."""
        self._sinks = [(_as_event_sink(sink), type(sink).__name__) for sink in sinks]
        self._takers = {
            kind: [(sink, name) for sink, name in self._sinks if kind in sink.takes]
            for kind in EVERY_KIND
        }
        self._failures: dict[str, int] = {}
        self._lost = 0

    @property
    def awake(self) -> bool:
        """Whether some sink would take an event now."""
        for sink, _ in self._sinks:  # noqa: SIM110 - asked before each load
            if sink.awake:
                return True
        return False

    @property
    def failures(self) -> Mapping[str, int]:
        """How often sinks failed, by their class."""
        return dict(self._failures)

    @property
    def state(self) -> UsageState:
        """How well events are stored, by what the sinks say of themselves."""
        states = [sink.state for sink, _ in self._sinks]
        return UsageState(
            self._lost + sum(state.lost for state in states),
            sum(state.waiting for state in states),
            sum(self._failures.values()) + sum(state.failures for state in states),
            next((state.problem for state in states if state.problem), ""),
        )

    def emit(self, kind: type[Event], deferred: DeferredEvent) -> None:
        """Give an event to each sink that takes its kind; the sink makes it."""
        takers = self._takers[kind]
        if len(takers) > 1:
            deferred = (_SharedEvent(deferred).make,)
        for sink, name in takers:
            try:
                sink.defer(deferred)
            # BaseException: a panic of an extension in Rust is no Exception.
            except BaseException as error:  # noqa: BLE001 - a sink is a plug-in
                self._failed(name, error)
                self._lost += 1

    def flush(self) -> None:
        """Wait until every event is stored, in all sinks that store any."""
        self._call_all(methodcaller("flush"))

    def close(self) -> None:
        """Close every sink."""
        self._call_all(methodcaller("close"))

    def retire(self) -> None:
        """Let every sink store what it has and end, without waiting for it."""
        self._call_all(methodcaller("retire"))

    def _call_all(self, call: Callable[[EventSink], object]) -> None:
        for sink, name in self._sinks:
            try:
                call(sink)
            except BaseException as error:  # noqa: BLE001 - as above
                self._failed(name, error)

    def _failed(self, name: str, error: BaseException) -> None:
        """Count what a sink raised; raise again what ends the program."""
        # Somebody ends the program while the sink is at work by chance.
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise error
        count = self._failures[name] = self._failures.get(name, 0) + 1
        if count == 1:
            import logging

            log = logging.getLogger("satchel")
            # Only the class at this level: the text of the error may be private.
            kind = type(error).__name__
            log.warning("usage sink %s failed (%s); loads go on without", name, kind)
            log.debug("usage sink %s failed", name, exc_info=error)
