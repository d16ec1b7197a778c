"""A source that hangs costs itself: places for its reads, and a breaker."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from satchel import Options, Satchel
from satchel.errors import SkillNotFoundError, SourceUnavailableError
from satchel.files import ReadLimiter
from satchel.files._circuit_breaker import HANG_S, PAUSE_S, TIMEOUT_S
from tests.fakes import FakeClock, FakeSource, pack


def late() -> None:
    raise SourceUnavailableError("far", "no answer") from TimeoutError()


def refuse() -> None:
    raise SourceUnavailableError("far", "connection refused")


def absent() -> None:
    raise SkillNotFoundError("a")


def fine() -> None:
    """Answer."""


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def places(clock: FakeClock) -> ReadLimiter:
    return ReadLimiter("far", clock.monotonic)


def outcome(places: ReadLimiter, read: Callable[[], None]) -> str:
    """Return what became of a read: it was made, or was refused at once."""
    made = False
    with suppress(SourceUnavailableError, SkillNotFoundError), places.hold():
        made = True
        read()
    return "made" if made else "refused"


@pytest.mark.row("F41")
def test_after_a_time_out_one_read_tries_and_then_there_is_a_rest(
    clock: FakeClock, places: ReadLimiter
) -> None:
    for wait_s, read, result in (
        *((0.0, late, "made"), (0.0, late, "made"), (0.0, fine, "refused")),
        (PAUSE_S - 1, fine, "refused"),
        *((1.0, late, "made"), (0.0, fine, "refused")),
        *((PAUSE_S, fine, "made"), (0.0, late, "made"), (0.0, fine, "made")),
    ):
        clock.time += wait_s
        assert outcome(places, read) == result


@pytest.mark.row("F41")
@pytest.mark.parametrize(
    ("read", "after"), [(refuse, "made"), (absent, "refused"), (fine, "made")]
)
def test_what_closes_the_breaker(
    clock: FakeClock, places: ReadLimiter, read: Callable[[], None], after: str
) -> None:
    """An answer does; what needed no question says nothing of the source."""
    outcome(places, late)
    outcome(places, late)
    clock.time += PAUSE_S
    outcome(places, read)
    clock.time -= PAUSE_S

    assert outcome(places, fine) == after


@pytest.mark.row("F41")
def test_a_failure_that_took_long_is_a_time_out(
    clock: FakeClock, places: ReadLimiter
) -> None:
    def slow() -> None:
        clock.time += TIMEOUT_S
        refuse()

    outcome(places, slow)
    outcome(places, slow)
    assert outcome(places, fine) == "refused"


@pytest.mark.row("F41")
def test_a_read_that_never_comes_back_opens_the_breaker(
    clock: FakeClock, places: ReadLimiter
) -> None:
    hanging, go_on = threading.Event(), threading.Event()

    def hang() -> None:
        hanging.set()
        go_on.wait()

    thread = threading.Thread(target=outcome, args=(places, hang), daemon=True)
    thread.start()
    hanging.wait()
    assert outcome(places, fine) == "made"
    trial: list[str] = []

    def probe() -> None:
        trial.append(outcome(places, fine))

    clock.time += HANG_S
    assert outcome(places, probe) == "made"
    assert trial.pop() == "made"  # it hangs no longer than that yet
    clock.time += 1

    assert outcome(places, probe) == "made"  # one tries it, and meanwhile nobody else
    assert trial == ["refused"]
    go_on.set()
    thread.join()
    assert outcome(places, fine) == "made"


@pytest.mark.row("F41")
def test_reads_wait_for_a_place() -> None:
    places = ReadLimiter("far", places=1)
    inside, go_on = threading.Event(), threading.Event()
    order: list[str] = []

    def first() -> None:
        inside.set()
        go_on.wait()
        order.append("first")

    with ThreadPoolExecutor(2) as threads:
        threads.submit(outcome, places, first)
        inside.wait()
        threads.submit(outcome, places, lambda: order.append("second"))
        go_on.set()

    assert order == ["first", "second"]


class Far(FakeSource):
    """A plug-in that reads from elsewhere, and can be made to time out."""

    hangs = False
    reads = 0

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        self.reads += 1
        if self.hangs:
            raise TimeoutError
        return super().read(key, path, limit_bytes)


@pytest.mark.row("F41", "R33")
def test_a_plug_in_that_hangs_is_asked_seldom_and_others_are_not_touched() -> None:
    clock = FakeClock()
    far = Far("far", {"a": {"SKILL.md": pack("a")}})
    near = FakeSource("near", {"b": {"SKILL.md": pack("b")}})
    with Satchel(far, near, options=Options(clock=clock)) as skills:
        far.hangs, far.reads = True, 0
        for _ in range(41):
            with pytest.raises(SourceUnavailableError):
                skills.load("a")
            assert skills.load("b").id == "b"
        assert far.reads == 2

        far.hangs = False
        clock.time += PAUSE_S
        assert skills.load("a").id == "a"
