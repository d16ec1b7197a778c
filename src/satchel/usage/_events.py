"""Make usage events of what was loaded, free of content."""

import weakref
from _thread import start_new_thread
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from satchel.load import CallEvent, LoadAttempt
from satchel.model import (
    SKILL_FILE,
    Catalog,
    CatalogSynced,
    Descriptor,
    Loaded,
    Request,
    SkillSynced,
    UsageEvent,
)
from satchel.protocols import Clock, TokenCounter
from satchel.usage._location import usage_sinks
from satchel.usage._owners import OwnerLookup
from satchel.usage._redaction import (
    caller_name,
    descriptor_of,
    redact_file,
    redact_request,
    reference_and_script,
)
from satchel.usage._sinks import Sinks

_DAY_S: Final = 86_400
MAX_COSTS: Final = 1_024
"""Texts whose tokens are known, or whose tokens are still to be counted."""
_MOST_TOKENS: Final = 1 << 53
"""What every store and reader can hold; no text costs as much."""


class _TokenCount:
    """What one text costs, counted when it is asked for; then the text is let go."""

    __slots__ = ("_text", "_tokens")

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = -1

    def tokens(self, counter: TokenCounter) -> int:
        text = self._text  # before the look at the count: two threads may be here
        if self._tokens < 0:
            self._tokens = _count_tokens(counter, text)
            self._text = ""
        return self._tokens


class UsageEvents:
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
        owners: OwnerLookup,
        catalog: Callable[[], Catalog],
    ) -> None:
        """Take the sinks; ``catalog`` gives the one in use."""
        self.sinks: Final = sinks
        self._clock = clock
        self._counter = counter
        self._owners = owners
        self._catalog = catalog
        self._costs: dict[str, _TokenCount] = {}
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
        self.sinks.emit_synced((self._make_offer, at, self._catalog(), added))

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

    def failed(  # noqa: PLR0913, PLR0917 - what there was, for one caller
        self,
        catalog: Catalog,
        request: Request,
        error: Exception,
        start: float,
        end: float,
        files: Sequence[str | None] = (),
    ) -> None:
        """Tell of a load that did not; the times are monotonic.

        ``files`` are those that its call asked for, where these are several.

        The message is made at once: the error holds on to the frames it went through.
        """
        told = redact_request(catalog, request, error)
        entry, file = told.entry, told.file
        of_call = [redact_file(each, entry) for each in files] or [file]
        parts = [reference_and_script(each) for each in of_call]
        event = UsageEvent(
            told.name,
            next((reference for reference, _ in parts if reference), None),
            next((script for _, script in parts if script), None),
            entry.source if entry else "",
            end - start,
            told.message,
            file,
            request.via,
            code=told.code,
            release=catalog.release_of(entry.source) if entry else "",
            agent=caller_name(request.agent),
            client=caller_name(request.client),
            at=self._time_of(end),
        )
        self.sinks.tell((self._make_owned, event, entry))

    def record_load(self, part: LoadAttempt) -> None:
        """Tell of one load, however it went."""
        catalog, request, outcome, start, end = part
        if isinstance(outcome, Loaded):
            self.loaded(catalog, request, outcome, start, end)
        else:
            self.failed(catalog, request, outcome, start, end)

    def together(self, one: CallEvent) -> None:
        """Tell of the loads of one call as one event; it failed if one of them did."""
        failed = [part for part in one.parts if isinstance(part.outcome, Exception)]
        part = failed[0] if failed else one.parts[-1]
        if len(one.files) <= 1 and one.refusal is None:
            self.record_load(part)
            return
        error = one.refusal or part.outcome
        start, end = one.parts[0].start, one.parts[-1].end
        files = one.files or (part.request.file,)
        if isinstance(error, Exception):
            self.failed(part.catalog, part.request, error, start, end, files)
        else:
            self._loaded_together(one.parts, start, end)

    def _loaded_together(
        self, parts: list[LoadAttempt], start: float, end: float
    ) -> None:
        if end >= self._next_day:
            self.synced()
        loaded = [part.outcome for part in parts if isinstance(part.outcome, Loaded)]
        costs = [self._cost_of(each.digest, each.text) for each in loaded]
        both = [reference_and_script(each.file) for each in loaded]
        catalog, request, main = parts[-1].catalog, parts[-1].request, loaded[-1]
        entry = main.descriptor
        event = UsageEvent(
            request.id,
            next((reference for reference, _ in both if reference), None),
            next((script for _, script in both if script), None),
            entry.source,
            end - start,
            None,
            main.file,
            request.via,
            main.digest,
            sum(len(each.data) for each in loaded),
            release=catalog.release_of(entry.source),
            agent=caller_name(request.agent),
            client=caller_name(request.client),
            at=self._time_of(end),
        )
        self.sinks.tell((self._make_counted, event, entry, costs))

    def _make_counted(
        self, event: UsageEvent, entry: Descriptor, costs: list[_TokenCount]
    ) -> UsageEvent:
        tokens = sum(cost.tokens(self._counter) for cost in costs)
        return replace(event, owner=self._owners.of(entry), tokens=tokens)

    def reported(self, catalog: Catalog, event: UsageEvent) -> None:
        """Tell of a load that was done elsewhere; what is known here is put in."""
        reference, script = reference_and_script(event.file)
        told = replace(
            event,
            reference=reference,
            script=script,
            release=catalog.release_of(event.source),
            agent=caller_name(event.agent),
            client=caller_name(event.client),
            at=self._clock.now(),
        )
        self.sinks.tell((self._make_owned, told, descriptor_of(catalog, event.name)))

    def copied(
        self, catalog: Catalog, request: Request, error: Exception | None = None
    ) -> None:
        """Tell of what was fetched to be kept elsewhere, or was to be."""
        told = redact_request(catalog, request, error)
        event = SkillSynced(
            told.name,
            told.file,
            told.entry.source if told.entry else "",
            request.via,
            told.code,
            caller_name(request.client),
            self._clock.now(),
        )
        self.sinks.emit_skill_synced((_same, event))

    def _time_of(self, then: float) -> float:
        """Return a monotonic time as one of the epoch."""
        return self._clock.now() - (self._clock.monotonic() - then)

    def _cost_of(self, digest: str, text: str) -> _TokenCount:
        if len(self._costs) >= MAX_COSTS:
            self._costs.clear()
        cost = self._costs[digest] = _TokenCount(text)
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
        cost: _TokenCount,
        start: float,
        end: float,
    ) -> UsageEvent:
        return UsageEvent(
            name,
            *reference_and_script(file),
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
            caller_name(agent),
            caller_name(client),
            self._time_of(end),
        )

    def _make_offer(
        self, at: float, catalog: Catalog, added: tuple[str, ...]
    ) -> CatalogSynced:
        owners = {entry.id: self._owners.of(entry) for entry in catalog.entries}
        known = {id: owner for id, owner in owners.items() if owner}
        return CatalogSynced(at, catalog.entries, added, catalog.release, owners=known)


def _same(event: SkillSynced) -> SkillSynced:
    return event


def _count_tokens(counter: TokenCounter, text: str) -> int:
    """Return what a text costs; 0 where the counter, a plug-in, has no good answer."""
    try:
        count = int(counter.count(text))
    except Exception:  # noqa: BLE001 - whatever it is, the event is worth more
        return 0
    return count if 0 <= count <= _MOST_TOKENS else 0


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
