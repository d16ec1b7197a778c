"""A load with what goes around it: the clock, the event, the sinks."""

import re
from typing import Final

from satchel.errors import SkillError, SkillNotFoundError
from satchel.load import TurnCache, load
from satchel.model import (
    SKILL_FILE,
    Catalog,
    Limits,
    Loaded,
    Request,
    UsageEvent,
    bucket_of,
)
from satchel.policy import OPEN_POLICY, Decides
from satchel.protocols import Clock, UsageSink
from satchel.usage import record

__all__ = ["LoadPath"]

_NAME: Final = re.compile(r"[\w.:/-]{1,128}")
"""Names that an event may carry: what real ids look like, plug-in prefixes included."""


class LoadPath:
    """Calls `load` and tells the sinks of every call, failures included."""

    def __init__(
        self,
        sinks: tuple[UsageSink, ...],
        clock: Clock,
        limits: Limits,
        policy: Decides = OPEN_POLICY,
    ) -> None:
        """Take the sinks, which may be none."""
        self._sinks = sinks
        self._clock = clock
        self._limits = limits
        self._policy = policy

    def __call__(
        self,
        catalog: Catalog,
        request: Request,
        turn: TurnCache | None = None,
        policy: Decides | None = None,
    ) -> Loaded:
        """Load; every `SkillError` goes through, after the event.

        ``policy`` decides in place of the one for all; a session's can put questions.
        """
        policy = policy or self._policy
        if not self._sinks:
            return load(catalog, request, turn=turn, limits=self._limits, policy=policy)
        start = self._clock.monotonic()
        try:
            loaded = load(
                catalog, request, turn=turn, limits=self._limits, policy=policy
            )
        except SkillError as error:
            self._tell(catalog, request, None, error, self._clock.monotonic() - start)
            raise
        self._tell(catalog, request, loaded, None, self._clock.monotonic() - start)
        return loaded

    def plain(self, catalog: Catalog, request: Request) -> Loaded:
        """Load without an event or a policy: for what is no use of it by anybody."""
        return load(catalog, request, limits=self._limits)

    def _tell(
        self,
        catalog: Catalog,
        request: Request,
        loaded: Loaded | None,
        error: SkillError | None,
        duration_s: float,
    ) -> None:
        entry = loaded.descriptor if loaded else catalog.get(request.id)
        file = loaded.file if loaded else request.file
        beside = file if file != SKILL_FILE else None
        script = beside if beside and bucket_of(beside) == "scripts" else None
        name = _safe_name(request.id, error)
        if name != request.id:
            error = SkillNotFoundError(name)
        event = UsageEvent(
            name=name,
            reference=None if script else beside,
            script=script,
            source=entry.source if entry else "",
            duration_s=duration_s,
            error=None if error is None else str(error),
            file=file,
            via=request.via,
            digest=loaded.digest if loaded else "",
            size_bytes=len(loaded.data) if loaded else 0,
            code=None if error is None else error.code,
        )
        record(self._sinks, event)


def _safe_name(skill_id: str, error: SkillError | None) -> str:
    """Return the id, or ``<invalid>`` for an unknown one that breaks the name rule."""
    if isinstance(error, SkillNotFoundError) and not _NAME.fullmatch(skill_id):
        return "<invalid>"
    return skill_id
