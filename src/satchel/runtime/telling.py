"""What was done, as events for the sinks."""

import re
import weakref
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from satchel.errors import PackFileError, SkillError, SkillNotFoundError
from satchel.model import (
    SKILL_FILE,
    Catalog,
    CatalogSynced,
    Descriptor,
    Loaded,
    Request,
    UsageEvent,
    bucket_of,
)
from satchel.protocols import Clock, TokenCounter
from satchel.runtime.owners import Owners
from satchel.text import clean_line
from satchel.usage import Sinks, usage_sinks

__all__ = ["Telling", "owned_sinks"]

_NAME: Final = re.compile(r"[A-Za-z0-9_.:/-]{1,128}")
"""Unknown names that an event may carry: as real ids are, prefixes included."""
_PATH: Final = re.compile(r"(?!.*\.\.)[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*")
"""Unknown paths that an event may carry. A sentence of a user is neither of the two."""
_LONGEST_PATH: Final = 256
INVALID: Final = "<invalid>"
"""What stands in an event for a text that is no name or path: it may be anything."""
_DAY_S: Final = 86_400
MAX_COSTS: Final = 1_024
"""Texts whose tokens are known, or whose tokens are still to be counted."""
MAX_NAME: Final = 64
"""Characters of what an agent or a client says that it is called."""


class _Cost:
    """What one text costs, counted when it is asked for; then the text is let go."""

    __slots__ = ("_text", "_tokens")

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = -1

    def tokens(self, counter: TokenCounter) -> int:
        text = self._text  # before the look at the count: two threads may be here
        if self._tokens < 0:
            self._tokens = counter.count(text)
            self._text = ""
        return self._tokens


class Telling:
    """Turns what was done into events, when a sink wants one.

    On the caller's thread only what has to be is done: two looks at the clock, and a
    note of what there was. Owner, release and tokens are found out when the event is
    made, which a sink that writes behind does in its own thread.
    """

    def __init__(
        self,
        sinks: Sinks,
        clock: Clock,
        counter: TokenCounter,
        owners: Owners,
        catalog: Callable[[], Catalog],
    ) -> None:
        """Take the sinks; ``catalog`` gives the one in use."""
        self.sinks: Final = sinks
        self._now = clock.now
        self._counter = counter
        self._owners = owners
        self._catalog = catalog
        self._costs: dict[str, _Cost] = {}
        self._next_day = 0.0

    def forget(self) -> None:
        """Find out anew who owns what."""
        self._owners.forget()

    def synced(self, added: tuple[str, ...] = ()) -> None:
        """Tell what is on offer now."""
        at = self._now()
        self._next_day = (at // _DAY_S + 1) * _DAY_S
        catalog = self._catalog()
        self.sinks.tell_synced(partial(self._offer, at, catalog, added))

    def loaded(
        self, catalog: Catalog, request: Request, loaded: Loaded, duration_s: float
    ) -> None:
        """Tell of a load that succeeded."""
        at = self._now()
        if at >= self._next_day:
            self.synced()  # nobody else may do so in a process that runs for weeks
        digest = loaded.digest
        cost = self._costs.get(digest)
        if cost is None:
            if len(self._costs) >= MAX_COSTS:
                self._costs.clear()
            cost = self._costs[digest] = _Cost(loaded.text)
        self.sinks.tell(
            partial(
                self._success,
                (catalog, request, at, duration_s),
                loaded.descriptor,
                loaded.file,
                digest,
                len(loaded.data),
                cost,
            )
        )

    def failed(
        self, catalog: Catalog, request: Request, error: Exception, duration_s: float
    ) -> None:
        """Tell of a load that did not.

        The message is made at once: the error holds on to the frames it went through.
        """
        name, file = request.id, request.file
        entry = _known(catalog, name)
        if isinstance(error, SkillNotFoundError) and not _NAME.fullmatch(name):
            name = INVALID
            error = SkillNotFoundError(INVALID)
        if not (file is None or (entry and file in entry.resources) or _is_path(file)):
            file = INVALID
            if isinstance(error, PackFileError):
                error = type(error)(error.name, INVALID, error.listed)
        if isinstance(error, SkillError):
            message, code = str(error), error.code
        else:
            message, code = type(error).__name__, "internal-error"
        when = catalog, request, self._now(), duration_s
        self.sinks.tell(partial(self._failure, when, entry, name, file, message, code))

    def _success(  # noqa: PLR0913, PLR0917 - what there was, for one caller
        self,
        when: "_When",
        entry: Descriptor,
        file: str,
        digest: str,
        size: int,
        cost: _Cost,
    ) -> UsageEvent:
        catalog, request, at, duration_s = when
        reference, script = _beside(file)
        return UsageEvent(
            request.id,
            reference,
            script,
            entry.source,
            duration_s,
            None,
            file,
            request.via,
            digest,
            size,
            None,
            cost.tokens(self._counter),
            catalog.release_of(entry.source),
            self._owners.of(entry),
            _called(request.agent),
            _called(request.client),
            at,
        )

    def _failure(  # noqa: PLR0913, PLR0917 - what there was, for one caller
        self,
        when: "_When",
        entry: Descriptor | None,
        name: str,
        file: str | None,
        message: str,
        code: str,
    ) -> UsageEvent:
        catalog, request, at, duration_s = when
        reference, script = _beside(file)
        return UsageEvent(
            name,
            reference,
            script,
            entry.source if entry else "",
            duration_s,
            message,
            file,
            request.via,
            code=code,
            release=catalog.release_of(entry.source) if entry else "",
            owner=self._owners.of(entry) if entry else "",
            agent=_called(request.agent),
            client=_called(request.client),
            at=at,
        )

    def _offer(
        self, at: float, catalog: Catalog, added: tuple[str, ...]
    ) -> CatalogSynced:
        owners = {entry.id: self._owners.of(entry) for entry in catalog.entries}
        known = {id: owner for id, owner in owners.items() if owner}
        return CatalogSynced(at, catalog.entries, added, catalog.release, owners=known)


_When = tuple[Catalog, Request, float, float]
"""Where it was looked for, what was asked, when it was done, and how long it took."""


def _known(catalog: Catalog, skill_id: str) -> Descriptor | None:
    """Return the pack of this id, listed or not."""
    entry = catalog.get(skill_id)
    if entry is not None:
        return entry
    held = catalog.withheld_as(skill_id)
    return held.descriptor if held is not None else None


def _beside(file: str | None) -> tuple[str | None, str | None]:
    """Return the file as a reference, or as a script; SKILL.md is neither."""
    if file is None or file == SKILL_FILE:
        return None, None
    return (None, file) if bucket_of(file) == "scripts" else (file, None)


def _is_path(file: str) -> bool:
    return len(file) <= _LONGEST_PATH and _PATH.fullmatch(file) is not None


def _called(name: str) -> str:
    """Return what somebody says that it is called: one printable line, and short."""
    return clean_line(name)[:MAX_NAME].rstrip() if name else ""


def owned_sinks(owner: object, environ: Mapping[str, str]) -> Sinks:
    """Return the sinks that ``SATCHEL_USAGE`` asks for; they end with their owner.

    Raises:
        ConfigError: The variable says something that is no place for events.
    """
    sinks = Sinks(usage_sinks(environ))
    weakref.finalize(owner, sinks.retire).atexit = False  # they see to that themselves
    return sinks
