"""Writing behind: nothing is lost without being told, and no load waits for long."""

import gc
import logging
import multiprocessing.util
import threading
import weakref
from collections.abc import Iterator, Sequence

import pytest

from satchel import Satchel, Skill
from satchel.errors import ConfigError
from satchel.usage._sinks import Event
from satchel_server.usage import _background as background, _process
from satchel_server.usage._background import Background
from satchel_server.usage._process import close_all_writers
from satchel_server.usage._store import InvalidRowError, Row, Writer
from tests.fakes import in_threads
from tests.unit.usage.library import load, sync

WAIT_S = 20.0


class MemoryStore:
    """Keeps rows in memory; can be held up, and made to fail."""

    def __init__(self) -> None:
        self.rows: dict[int, Event] = {}
        self.writers: list[Writer] = []
        self.dropped = 0
        self.closed = 0
        self.threads: set[str] = set()
        self.gate = threading.Event()
        self.gate.set()
        self.writing = threading.Event()
        self.failures: list[BaseException] = []
        self.fails_always = False
        self.unfit: set[str] = set()

    def open(self, writer: Writer) -> None:
        self._fail()
        self.writers.append(writer)

    def write(self, rows: Sequence[Row], dropped: int, now: float) -> None:
        assert now > 0
        self.writing.set()
        assert self.gate.wait(WAIT_S)
        self._fail()
        if any(getattr(event, "name", "") in self.unfit for _, event in rows):
            raise InvalidRowError
        self.threads.add(threading.current_thread().name)
        self.rows |= dict(rows)
        self.dropped = dropped

    def close(self, dropped: int, now: float) -> None:
        assert now > 0
        self._fail()
        self.dropped = dropped
        self.closed += 1

    def _fail(self) -> None:
        if self.fails_always:
            raise OSError("no room")
        if self.failures:
            raise self.failures.pop()


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "RETRY_S", 0.01)


@pytest.fixture
def sink(store: MemoryStore) -> Iterator[Background]:
    made = Background(lambda: store, bound=10, interval_s=0.01, patience_s=0.05)
    yield made
    store.gate.set()
    made.close(0.5)


def names(store: MemoryStore) -> list[str]:
    return [event.name for event in store.rows.values() if hasattr(event, "name")]


def test_events_are_written_in_order_in_another_thread(
    sink: Background, store: MemoryStore
) -> None:
    for name in "abc":
        sink.record(load(name))
    sink.synced(sync(0.0, "a"))

    assert sink.flush(WAIT_S)
    assert (names(store), list(store.rows)) == (["a", "b", "c"], [1, 2, 3, 4])
    assert store.threads == {"satchel-usage"}
    assert store.writers[0].bound == 10


def test_an_event_is_made_where_it_is_written(
    sink: Background, store: MemoryStore
) -> None:
    """The first one waits until the writer is on record, lest a kill is not noticed."""
    made: list[str] = []

    def make(name: str) -> Event:
        made.append(threading.current_thread().name)
        return load(name)

    sink.defer((make, "a"))
    assert len(store.writers) == 1
    sink.flush(WAIT_S)

    assert made == ["satchel-usage"]
    assert names(store) == ["a"]


def test_without_an_event_there_is_no_thread(
    sink: Background, store: MemoryStore
) -> None:
    assert sink.flush(WAIT_S)
    sink.close()

    assert (store.writers, store.closed) == ([], 0)


def test_where_the_queue_is_full_events_are_dropped_and_counted(
    sink: Background, store: MemoryStore
) -> None:
    store.gate.clear()
    sink.record(load("first"))
    assert store.writing.wait(WAIT_S)
    for number in range(14):
        sink.record(load(str(number)))

    assert sink.state.lost == 5
    store.gate.set()
    assert sink.flush(WAIT_S)
    sink.record(load("last"))
    sink.close()

    assert len(store.rows) == 11
    assert names(store)[-1] == "last"
    assert (store.dropped, store.closed) == (5, 1)


def test_a_caller_waits_a_moment_for_room(store: MemoryStore, sink: Background) -> None:
    wait_for_writer = Background(
        lambda: store, bound=1, interval_s=0.0, patience_s=WAIT_S
    )
    store.gate.clear()
    wait_for_writer.record(load("a"))
    caller = threading.Thread(target=wait_for_writer.record, args=(load("b"),))
    caller.start()
    store.gate.set()
    caller.join(WAIT_S)
    wait_for_writer.close()

    assert names(store) == ["a", "b"]
    assert wait_for_writer.state.lost == 0


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(), "OSError"),
        (OSError(28, "No space", "/x/u.db"), "OSError: No space"),
        (
            ConfigError("/x/u\x1b[31m.db", "of a later one"),
            "/x/u[31m.db: of a later one",
        ),
        (RuntimeError("whatever"), "RuntimeError"),
    ],
    ids=["bare", "system", "ours", "other"],
)
def test_a_store_that_fails_is_tried_again_and_says_what_to_look_at(
    error: Exception,
    reason: str,
    sink: Background,
    store: MemoryStore,
    caplog: pytest.LogCaptureFixture,
) -> None:
    store.failures = [error] * 4
    sink.record(load("a"))
    flushed = [sink.flush(WAIT_S) for _ in range(5)]

    assert flushed[-1]
    assert names(store) == ["a"]
    assert sink.state.failures == 4
    warnings = [r for r in caplog.records if r.levelno >= logging.WARNING]
    assert [r.getMessage() for r in warnings] == [
        f"usage events cannot be stored now ({reason}); loads go on"
    ]


@pytest.mark.parametrize("opens", [True, False])
def test_a_store_that_always_fails_delays_no_end(
    opens: bool, sink: Background, store: MemoryStore
) -> None:
    store.fails_always = not opens
    sink.record(load("a"))
    assert sink.flush(WAIT_S) is opens
    store.fails_always = True
    if opens:
        sink.record(load("b"))
    sink.close(WAIT_S)

    assert (sink.state.lost, store.closed) == (1, 0)
    assert sink._thread is not None
    assert not sink._thread.is_alive()


class Panic(BaseException):
    """As libraries in Rust raise it; a counter of tokens may be one."""


@pytest.mark.parametrize("error", [ZeroDivisionError(), Panic()], ids=repr)
def test_an_event_that_cannot_be_made_ends_no_writer(
    error: BaseException, sink: Background, store: MemoryStore
) -> None:
    def fail() -> Event:
        raise error

    sink.defer((fail,))
    assert sink.flush(WAIT_S)
    sink.record(load("b"))
    store.failures.append(error)
    sink.flush(WAIT_S)

    assert sink.flush(WAIT_S)
    assert (names(store), sink.state.failures, sink.state.lost) == (["b"], 2, 1)


def test_a_row_that_cannot_be_kept_costs_no_other(
    sink: Background, store: MemoryStore
) -> None:
    store.unfit = {"b", "d"}
    for name in "abcd":
        sink.record(load(name))

    assert sink.flush(WAIT_S)
    assert (names(store), sink.state.failures, sink.state.lost) == (["a", "c"], 2, 2)


@pytest.mark.slow
def test_the_collector_may_end_a_writer_at_any_moment(
    sink: Background, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What nobody closed ends with its Satchel, also where a lock is held."""
    monkeypatch.setattr("satchel.usage._events.usage_sinks", lambda _: (sink,))
    skills = Satchel(Skill("a", instructions="x", description="d"))
    skills.load("a")
    gone = weakref.ref(skills)
    sink.flush(WAIT_S)
    del skills

    with sink._lock:
        gc.collect()
        assert gone() is None

    assert sink._thread is not None
    sink._thread.join(WAIT_S)
    assert (names(store), store.closed) == (["a"], 1)


@pytest.mark.parametrize("saw_it_open", [False, True])
def test_after_the_close_events_are_dropped(
    saw_it_open: bool, sink: Background, store: MemoryStore
) -> None:
    """A thread may have seen that it was open, and may be paused until now."""
    sink.record(load("a"))
    sink.close()
    sink.close()
    sink._is_open = saw_it_open
    sink.record(load("b"))

    assert (names(store), sink.state.lost, store.closed) == (["a"], 1, 1)
    assert sink.flush(WAIT_S)


def test_a_writer_that_fell_asleep_wakes(store: MemoryStore) -> None:
    sink = Background(lambda: store, interval_s=0.001)
    for name in "abc":
        sink.record(load(name))
        for _ in range(2_000):
            if not sink._is_woken:
                break
            sink._ready.clear()
            sink._ready.wait(0.005)
    assert not sink._is_woken
    sink.close()

    assert (names(store), store.closed) == (["a", "b", "c"], 1)


def test_many_threads_lose_nothing(store: MemoryStore) -> None:
    sink = Background(lambda: store, bound=50, interval_s=0.0, patience_s=WAIT_S)
    start = threading.Barrier(8)

    def write(number: int) -> None:
        start.wait(WAIT_S)
        for event in range(200):
            sink.record(load(f"{number}-{event}"))

    in_threads(write, range(8))
    sink.close()

    assert len(set(names(store))) == len(store.rows) == 1600
    assert sorted(store.rows) == list(range(1, 1601))


def test_the_end_of_the_process_closes_anyone_who_is_left(store: MemoryStore) -> None:
    sink = Background(lambda: store, interval_s=60.0)
    sink.record(load("a"))
    close_all_writers()

    assert (names(store), store.closed) == (["a"], 1)


def test_a_child_begins_again_and_leaves_the_stores_of_its_parent(
    sink: Background, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a fork calls; real ones are in test_processes."""
    sink.record(load("a"))
    sink.flush(WAIT_S)
    sink.close()
    monkeypatch.setattr(_process, "_writers", [sink])
    before = _process.process_mark()
    multiprocessing.util.get_logger()
    _process._after_fork()
    sink.record(load("b"))
    sink.close()

    assert (names(store), store.closed, sink.state.lost) == (["b"], 2, 0)
    assert [writer.process for writer in store.writers] == [
        before,
        _process.process_mark(),
    ]


def test_a_close_from_the_writers_own_thread_waits_for_nothing(
    store: MemoryStore,
) -> None:
    sink = Background(lambda: store, interval_s=0.0)

    def make() -> Event:
        sink.close()
        return load("a")

    sink.defer((make,))
    sink.close()

    assert names(store) == ["a"]
