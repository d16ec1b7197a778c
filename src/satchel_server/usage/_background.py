"""A sink that queues an event at once, and writes it to a store in its own thread."""

import os
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Final

from satchel.errors import SkillError
from satchel.text import clean_line
from satchel.usage import (
    EVERY_KIND,
    DeferredEvent,
    Event,
    EventSink,
    UsageState,
    make_event,
)
from satchel_server.usage._calls import with_call
from satchel_server.usage._process import process_mark, register_exit, register_writer
from satchel_server.usage._records import host_mark
from satchel_server.usage._spool import Spool
from satchel_server.usage._store import (
    EventStore,
    InvalidRowError,
    Row,
    StoreFactory,
    Writer,
)

if TYPE_CHECKING:
    import logging


# The most events that wait, including those being written: what kill -9 can lose.
BOUND: Final = 10_000
BATCH: Final = 2_500
# How long a writer waits for more before it writes.
INTERVAL_S: Final = 0.2
# Intervals without an event before a writer sleeps until the next one.
QUIET_ROUNDS: Final = 10
# How long a caller waits if the queue is full, before its event is dropped.
PATIENCE_S: Final = 5.0
RETRY_S: Final = 1.0
CLOSE_S: Final = 10.0
# How often a failing store is tried while the writer closes.
LAST_TRIES: Final = 3

# Stores of the parent process of a fork; only the parent may close them.
_inherited: Final[list[EventStore]] = []


class Background(EventSink):
    """A sink that writes to a store in a thread of its own.

    At most ``bound`` events wait. If there are more, a caller waits ``patience_s``
    once; from then on events are dropped, and counted, until there is room. If a store
    raises, the write is tried again. What waits is written at `close` and when the
    process ends. A forked process gets a writer of its own with its first event.
    """

    takes = EVERY_KIND

    def __init__(
        self,
        open_store: StoreFactory,
        *,
        bound: int = BOUND,
        interval_s: float = INTERVAL_S,
        patience_s: float = PATIENCE_S,
        spool: Spool | None = None,
    ) -> None:
        """Take the function that makes the store; it is called with the first event.

        With a spool an event is on the disk before `defer` returns, so that a process
        which is killed loses none.
        """
        self._spool = spool
        self.bound: Final = bound
        self._half_full = bound // 2
        self._batch_size = max(1, min(BATCH, bound // 4))
        self._open_store = open_store
        self._interval_s = interval_s
        self._patience_s = patience_s
        self._store: EventStore | None = None
        self.reset_after_fork()
        register_writer(self)

    def reset_after_fork(self) -> None:
        """Drop queue, thread and store: they belong to the parent process."""
        if self._store is not None:
            # Keep a reference, or the garbage collector closes the store in the child.
            _inherited.append(self._store)
        # A new lock: a thread of the parent may have held the old one at the fork.
        self._lock = threading.Lock()
        self._progress = threading.Condition(self._lock)
        self._queue: deque[DeferredEvent] = deque()
        self._work, self._hurry = threading.Event(), threading.Event()
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self._store = None
        self._batch: list[Row] = []
        self._taken = self._done = self._dropped = self._failures = self._delays = 0
        self._quiet = QUIET_ROUNDS
        self._refusing = self._closing = self._is_ready = False
        self._problem, self._is_failure_logged, self._is_loss_logged = "", False, False
        self._is_open = self._is_woken = self._is_over = False
        self._writer: Writer | None = None
        if self._spool is not None:
            self._spool.reset()

    @property
    def state(self) -> UsageState:
        """How well this process stores its events; those being written wait too."""
        waiting = max(self._waiting, 0)
        return UsageState(self._dropped, waiting, self._failures, self._problem)

    def record(self, event: Event) -> None:
        """Take an event that is made already."""
        self.defer((lambda: event,))

    synced = skill_synced = acted = record

    def defer(self, deferred: DeferredEvent) -> None:
        """Take an event that the writing thread makes."""
        deferred = with_call(deferred)
        if self._spool is not None:
            try:
                event = make_event(deferred)
            except BaseException as error:  # noqa: BLE001 - plug-ins, in Rust even
                self._count_lost(error)
                return
            deferred = (_same, event)
        # No lock, which would be half the cost: an append is one step, and the queue
        # has room for every thread that may be here at once.
        queue = self._queue
        if self._is_open and len(queue) < self._half_full:
            queue.append(deferred)
        elif not self._enqueue(deferred):
            return
        if not self._is_woken:
            self._wake()

    def _enqueue(self, deferred: DeferredEvent) -> bool:
        """Append the event if there is room; return whether there was."""
        if not self._is_ready:
            self._start()
        with self._lock:
            if self._waiting >= self.bound:
                self._wait_for_room()
            if self._closing or self._refusing:
                self._dropped += 1
                self._log_loss()
                return False
            self._queue.append(deferred)
            if self._spool is not None:
                self._add_to_spool(self._spool, deferred[1])
            # `defer` may append without the lock from here on: the writer has started.
            self._is_open = self._spool is None
        if len(self._queue) > self._half_full and not self._hurry.is_set():
            self._hurry.set()
        return True

    def _add_to_spool(self, spool: Spool, event: Event) -> None:
        """Write the last event of the queue to the disk; without it, it only waits."""
        try:
            self._writer = self._writer or self._new_writer()
            spool.begin(self._writer)
            spool.add((self._taken + len(self._queue), event))
        except OSError as error:
            self._failed(error)

    def _wake(self) -> None:
        self._is_woken = True
        self._work.set()
        if self._is_over:  # the writer ended while the event was appended
            with self._lock:
                self._drop_rest()

    @property
    def _waiting(self) -> int:
        return self._taken + len(self._queue) - self._done

    def flush(self, timeout_s: float = CLOSE_S) -> bool:
        """Wait until every event so far is written, or a write fails; say which."""
        with self._lock:
            goal, delays = self._taken + len(self._queue), self._delays
            if self._thread is None or self._done >= goal:
                return self._done >= goal
            self._hurry_up()
            self._progress.wait_for(
                lambda: self._done >= goal or self._delays > delays, timeout_s
            )
            return self._done >= goal

    def retire(self) -> None:
        """Take no more events; let the thread write what waits, and end."""
        with self._lock:
            self._closing = True
            self._is_open = False
            self._hurry_up()

    def close(self, timeout_s: float = CLOSE_S) -> None:
        """End as `retire` does, and wait for it."""
        self.retire()
        thread = self._thread
        if thread is None or thread is threading.current_thread():
            return
        before = -1
        # A slow store has all the time it needs while it goes on.
        while thread.is_alive() and before != self._done:
            before = self._done
            thread.join(timeout_s)

    def _hurry_up(self) -> None:
        self._hurry.set()
        self._work.set()

    def _wait_for_room(self) -> None:
        """Wait once, without the lock; then refuse events until there is room."""
        self._hurry_up()
        if not self._refusing:
            self._refusing = not self._progress.wait_for(
                lambda: self._waiting < self.bound or self._closing, self._patience_s
            )

    def _start(self) -> None:
        """Start the thread, and wait until the store has registered the writer."""
        with self._lock:
            if self._thread is None and not self._closing:
                register_exit()
                self._thread = threading.Thread(
                    target=self._run, name="satchel-usage", daemon=True
                )
                self._thread.start()
        if self._thread is not None:
            # Only a registered writer lets a report say that a killed process lost
            # events.
            self._ready.wait(self._patience_s)
        self._is_ready = True

    def _run(self) -> None:
        last_tries = LAST_TRIES
        while True:
            well = self._open()
            self._ready.set()
            if not self._closing:
                if well:
                    self._wait_for_events()
                else:
                    self._hurry.wait(RETRY_S)
                self._hurry.clear()
            well = well and self._write_all()
            if self._closing:
                last_tries -= not well
                if (well and not self._queue) or not last_tries:
                    break
        self._finish()

    def _wait_for_events(self) -> None:
        """Wait until there is something to write, and then a moment for more."""
        # To wake a thread costs the caller more than everything else here. So it stays
        # awake for some intervals, and sleeps if no event came in them.
        if self._quiet >= QUIET_ROUNDS:
            self._is_woken = False
            if not self._queue:  # an event from before the flag wakes no thread
                self._work.wait()
            self._work.clear()
            self._is_woken = True
            self._quiet = 0
        self._hurry.wait(self._interval_s)
        self._quiet = 0 if self._queue else self._quiet + 1

    def _open(self) -> bool:
        if self._store is not None:
            return True
        store = self._open_store()
        try:
            with self._lock:
                self._writer = self._writer or self._new_writer()
            store.open(self._writer)
        except BaseException as error:  # noqa: BLE001 - a failing store fails no load
            self._delay(error)
            return False
        try:
            if self._spool is not None:
                self._spool.bring_in()
        except BaseException as error:  # noqa: BLE001 - as above
            self._failed(error)
        self._store = store
        return True

    def _new_writer(self) -> Writer:
        name, pid = os.urandom(16).hex(), os.getpid()
        # What is on the disk is not lost with the process.
        bound = self.bound if self._spool is None else 0
        return Writer(name, process_mark(), host_mark(), pid, bound, time.time())

    def _write_all(self) -> bool:
        """Write until nothing waits; return whether that worked."""
        while True:
            # A batch that failed is still here, and is written first: the order stays.
            if not self._batch and not self._take():
                return True
            try:
                if self._batch and self._store is not None:
                    self._store_rows(self._store, self._batch)
            except BaseException as error:  # noqa: BLE001 - as above
                self._delay(error)
                return False
            if self._problem:
                self._recovered()
            with self._lock:
                self._batch = []
                self._done = self._taken
                self._refusing = False
                self._forget_stored()
                self._progress.notify_all()

    def _forget_stored(self) -> None:
        if self._spool is not None and self._writer is not None:
            rest = [(seq, e[1]) for seq, e in enumerate(self._queue, self._taken + 1)]
            try:
                self._spool.stored(rest)
            except OSError as error:
                self._failed(error)

    def _take(self) -> bool:
        """Make the next events; return whether there were any."""
        with self._lock:
            count = min(len(self._queue), self._batch_size)
            batch = [self._queue.popleft() for _ in range(count)]
            # A batch that is tried again keeps its numbers: a store skips what it has.
            first = self._taken + 1
            self._taken += count
        for number, deferred in enumerate(batch, first):
            try:
                self._batch.append((number, make_event(deferred)))
            except BaseException as error:  # noqa: BLE001 - plug-ins, in Rust even
                self._count_lost(error)
        return count > 0

    def _store_rows(self, store: EventStore, rows: list[Row]) -> None:
        """Write the rows; find the rows that no store can take by halving."""
        try:
            store.write(rows, self._dropped, time.time())
        except InvalidRowError as error:
            if len(rows) == 1:
                self._batch = [row for row in self._batch if row is not rows[0]]
                self._count_lost(error.__cause__ or error)
                return
            middle = len(rows) // 2
            self._store_rows(store, rows[:middle])
            self._store_rows(store, rows[middle:])

    def _finish(self) -> None:
        with self._lock:
            # Flag down: a thread that appends late then sees `_is_over`, and counts it
            # lost.
            self._is_over, self._is_woken = True, False
            if self._spool is not None:
                # What waits there is brought in by the next process.
                self._spool.close(is_empty=not self._waiting)
                self._taken += len(self._queue)
                self._done = self._taken
                self._queue.clear()
            self._drop_rest()
            self._progress.notify_all()
        if self._store is None:
            return
        try:
            self._store.close(self._dropped, time.time())
        except BaseException as error:  # noqa: BLE001 - as above
            self._failed(error)

    def _drop_rest(self) -> None:
        self._dropped += self._waiting
        self._taken += len(self._queue)
        self._done = self._taken
        self._queue.clear()

    def _count_lost(self, error: BaseException) -> None:
        """Count an event that is lost."""
        self._failed(error)
        with self._lock:
            self._dropped += 1

    def _delay(self, error: BaseException) -> None:
        """Count a failure of the store, and wake the threads that wait for it."""
        self._failed(error)
        self._problem = _describe(error)
        with self._lock:
            self._delays += 1
            self._progress.notify_all()

    def _failed(self, error: BaseException) -> None:
        self._failures += 1
        if not self._is_failure_logged:
            self._is_failure_logged, reason = True, _describe(error)
            log = _log()
            log.warning("usage events cannot be stored now (%s); loads go on", reason)
            log.debug("usage events cannot be stored now", exc_info=error)

    def _log_loss(self) -> None:
        """Log once that events are lost from now on; `_recovered` logs how many."""
        if self._refusing and not self._is_loss_logged:
            self._is_loss_logged = True
            _log().warning(
                "usage events are lost from now on: %s events wait, and no more fit",
                f"{self._waiting:,}",
            )

    def _recovered(self) -> None:
        self._problem = ""
        if self._is_loss_logged:
            lost = f"{self._dropped:,}"
            _log().warning("usage events are stored again; %s were lost so far", lost)
            self._is_failure_logged = self._is_loss_logged = False


def _same(event: Event) -> Event:
    return event


def _log() -> "logging.Logger":
    import logging

    return logging.getLogger("satchel")


def _describe(error: BaseException) -> str:
    """Return the reason for the operator; the text of other errors may be private."""
    if isinstance(error, SkillError):
        return clean_line(str(error))
    kind = type(error).__name__
    reason = error.strerror if isinstance(error, OSError) else None
    return f"{kind}: {reason}" if reason else kind
