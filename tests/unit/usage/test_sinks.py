"""Sinks of usage events, and giving events to them whatever they do."""

import http.client
import logging
import subprocess
import sys

import pytest

from satchel.model import CatalogSynced, SkillSynced, UsageEvent
from satchel.usage import EventSink, ListSink, LoadsOnly, LoggingSink, Sinks, UsageState
from satchel_server.usage import report_to
from tests.unit.usage.library import NOON, copied, sync


def event(name: str = "a") -> UsageEvent:
    return UsageEvent(name, "r.md", None, "s", 0.25, None)


class Panic(BaseException):
    """As libraries in Rust raise it."""


class Raising:
    """Raises one thing at everything."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def record(self, event: object) -> None:
        assert event
        raise self.error

    def flush(self) -> None:
        raise self.error

    synced = record


@pytest.mark.row("C33")
def test_the_logging_sink_writes_one_line_with_six_fields(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)

    LoggingSink().record(event())

    assert caplog.messages == [
        (
            "skill_loaded name='a' reference='r.md' script=None source='s' "
            "duration_s=0.250000 error=None"
        )
    ]
    extra: dict[str, object] = vars(caplog.records[0])["satchel_event"]
    assert list(extra)[:7] == [
        *("event", "name", "reference", "script", "source", "duration_s", "error")
    ]


def test_what_is_on_offer_is_a_line_too_and_no_name_forges_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    sinks = Sinks([LoggingSink(logging.getLogger("mine"))])
    sinks.emit(CatalogSynced, (lambda: sync(NOON, "a", "b"),))
    sinks.emit(SkillSynced, (copied,))
    sinks.emit(UsageEvent, (event, "a\nskill_loaded name='b'"))

    assert caplog.messages[:2] == [
        "catalog_synced skills=2 added=0 release='' via='python'",
        "skill_synced name='a' file='SKILL.md' source='team' code=None via='http'",
    ]
    assert "\n" not in caplog.messages[2]
    assert {record.name for record in caplog.records} == {"mine"}


def test_a_logger_that_is_not_enabled_makes_no_event() -> None:
    made: list[int] = []
    logger = logging.getLogger("not enabled")
    logger.setLevel(logging.WARNING)
    sinks = Sinks([LoggingSink(logger)])

    asleep = sinks.awake
    sinks.emit(UsageEvent, (made.append, 1))
    logger.setLevel(logging.INFO)

    assert (asleep, sinks.awake, made) == (False, True, [])


def test_nobody_who_has_not_imported_logging_pays_for_it() -> None:
    script = (
        "import sys\nfrom satchel import Satchel, Skill\n"
        "skills = Satchel(Skill('a', instructions='x', description='d'))\n"
        "skills.load('a')\nprint('logging' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert done.stdout == "False\n"


def test_events_reach_every_sink() -> None:
    first, second, made = ListSink(), ListSink(), []

    def make() -> UsageEvent:
        made.append(event())
        return made[-1]

    Sinks([first, second]).emit(UsageEvent, (make,))

    assert first.events == second.events == made == [event()]


@pytest.mark.row("C34", "G10")
@pytest.mark.parametrize("error", [OSError("disk full"), Panic()], ids=repr)
def test_a_failing_sink_breaks_no_load_and_is_counted_and_reported_once(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    after = ListSink()
    sinks = Sinks([Raising(error), after])
    for _ in range(3):
        sinks.emit(UsageEvent, (event,))
    sinks.emit(CatalogSynced, (lambda: sync(NOON),))
    sinks.flush()
    sinks.close()

    assert sinks.failures == {"Raising": 5}
    assert (len(after.events), len(after.syncs)) == (3, 1)
    warnings = [r for r in caplog.records if r.levelno >= logging.WARNING]
    kind = type(error).__name__
    assert [r.getMessage() for r in warnings] == [
        f"usage sink Raising failed ({kind}); loads go on without"
    ]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit()], ids=repr)
def test_who_ends_the_program_is_heard(error: BaseException) -> None:
    """A signal may come while a sink is at work."""
    sinks = Sinks([Raising(error)])

    with pytest.raises(type(error)):
        sinks.emit(UsageEvent, (event,))
    with pytest.raises(type(error)):
        sinks.flush()


def test_a_look_is_no_offer() -> None:
    """Nor does an event that cannot be made break anything."""
    inner = ListSink()
    sinks = Sinks([LoadsOnly(inner)])
    sinks.emit(UsageEvent, (event,))
    sinks.emit(CatalogSynced, (lambda: sync(NOON, "a"),))
    LoadsOnly(inner).record(event())
    sinks.emit(UsageEvent, (lambda: 1 // 0,))

    assert (len(inner.events), inner.syncs) == (2, [])
    assert sinks.failures == {"LoadsOnly": 1}


@pytest.mark.row("F17")
def test_what_is_lost_and_waits_is_the_sum_of_what_sinks_say() -> None:
    class Odd:
        dropped = "many"
        failures = None

        @property
        def waiting(self) -> int:
            raise OSError

        def record(self, event: UsageEvent) -> None:
            raise OSError(event.name)

    class Telling:
        dropped, waiting, failures, problem = 3, 4, 5, "no space"

        def record(self, event: UsageEvent) -> None:
            """Take it."""

    sinks = Sinks([Odd(), Telling()])
    for _ in range(2):
        sinks.emit(UsageEvent, (event,))

    assert sinks.state == UsageState(2 + 3, 4, 2 + 5, "no space")
    assert Sinks([]).state == UsageState()


class Inheriting(EventSink):
    """Has `record` alone; everything else is the default."""

    takes = (UsageEvent, SkillSynced, CatalogSynced)

    def __init__(self) -> None:
        self.names: list[str] = []

    def record(self, event: UsageEvent) -> None:
        self.names.append(event.name)


def test_a_sink_that_inherits_has_every_ability() -> None:
    inner = Inheriting()
    sinks = Sinks([inner, LoadsOnly(inner)])

    sinks.emit(UsageEvent, (event,))
    sinks.emit(SkillSynced, (copied,))
    sinks.emit(CatalogSynced, (sync, NOON))
    sinks.flush()
    sinks.retire()
    sinks.close()

    assert inner.names == ["a", "a"]
    assert (sinks.awake, sinks.failures, sinks.state) == (True, {}, UsageState())


def test_a_catalog_is_not_made_for_sinks_that_take_loads_only() -> None:
    class Plain:
        def record(self, event: object) -> None:
            raise AssertionError(event)

    sinks = Sinks([Plain(), LoadsOnly(Inheriting())])
    sinks.emit(CatalogSynced, (lambda: 1 // 0,))

    assert sinks.failures == {}


@pytest.mark.parametrize(
    ("site", "path"),
    [
        ("", "/v1/loads"),
        ("/", "/v1/loads"),
        ("/team/", "/team/v1/loads"),
        ("/team/release.json", "/team/v1/loads"),
        ("/skills.json", "/v1/loads"),
        ("/team/.well-known/agent-skills/index.json", "/team/v1/loads"),
        ("/.well-known/skills/index.json", "/v1/loads"),
    ],
)
def test_a_site_gets_reports_below_its_own_path(
    site: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []

    def request(_: object, method: str, target: str, *__: object) -> None:
        sent.append(f"{method} {target}")
        raise OSError

    monkeypatch.setattr(http.client.HTTPConnection, "request", request)
    back = report_to(f"http://127.0.0.1:9{site}", source="s")
    back.record(event())
    back.close()

    assert sent[0] == f"POST {path}"
