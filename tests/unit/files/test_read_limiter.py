"""A source that hangs costs itself: places for its reads, and a breaker."""

import threading
from collections.abc import Callable

import pytest

from satchel import Options, Satchel
from satchel.errors import SkillNotFoundError, SourceUnavailableError
from satchel.files import ReadLimiter
from satchel.files._read_limiter import HANG_S, PAUSE_S, TIMEOUT_S
from tests.fakes import FakeClock, FakeSource, pack


def late() -> None:
    raise SourceUnavailableError("far", "no answer") from TimeoutError()


def refuse() -> None:
    raise SourceUnavailableError("far", "connection refused")


def absent() -> None:
    raise SkillNotFoundError("a")


def fine() -> None:
    """Answer."""


def outcome(places: ReadLimiter, read: Callable[[], None]) -> str:
    """Return what became of a read: it was made, or was refused at once."""
    made = False
    try:
        with places.hold():
            made = True
            read()
    except (SourceUnavailableError, SkillNotFoundError):
        pass
    return "made" if made else "refused"


@pytest.mark.row("F41")
def test_after_a_time_out_one_read_tries_and_then_there_is_a_rest() -> None:
    clock = FakeClock()
    places = ReadLimiter("far", clock.monotonic)

    assert outcome(places, late) == "made"
    assert outcome(places, late) == "made"
    assert outcome(places, fine) == "refused"
    clock.time += PAUSE_S - 1
    assert outcome(places, fine) == "refused"
    clock.time += 1
    assert outcome(places, late) == "made"
    assert outcome(places, fine) == "refused"
    clock.time += PAUSE_S
    assert outcome(places, fine) == "made"
    assert outcome(places, late) == "made"
    assert outcome(places, fine) == "made"


@pytest.mark.row("F41")
@pytest.mark.parametrize(
    ("read", "after"), [(refuse, "made"), (absent, "refused"), (fine, "made")]
)
def test_what_closes_the_breaker(read: Callable[[], None], after: str) -> None:
    """An answer does; what needed no question says nothing of the source."""
    clock = FakeClock()
    places = ReadLimiter("far", clock.monotonic)
    outcome(places, late)
    outcome(places, late)
    clock.time += PAUSE_S
    outcome(places, read)
    clock.time -= PAUSE_S

    assert outcome(places, fine) == after


@pytest.mark.row("F41")
def test_a_failure_that_took_long_is_a_time_out() -> None:
    clock = FakeClock()
    places = ReadLimiter("far", clock.monotonic)

    def slow() -> None:
        clock.time += TIMEOUT_S
        refuse()

    outcome(places, slow)
    outcome(places, slow)
    assert outcome(places, fine) == "refused"


@pytest.mark.row("F41")
def test_a_read_that_never_comes_back_opens_the_breaker() -> None:
    clock = FakeClock()
    places = ReadLimiter("far", clock.monotonic)
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

    one = threading.Thread(target=outcome, args=(places, first))
    one.start()
    inside.wait()
    two = threading.Thread(
        target=outcome, args=(places, lambda: order.append("second"))
    )
    two.start()
    go_on.set()
    one.join()
    two.join()

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
