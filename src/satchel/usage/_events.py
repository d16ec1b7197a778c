"""Usage events of what was loaded, free of content."""

import weakref
from _thread import start_new_thread
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from satchel.model import (
    SKILL_FILE,
    ActEvent,
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
    redact_name,
    redact_request,
    reference_and_script,
)
from satchel.usage._sinks import DAY_S, LoggingSink, Sinks

if TYPE_CHECKING:  # a program that only searches does not wait for it
    from satchel.load import CallEvent, LoadAttempt

# Texts of which the tokens are remembered, counted already or not.
MAX_COUNTS: Final = 1_024
# What every store and reader can hold; no text has as many.
_MOST_TOKENS: Final = 1 << 53


class _TokenCount:
    """The tokens of one text, counted on first use; then the text is released."""

    __slots__ = ("_text", "_tokens")

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = -1

    def tokens(self, counter: TokenCounter) -> int:
        text = self._text  # read before the count: two threads may be here
        if self._tokens < 0:
            self._tokens = _count_tokens(counter, text)
            self._text = ""
        return self._tokens


class UsageEvents:
    """Makes an event of each load and of each sync, where a sink wants one.

    On the caller's thread it only notes what happened. Owner, release, tokens and the
    time of day are looked up when the event is made, in the thread of a sink that
    writes in the background. All times that it takes are monotonic.
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
        self._token_counts: dict[str, _TokenCount] = {}
        self._next_day = 0.0
        self._success = self._make_success

    def forget_owners(self) -> None:
        """Look up again who owns what."""
        self._owners.forget()

    def record_catalog(self, added: tuple[str, ...] = ()) -> None:
        """Record which skills are on offer now."""
        at = self._clock.now()
        to_midnight_s = DAY_S - at % DAY_S
        self._next_day = self._clock.monotonic() + to_midnight_s
        self.sinks.emit(
            CatalogSynced, (self._make_catalog_event, at, self._catalog(), added)
        )

    def record_load(self, attempt: "LoadAttempt") -> None:
        """Record one load, whether it succeeded or not."""
        if isinstance(attempt.outcome, Loaded):
            self._record_success(attempt, attempt.outcome)
        else:
            self._record_failure(attempt, attempt.outcome)

    def _record_success(self, attempt: "LoadAttempt", loaded: Loaded) -> None:
        catalog, request, _, start, end = attempt
        if end >= self._next_day:
            self.record_catalog()  # in a process that runs for weeks nobody else does
        # What waits to be written should be small: the texts of the request, not the
        # request, and for a SKILL.md the digest that the catalog has anyway.
        entry, file = loaded.descriptor, loaded.file
        if file == SKILL_FILE and entry.digest:
            digest, size = entry.digest, entry.size
        else:
            digest, size = loaded.digest, len(loaded.data)
        tokens = self._token_counts.get(digest)
        if tokens is None:
            tokens = self._count_later(digest, loaded.text)
        caller = request.id, request.via, request.agent, request.client
        loaded_file = entry, file, digest, size, tokens
        times = start, end, request.conversation, request.who.get("client", "")
        made = self._success, catalog, *caller, *loaded_file, *times
        self.sinks.emit(UsageEvent, made)

    def _record_failure(
        self, attempt: "LoadAttempt", error: Exception, files: Sequence[str | None] = ()
    ) -> None:
        """Record a load that failed; ``files`` are several that one call asked for."""
        catalog, request, _, start, end = attempt
        # At once, unlike a success: the error holds on to the frames it went through.
        redacted = redact_request(catalog, request, error)
        entry = redacted.entry
        paths = [redact_file(path, entry) for path in files] or [redacted.file]
        event = UsageEvent(
            redacted.name,
            *reference_and_script(*paths),
            entry.source if entry else "",
            end - start,
            redacted.message,
            redacted.file,
            request.via,
            code=redacted.code,
            release=catalog.release_of(entry.source) if entry else "",
            agent=caller_name(request.agent),
            client=caller_name(request.client),
            at=self._epoch_time(end),
            conversation=request.conversation,
            caller=caller_name(str(request.who.get("client", ""))),
        )
        self.sinks.emit(UsageEvent, (self._with_owner, event, entry))

    def record_call(self, call: "CallEvent") -> None:
        """Record the loads of one call as one event; it failed if one of them did."""
        failed = [part for part in call.parts if isinstance(part.outcome, Exception)]
        part = failed[0] if failed else call.parts[-1]
        if len(call.files) <= 1 and call.refusal is None:
            self.record_load(part)
            return
        error = call.refusal or part.outcome
        start, end = call.parts[0].start, call.parts[-1].end
        if isinstance(error, Exception):
            files = call.files or (part.request.file,)
            self._record_failure(part._replace(start=start, end=end), error, files)
        else:
            self._record_successes(call.parts, start, end)

    def _record_successes(
        self, parts: "list[LoadAttempt]", start: float, end: float
    ) -> None:
        if end >= self._next_day:
            self.record_catalog()
        results = [part.outcome for part in parts if isinstance(part.outcome, Loaded)]
        counts = [self._count_later(loaded.digest, loaded.text) for loaded in results]
        catalog, request, main = parts[-1].catalog, parts[-1].request, results[-1]
        entry = main.descriptor
        event = UsageEvent(
            request.id,
            *reference_and_script(*(loaded.file for loaded in results)),
            entry.source,
            end - start,
            None,
            main.file,
            request.via,
            main.digest,
            sum(len(loaded.data) for loaded in results),
            release=catalog.release_of(entry.source),
            agent=caller_name(request.agent),
            client=caller_name(request.client),
            at=self._epoch_time(end),
            conversation=request.conversation,
            caller=caller_name(str(request.who.get("client", ""))),
        )
        self.sinks.emit(UsageEvent, (self._with_owner, event, entry, counts))

    def record_remote_load(self, catalog: Catalog, event: UsageEvent) -> None:
        """Record a load that another program reported, with what is known here."""
        reference, script = reference_and_script(event.file)
        event = replace(
            event,
            reference=reference,
            script=script,
            release=catalog.release_of(event.source),
            agent=caller_name(event.agent),
            client=caller_name(event.client),
            at=self._clock.now(),
        )
        entry = descriptor_of(catalog, event.name)
        self.sinks.emit(UsageEvent, (self._with_owner, event, entry))

    def record_copy(
        self, catalog: Catalog, request: Request, error: Exception | None = None
    ) -> None:
        """Record a file that was fetched to be stored elsewhere, or the attempt."""
        redacted = redact_request(catalog, request, error)
        source = redacted.entry.source if redacted.entry else ""
        about = redacted.name, redacted.file, source, request.via, redacted.code
        now = self._clock.now()
        client = caller_name(request.client)
        self.sinks.emit(SkillSynced, (SkillSynced, *about, client, now))

    def record_act(self, act: ActEvent) -> None:
        """Record an act; a model may write any name of a tool."""
        act = replace(act, tool=redact_name(act.tool), agent=caller_name(act.agent))
        self.sinks.emit(ActEvent, (lambda: act,))

    def _epoch_time(self, then: float) -> float:
        """Return a monotonic time as seconds since the epoch."""
        # The monotonic clock has no epoch: take from now how long ago it was.
        return self._clock.now() - (self._clock.monotonic() - then)

    def _count_later(self, digest: str, text: str) -> _TokenCount:
        if len(self._token_counts) >= MAX_COUNTS:
            # A full table starts empty again: a load keeps no order of use.
            self._token_counts.clear()
        count = self._token_counts[digest] = _TokenCount(text)
        return count

    def _with_owner(
        self,
        event: UsageEvent,
        entry: Descriptor | None,
        counts: Sequence[_TokenCount] = (),
    ) -> UsageEvent:
        owner = self._owners.of(entry) if entry else event.owner
        tokens = sum(count.tokens(self._counter) for count in counts)
        return replace(event, owner=owner, tokens=tokens or event.tokens)

    def _make_success(  # noqa: PLR0913, PLR0917 - what happened, for one caller
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
        tokens: _TokenCount,
        start: float,
        end: float,
        conversation: str,
        caller: object,
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
            tokens.tokens(self._counter),
            catalog.release_of(entry.source),
            self._owners.of(entry),
            caller_name(agent),
            caller_name(client),
            self._epoch_time(end),
            conversation,
            caller_name(str(caller)),
        )

    def _make_catalog_event(
        self, at: float, catalog: Catalog, added: tuple[str, ...]
    ) -> CatalogSynced:
        owners = {
            entry.id: owner
            for entry in catalog.entries
            if (owner := self._owners.of(entry))
        }
        return CatalogSynced(at, catalog.entries, added, catalog.release, owners=owners)


def _count_tokens(counter: TokenCounter, text: str) -> int:
    """Return the tokens of a text; 0 where the counter, a plug-in, fails."""
    try:
        count = int(counter.count(text))
    except Exception:  # noqa: BLE001 - an event without tokens is better than none
        return 0
    return count if 0 <= count <= _MOST_TOKENS else 0


def owned_sinks(owner: object, environ: Mapping[str, str]) -> Sinks:
    """Return the sinks that ``SATCHEL_USAGE`` asks for; they end with their owner."""
    opened = usage_sinks(environ)
    sinks = Sinks(opened)
    if not all(isinstance(sink, LoggingSink) for sink in opened):
        # A finalizer must hold no reference to its owner, so it gets the sinks alone.
        end = weakref.finalize(owner, _retire_in_thread, sinks)
        end.atexit = False  # each writer registers its own exit
    return sinks


def _retire_in_thread(sinks: Sinks) -> None:
    """Let the sinks end, in a new thread."""
    # The garbage collector calls this at any moment, in any thread: also in one that
    # holds a lock of the sinks, and would wait for itself.
    with suppress(RuntimeError):  # the interpreter ends, and the sinks with it
        start_new_thread(sinks.retire, ())
