"""Events as lines of the standard library's logging."""

import sys
from typing import TYPE_CHECKING, Final

from satchel.model import CatalogSynced, SkillSynced, UsageEvent
from satchel.usage.recording import Note, make

if TYPE_CHECKING:
    import logging

__all__ = ["LoggingSink"]

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

    def defer(self, note: Note) -> None:
        """Make the event and log it, if it would be seen."""
        if not self.awake:
            return
        event = make(note)
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
