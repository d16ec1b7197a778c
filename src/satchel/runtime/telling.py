"""What was done, as events for the sinks."""

import re
import weakref
from _thread import start_new_thread
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final, NamedTuple

from satchel.errors import (
    PackFileError,
    SkillError,
    SkillNotFoundError,
    SkillWithheldError,
)
from satchel.model import (
    SKILL_FILE,
    Catalog,
    CatalogSynced,
    Descriptor,
    Loaded,
    Request,
    SkillSynced,
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
_MOST_TOKENS: Final = 1 << 53
"""What every store and reader can hold; no text costs as much."""
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
            self._tokens = _count(counter, text)
            self._text = ""
        return self._tokens


class Telling:
    """Turns what was done into events, when a sink wants one.

    On the caller's thread only what has to be is done: a note of what there was. Owner,
    release, tokens and the time of day are found out when the event is made, which a
    sink that writes behind does in its own thread.
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
        self._clock = clock
        self._counter = counter
        self._owners = owners
        self._catalog = catalog
        self._costs: dict[str, _Cost] = {}
        self._next_day = 0.0
        self._success = self._make_success

    def forget(self) -> None:
        """Find out anew who owns what."""
        self._owners.forget()

    def synced(self, added: tuple[str, ...] = ()) -> None:
        """Tell what is on offer now."""
        at = self._clock.now()
        to_midnight_s = _DAY_S - at % _DAY_S
        self._next_day = self._clock.monotonic() + to_midnight_s
        self.sinks.tell_synced((self._make_offer, at, self._catalog(), added))

    def loaded(
        self,
        catalog: Catalog,
        request: Request,
        loaded: Loaded,
        start: float,
        end: float,
    ) -> None:
        """Tell of a load that succeeded; the times are monotonic."""
        if end >= self._next_day:
            self.synced()  # nobody else may do so in a process that runs for weeks
        # What waits to be written should be small: of the request its texts alone, and
        # of a SKILL.md the digest that the catalog has anyway.
        entry, file = loaded.descriptor, loaded.file
        if file == SKILL_FILE and entry.digest:
            digest, size = entry.digest, entry.size
        else:
            digest, size = loaded.digest, len(loaded.data)
        cost = self._costs.get(digest)
        if cost is None:
            cost = self._cost_of(digest, loaded.text)
        self.sinks.tell(
            (
                self._success,
                catalog,
                request.id,
                request.via,
                request.agent,
                request.client,
                entry,
                file,
                digest,
                size,
                cost,
                start,
                end,
            )
        )

    def failed(
        self,
        catalog: Catalog,
        request: Request,
        error: Exception,
        start: float,
        end: float,
    ) -> None:
        """Tell of a load that did not; the times are monotonic.

        The message is made at once: the error holds on to the frames it went through.
        """
        asked = _asked(catalog, request, error)
        entry, file = asked.entry, asked.file
        event = UsageEvent(
            asked.name,
            *_beside(file),
            entry.source if entry else "",
            end - start,
            asked.message,
            file,
            request.via,
            code=asked.code,
            release=catalog.release_of(entry.source) if entry else "",
            agent=_called(request.agent),
            client=_called(request.client),
            at=self._time_of(end),
        )
        self.sinks.tell((self._make_owned, event, entry))

    def reported(self, catalog: Catalog, event: UsageEvent) -> None:
        """Tell of a load that was done elsewhere; what is known here is put in."""
        reference, script = _beside(event.file)
        told = replace(
            event,
            reference=reference,
            script=script,
            release=catalog.release_of(event.source),
            agent=_called(event.agent),
            client=_called(event.client),
            at=self._clock.now(),
        )
        self.sinks.tell((self._make_owned, told, _known(catalog, event.name)))

    def copied(
        self, catalog: Catalog, request: Request, error: Exception | None = None
    ) -> None:
        """Tell of what was fetched to be kept elsewhere, or was to be."""
        asked = _asked(catalog, request, error)
        event = SkillSynced(
            asked.name,
            asked.file,
            asked.entry.source if asked.entry else "",
            request.via,
            asked.code,
            _called(request.client),
            self._clock.now(),
        )
        self.sinks.tell_skill_synced((_same, event))

    def _time_of(self, then: float) -> float:
        """Return a monotonic time as one of the epoch."""
        return self._clock.now() - (self._clock.monotonic() - then)

    def _cost_of(self, digest: str, text: str) -> _Cost:
        if len(self._costs) >= MAX_COSTS:
            self._costs.clear()
        cost = self._costs[digest] = _Cost(text)
        return cost

    def _make_owned(self, event: UsageEvent, entry: Descriptor | None) -> UsageEvent:
        return replace(event, owner=self._owners.of(entry)) if entry else event

    def _make_success(  # noqa: PLR0913, PLR0917 - what there was, for one caller
        self,
        catalog: Catalog,
        name: str,
        via: str,
        agent: str,
        client: str,
        entry: Descriptor,
        file: str,
        digest: str,
        size: int,
        cost: _Cost,
        start: float,
        end: float,
    ) -> UsageEvent:
        return UsageEvent(
            name,
            *_beside(file),
            entry.source,
            end - start,
            None,
            file,
            via,
            digest,
            size,
            None,
            cost.tokens(self._counter),
            catalog.release_of(entry.source),
            self._owners.of(entry),
            _called(agent),
            _called(client),
            self._time_of(end),
        )

    def _make_offer(
        self, at: float, catalog: Catalog, added: tuple[str, ...]
    ) -> CatalogSynced:
        owners = {entry.id: self._owners.of(entry) for entry in catalog.entries}
        known = {id: owner for id, owner in owners.items() if owner}
        return CatalogSynced(at, catalog.entries, added, catalog.release, owners=known)


class _Asked(NamedTuple):
    """What was asked for, without what may be anybody's text."""

    name: str
    file: str | None
    entry: Descriptor | None
    message: str | None
    code: str | None


def _asked(catalog: Catalog, request: Request, error: Exception | None) -> _Asked:
    """Return what a request asked for, and how ``error`` is told of."""
    name, file = _text_of(request.id), request.file and _text_of(request.file)
    entry = _known(catalog, name)
    if isinstance(error, SkillNotFoundError) and not _NAME.fullmatch(name):
        name = INVALID
        error = SkillNotFoundError(INVALID)
    if isinstance(error, SkillWithheldError):
        error = SkillWithheldError(name, error.reason)  # its advice quotes the pack
    if not (file is None or (entry and file in entry.resources) or _is_path(file)):
        file = INVALID
        if isinstance(error, PackFileError):
            error = type(error)(error.name, INVALID, error.listed)
    if error is None:
        return _Asked(name, file, entry, None, None)
    if isinstance(error, SkillError):
        return _Asked(name, file, entry, str(error), error.code)
    return _Asked(name, file, entry, type(error).__name__, "internal-error")


def _same(event: SkillSynced) -> SkillSynced:
    return event


def _count(counter: TokenCounter, text: str) -> int:
    """Return what a text costs; 0 where the counter, a plug-in, has no good answer."""
    try:
        count = int(counter.count(text))
    except Exception:  # noqa: BLE001 - whatever it is, the event is worth more
        return 0
    return count if 0 <= count <= _MOST_TOKENS else 0


def _text_of(said: object) -> str:
    return said if isinstance(said, str) else INVALID


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
    given = usage_sinks(environ)
    sinks = Sinks(given)
    if any(hasattr(sink, "retire") for sink in given):
        end = weakref.finalize(owner, _retire_apart, sinks)
        end.atexit = False  # they see to that themselves
    return sinks


def _retire_apart(sinks: Sinks) -> None:
    """Let the sinks end, in a thread of its own.

    The collector calls this at any moment, in any thread: in one that holds a lock of
    the sinks, too, which would wait for itself.
    """
    with suppress(RuntimeError):  # the interpreter ends, and so do they
        start_new_thread(sinks.retire, ())
