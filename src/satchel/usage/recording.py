"""Giving an event to every sink, whatever one of them does."""

import logging
from collections.abc import Iterable

from satchel.model import UsageEvent
from satchel.protocols import UsageSink

__all__ = ["ListSink", "record"]

_log = logging.getLogger("satchel")


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
