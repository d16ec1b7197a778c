"""A source over time: how long it is waited for, late answers, limited reads."""

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from satchel import Options, Satchel, sources
from satchel.catalog import CatalogRules, ParseOptions, Registry
from satchel.catalog._source_scanner import SourceScanner
from satchel.errors import SourceUnavailableError
from satchel.files import LimitedReader
from satchel.model import Catalog, Finding, Found, SyncReport
from satchel.protocols import SkillSource
from tests.fakes import FakeClock, FakeSource, pack

DEADLINE_S = 0.05
NAMES = [f"s{n}" for n in range(10)]


class WatchedClock(FakeClock):
    """Lets a source wait until somebody has looked at the clock again."""

    def __init__(self) -> None:
        super().__init__()
        self._looked = threading.Condition()
        self._looks = 0
        self._watched = True

    def monotonic(self) -> float:
        with self._looked:
            self._looks += 1
            self._looked.notify_all()
        return self.time

    def wait_for_a_look(self) -> None:
        with self._looked:
            before = self._looks
            self._looked.wait_for(
                lambda: self._looks > before or not self._watched, timeout=2
            )

    def look_away(self) -> None:
        with self._looked:
            self._watched = False
            self._looked.notify_all()


class Laborious(FakeSource):
    """Needs nearly the whole deadline for each pack."""

    def __init__(self, clock: WatchedClock, *, yields: bool) -> None:
        super().__init__("slow", {name: {"SKILL.md": pack(name)} for name in NAMES})
        self.progress = 0
        self._clock = clock
        self._yields = yields

    def scan(self) -> Iterable[Found | Finding]:
        found: list[Found | Finding] = []
        for each in super().scan():
            self._clock.time += DEADLINE_S * 0.8
            if self._yields:
                yield each
            else:
                self.progress += 1
                found.append(each)
            self._clock.wait_for_a_look()
        yield from found


class HangClock(FakeClock):
    """Runs from when a source hangs, so that nothing before that is given up."""

    def __init__(self) -> None:
        super().__init__()
        self.hangs = threading.Event()

    def monotonic(self) -> float:
        if self.hangs.is_set():
            self.time += 1
        return self.time


class Stopping(FakeSource):
    """Stops after so many packs, until it is let go on, or raises there."""

    def __init__(
        self, names: list[str], stop_after: int, clock: HangClock | None = None
    ) -> None:
        super().__init__("s", {name: {"SKILL.md": pack(name)} for name in names})
        self.stop_after = stop_after
        self.hangs = (clock or HangClock()).hangs
        self.go_on = threading.Event()
        self.broken = False

    def scan(self) -> Iterable[Found | Finding]:
        for number, each in enumerate(super().scan()):
            if number == self.stop_after:
                if self.broken:
                    raise SourceUnavailableError(self.label, "the line is dead")
                self.hangs.set()
                self.go_on.wait(30)
            yield each


def registry(
    *given: SkillSource, clock: FakeClock, deadline_s: float = DEADLINE_S
) -> Registry:
    return Registry(
        given,
        accept=ParseOptions(),
        rules=CatalogRules(),
        clock=clock,
        deadline_s=deadline_s,
    )


def ids(catalog: Catalog) -> list[str]:
    return [entry.id for entry in catalog]


def let_finish(label: str) -> None:
    """Wait until the thread that asks a source has come back."""
    for thread in threading.enumerate():
        if thread.name == f"satchel-sync-{label}":
            thread.join(30)


@pytest.mark.row("F02", "T04")
@pytest.mark.parametrize("yields", [True, False])
def test_a_first_scan_that_gets_on_is_waited_for(yields: bool) -> None:
    """Eight deadlines long: packs that come count, and so does `progress`."""
    clock = WatchedClock()
    kept = registry(Laborious(clock, yields=yields), clock=clock)

    kept.sync()

    assert ids(kept.catalog) == NAMES
    assert kept.catalog.sources[0].error == ""


class GatedFolder(sources.LocalSource):
    """A folder that is listed when it is let."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.go_on = threading.Event()

    def scan(self) -> tuple[Found | Finding, ...]:
        self.go_on.wait(30)
        return super().scan()


class GatedPlugin(FakeSource):
    def __init__(self) -> None:
        super().__init__("s", {"a": {"SKILL.md": pack("a")}})
        self.go_on = threading.Event()

    def scan(self) -> Iterable[Found | Finding]:
        self.go_on.wait(30)
        return super().scan()


@pytest.mark.row("T04", "F107")
@pytest.mark.parametrize("answered", [False, True])
def test_only_a_folder_of_this_machine_is_never_given_up(
    answered: bool, tmp_path: Path
) -> None:
    """A machine that is busy enough makes any progress look like none."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "SKILL.md").write_text(pack("a"))
    for source, expected in ((GatedFolder(tmp_path), False), (GatedPlugin(), True)):
        clock, ended = FakeClock(), threading.Event()
        scanner = SourceScanner(source, "s", ParseOptions(), clock, ended.set)
        if answered:
            source.go_on.set()
            scanner.begin()
            assert ended.wait(30)
            assert scanner.is_done(DEADLINE_S)
            source.go_on.clear()
            ended.clear()
        scanner.begin()
        clock.time += 1_000

        assert scanner.is_done(DEADLINE_S) is expected

        source.go_on.set()
        assert ended.wait(30)
        assert scanner.is_done(DEADLINE_S)
        assert scanner.result is not None
        assert list(scanner.result.packs) == ["a"]


@pytest.mark.row("F02", "T04")
def test_what_was_read_before_a_source_hung_is_used_and_not_read_again() -> None:
    clock = HangClock()
    source = Stopping(["a", "b", "c"], 2, clock)
    kept = registry(source, clock=clock)

    kept.sync()

    state = kept.catalog.sources[0]
    assert ids(kept.catalog) == ["a", "b"]
    assert (state.error, state.packs) == ("no progress for 0.05 s", 2)
    assert state.partial
    source.go_on.set()
    let_finish("s")
    kept.sync()
    assert ids(kept.catalog) == ["a", "b", "c"]
    assert not kept.catalog.sources[0].partial
    assert source.manifests_read == 3


@pytest.mark.row("T04")
def test_what_was_read_before_a_source_failed_is_used() -> None:
    source = Stopping(["a", "b", "c"], stop_after=2)
    source.broken = True
    kept = registry(source, clock=FakeClock())

    kept.sync()

    assert ids(kept.catalog) == ["a", "b"]
    assert "the line is dead" in kept.catalog.sources[0].error
    source.stop_after = 1
    kept.sync()
    assert ids(kept.catalog) == ["a", "b"]
    source.stop_after = 3
    kept.sync()
    assert (ids(kept.catalog), source.manifests_read) == (["a", "b", "c"], 3)


@pytest.mark.row("T04", "R08")
def test_a_whole_answer_is_not_replaced_by_part_of_a_newer_one() -> None:
    source = Stopping(["a", "b", "c"], stop_after=9)
    kept = registry(source, clock=FakeClock())
    kept.sync()
    source.stop_after, source.broken = 1, True

    kept.sync()

    assert ids(kept.catalog) == ["a", "b", "c"]
    assert kept.catalog.sources[0].stale
    assert not kept.catalog.sources[0].partial


@pytest.mark.row("R08")
def test_one_that_has_answered_before_delays_nobody_however_it_gets_on() -> None:
    """Its last answer is there; the new one is taken when it has come."""
    clock = WatchedClock()
    source = Laborious(clock, yields=True)
    kept = registry(source, clock=clock)
    kept.sync()
    source.packs["new"] = {"SKILL.md": pack("new")}

    kept.sync()

    assert ids(kept.catalog) == NAMES
    assert kept.catalog.sources[0].error == f"no answer for {DEADLINE_S} s"
    clock.look_away()
    let_finish("slow")
    kept.sync()
    assert "new" in kept.catalog


@pytest.mark.row("T04")
def test_an_answer_that_comes_late_is_taken_though_the_next_question_hangs() -> None:
    clock = HangClock()
    source = Stopping(["a"], 0, clock)
    kept = registry(source, clock=clock)
    kept.sync()
    assert ids(kept.catalog) == []
    first, source.go_on = source.go_on, threading.Event()

    first.set()
    let_finish("s")
    kept.sync()

    assert ids(kept.catalog) == ["a"]
    source.go_on.set()


def test_a_system_without_threads_is_told_and_takes_nothing_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    source = Stopping(["a"], stop_after=9)
    kept = registry(source, clock=FakeClock())
    kept.sync()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start)
        kept.sync()

    assert ids(kept.catalog) == ["a"]
    assert kept.catalog.sources[0].error == "can't start new thread"


@pytest.mark.row("T04")
def test_a_folder_tells_how_far_its_scan_got(tmp_path: Path) -> None:
    """Also through whatever is put around it, and of every layer."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_text(pack(name))
    folder = sources.folder(tmp_path)
    around = sources.prefixed(folder, "x-")
    layers = sources.layered(tmp_path, tmp_path, tmp_path)

    assert getattr(around, "progress", None) == 0
    folder.scan()
    layers.scan()

    assert getattr(around, "progress", None) == 4  # two folders, a file in each
    assert layers.progress == (4, 4, 4)


class Gate(FakeSource):
    """Answers when it is let; counts how often that was looked for."""

    def __init__(self, label: str, *names: str, near: bool = False) -> None:
        super().__init__(label, {name: {"SKILL.md": pack(name)} for name in names})
        self.near = near
        self.may_answer = threading.Event()
        self.answered = threading.Event()

    def scan(self) -> Iterable[Found | Finding]:
        self.may_answer.wait()
        found = [*super().scan()]
        self.answered.set()
        return found


@pytest.fixture
def far() -> Iterator[Gate]:
    gate = Gate("far", "b")
    yield gate
    gate.may_answer.set()


def here() -> Gate:
    gate = Gate("here", "a", near=True)
    gate.may_answer.set()
    return gate


@pytest.mark.row("F41", "R08")
def test_what_is_here_is_served_before_what_is_elsewhere_has_answered(
    far: Gate,
) -> None:
    reports: list[SyncReport] = []
    skills = Satchel(here(), far, options=Options(far_s=0.0))
    skills.listen(reports.append)
    assert [entry.id for entry in skills.catalog] == ["a"]
    assert skills.load("a").id == "a"
    skills.apply_late_answers()
    assert not reports
    assert skills.registry.pending

    far.may_answer.set()
    far.answered.wait()
    while not reports:  # its thread has a step to go
        skills.apply_late_answers()

    assert [entry.id for entry in skills.catalog] == ["a", "b"]
    assert reports[0].added == ("b",)
    assert not skills.registry.pending


@pytest.mark.row("F41", "R08")
def test_what_is_here_is_in_use_while_a_sync_waits_for_the_rest(far: Gate) -> None:
    far.may_answer.set()
    near = here()
    skills = Satchel(near, far)
    far.may_answer.clear()
    near.packs["c"] = {"SKILL.md": pack("c")}
    syncing = threading.Thread(target=skills.sync)
    syncing.start()
    while "c" not in skills.catalog:
        assert syncing.is_alive()

    far.may_answer.set()
    syncing.join()


@pytest.mark.row("F41", "T04")
def test_with_nothing_here_the_rest_is_waited_for(far: Gate) -> None:
    made: list[Satchel] = []
    making = threading.Thread(
        target=lambda: made.append(Satchel(far, options=Options(far_s=0.0)))
    )
    making.start()
    while not far.scans:
        far.may_answer.set()
    making.join()

    assert [entry.id for entry in made[0].catalog] == ["b"]


@pytest.mark.row("F41")
@pytest.mark.parametrize(
    ("abilities", "is_limited"),
    [({}, True), ({"near": True}, False), ({"limits_reads": True}, False)],
)
def test_only_sources_elsewhere_that_do_not_limit_themselves_are_limited(
    abilities: dict[str, bool], *, is_limited: bool
) -> None:
    source = FakeSource("s", {})
    for name, value in abilities.items():
        setattr(source, name, value)

    scanner = SourceScanner(source, "s", ParseOptions(), FakeClock(), lambda: None)

    assert isinstance(scanner.reader, LimitedReader) is is_limited
