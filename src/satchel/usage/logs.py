"""Events as lines of the standard library's logging."""

import logging

from satchel.model import UsageEvent

__all__ = ["LoggingSink"]


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
