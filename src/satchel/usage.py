"""Events of use, handed to whoever wants them; nothing is recorded by default."""

import logging
from collections.abc import Iterable

from satchel.model import UsageEvent
from satchel.protocols import UsageSink

__all__ = ["ListSink", "LoggingSink", "record"]

_log = logging.getLogger("satchel")


class LoggingSink:
    """Logs each event as one line, at level INFO, to the logger it is given."""

    def __init__(self, logger: logging.Logger | None = None) -> None:
        """Log to ``logger``; by default to ``satchel.usage``."""
        self._logger = logger or logging.getLogger("satchel.usage")

    def record(self, event: UsageEvent) -> None:
        """Log the event; every value from outside is quoted, so no line is forged."""
        self._logger.info(
            "%s name=%r reference=%r script=%r source=%r duration_s=%.6f error=%r",
            event.event,
            event.name,
            event.reference,
            event.script,
            event.source,
            event.duration_s,
            event.error,
            extra={"satchel_event": event.as_dict()},
        )


class ListSink:
    """Keeps events in memory, in order: for tests and for a look at one run."""

    def __init__(self) -> None:
        """Start with none."""
        self.events: list[UsageEvent] = []

    def record(self, event: UsageEvent) -> None:
        """Keep the event."""
        self.events.append(event)


def record(sinks: Iterable[UsageSink], event: UsageEvent) -> None:
    """Give the event to every sink; one that raises costs the event, never the load."""
    for sink in sinks:
        try:
            sink.record(event)
        except Exception:  # noqa: BLE001 - a sink is a plug-in: R33, C34
            _log.debug("usage sink %r failed", sink, exc_info=True)
