"""clock: the time now, and the same time elsewhere."""

import subprocess
import sys
import time
import zoneinfo
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from satchel.skills import clock
from satchel.tools import Toolbox

NOON = datetime(2026, 7, 1, 12, 0, 5, 77, tzinfo=UTC)


def tools(now: datetime = NOON) -> Toolbox:
    box = clock(lambda: now).tools
    assert box is not None
    return box


def now_in(timezone: str | None) -> object:
    return tools().call("time_now", {"timezone": timezone})


def convert(time: str, source: str | None, target: str) -> object:
    arguments = {"time": time, "from_timezone": source, "to_timezone": target}
    return tools().call("time_convert", arguments)


def message(result: object) -> str:
    assert isinstance(result, dict)
    assert result["error"]["code"] == "bad-tool-call"
    return str(result["error"]["message"])


@pytest.mark.row("B18", "B19")
@pytest.mark.parametrize(
    ("arguments", "time", "zone"),
    [
        ({}, "2026-07-01T12:00:05+00:00", "UTC"),
        ({"timezone": None}, "2026-07-01T12:00:05+00:00", "UTC"),
        ({"timezone": "UTC"}, "2026-07-01T12:00:05+00:00", "UTC"),
        ({"timezone": "Europe/Paris"}, "2026-07-01T14:00:05+02:00", "Europe/Paris"),
        ({"timezone": "Asia/Kolkata"}, "2026-07-01T17:30:05+05:30", "Asia/Kolkata"),
    ],
)
def test_the_time_now(arguments: dict[str, str | None], time: str, zone: str) -> None:
    """The injected clock's time, to the second; UTC where no zone is named."""
    assert tools().call("time_now", arguments) == {
        "time": time,
        "timezone": zone,
        "weekday": "Wednesday",
    }


@pytest.mark.row("B19")
def test_the_clock_is_asked_at_each_call_and_may_have_any_offset() -> None:
    moments = iter([NOON, NOON + timedelta(days=1)])
    box = clock(lambda: next(moments)).tools
    assert box is not None

    told = [box.call("time_now", {}) for _ in range(2)]

    assert [each["weekday"] for each in told] == ["Wednesday", "Thursday"]  # type: ignore[index]

    local = datetime(2026, 7, 1, 5, tzinfo=timezone(timedelta(hours=-7)))

    assert tools(local).call("time_now", {}) == {
        "time": "2026-07-01T12:00:00+00:00",
        "timezone": "UTC",
        "weekday": "Wednesday",
    }

    with pytest.raises(TypeError, match="a function that returns the time; got 3"):
        clock(3)  # type: ignore[arg-type]


@pytest.mark.row("B18", "B19")
def test_without_a_clock_it_is_the_real_one() -> None:
    box = clock().tools
    assert box is not None
    before = datetime.now(UTC).replace(microsecond=0)
    told = box.call("time_now", {})
    after = datetime.now(UTC)

    assert before <= datetime.fromisoformat(told["time"]) <= after  # type: ignore[index]


@pytest.mark.row("B19")
def test_a_time_without_offset_is_utc_wherever_the_machine_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    told = tools(datetime(2026, 7, 1, 12)).call("time_now", {})  # noqa: DTZ001
    monkeypatch.undo()
    time.tzset()

    assert told == {
        "time": "2026-07-01T12:00:00+00:00",
        "timezone": "UTC",
        "weekday": "Wednesday",
    }


@pytest.mark.row("B19", "B23")
@pytest.mark.parametrize(
    "name",
    ["Paris", "Europe", "../x", "/etc/passwd", "zone.tab", "\0", "\ud800", "x" * 5_000],
)
def test_a_bad_zone_is_a_result_that_says_so(name: str) -> None:
    told = message(now_in(name))

    assert told.startswith(
        f"time_now: unknown time zone {name[:60]!r}; expected an IANA"
    )
    assert message(convert("2026-01-01T00:00:00Z", None, name)).startswith(
        "time_convert: unknown time zone"
    )
    assert message(convert("2026-01-01T00:00:00", name, "UTC")).startswith(
        "time_convert: unknown time zone"
    )


@pytest.mark.row("F30")
@pytest.mark.parametrize(
    "name",
    [
        *("localtime", "posixrules", "Factory", "factory", "LOCALTIME"),
        *("posix/Europe/Paris", "right/Europe/Paris", "Right/UTC"),
    ],
)
def test_what_lies_among_the_zones_and_is_none_is_refused(name: str) -> None:
    """They say what this machine is set to, or count leap seconds: no place's time."""
    assert message(now_in(name)).startswith(f"time_now: unknown time zone {name!r}")


@pytest.mark.slow
@pytest.mark.row("F30")
def test_every_file_among_the_zone_data_is_an_iana_zone_or_is_refused() -> None:
    wanted = zoneinfo.available_timezones() - {"Factory", "localtime", "posixrules"}
    files = {
        path.relative_to(root).as_posix()
        for root in map(Path, zoneinfo.TZPATH)
        for path in root.rglob("*")
    }

    told = {
        name
        for name in files | wanted
        if "error" not in now_in(name)  # type: ignore[operator]
    }

    assert told == wanted


@pytest.fixture
def no_zone_data(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make this machine one without time zone data, as Windows is."""
    monkeypatch.setitem(sys.modules, "tzdata", None)
    zoneinfo.reset_tzpath(to=[])
    zoneinfo.ZoneInfo.clear_cache()
    yield
    zoneinfo.reset_tzpath()
    zoneinfo.ZoneInfo.clear_cache()


@pytest.mark.row("B19", "E19")
def test_without_zone_data_utc_works_and_the_error_says_so(no_zone_data: None) -> None:
    utc = {"time": "2026-07-01T12:00:05+00:00", "timezone": "UTC"}

    assert now_in(None) == {**utc, "weekday": "Wednesday"}
    assert message(now_in("Europe/Paris")) == (
        "time_now: no time zone but UTC is known here: there is no time zone data"
    )


@pytest.mark.row("B18", "B23")
@pytest.mark.parametrize(
    ("time", "source", "target", "was", "becomes"),
    [
        (
            *("2026-03-01T09:30:00+01:00", None, "Asia/Tokyo"),
            *("2026-03-01T09:30:00+01:00", "2026-03-01T17:30:00+09:00"),
        ),
        (
            *("2026-03-01T09:30:00", "Europe/Paris", "Asia/Tokyo"),
            *("2026-03-01T09:30:00+01:00", "2026-03-01T17:30:00+09:00"),
        ),
        (
            *("2026-07-01T09:30", "Europe/Paris", "UTC"),
            *("2026-07-01T09:30:00+02:00", "2026-07-01T07:30:00+00:00"),
        ),
        (
            *("2026-07-01T09:30:00+02:00", "Europe/Paris", "UTC"),
            *("2026-07-01T09:30:00+02:00", "2026-07-01T07:30:00+00:00"),
        ),
        (
            *("2026-07-01 09:30:00", None, "America/New_York"),
            *("2026-07-01T09:30:00+00:00", "2026-07-01T05:30:00-04:00"),
        ),
        (
            *("2026-07-01t09:30:00.25z", "UTC", "UTC"),
            *("2026-07-01T09:30:00.250000+00:00", "2026-07-01T09:30:00.250000+00:00"),
        ),
        (
            *("2026-10-25T02:30:00+01:00", "Europe/Paris", "UTC"),
            *("2026-10-25T02:30:00+01:00", "2026-10-25T01:30:00+00:00"),
        ),
    ],
)
def test_conversion(
    time: str, source: str | None, target: str, was: str, becomes: str
) -> None:
    """By the offset where there is one, else by the zone, else by UTC."""
    result = convert(time, source, target)

    assert isinstance(result, dict)
    assert (result["from"], result["time"], result["timezone"]) == (
        was,
        becomes,
        target,
    )


@pytest.mark.parametrize(
    ("time", "source", "reason"),
    [
        (
            "noon",
            None,
            "'noon' is no date and time; expected 2026-03-01T09:30:00+01:00",
        ),
        ("", None, "'' is no date and time"),
        ("2026-01-01", None, "is no date and time"),
        ("20260101T000000", None, "is no date and time"),
        ("2026-W01-1", None, "is no date and time"),
        ("٢٠٢٦-01-01T00:00:00", None, "is no date and time"),
        ("2026-01-01T00:00:00\n", None, "is no date and time"),
        ("2026-13-01T00:00:00", None, "is no date and time"),
        ("2026-01-01T00:00:60Z", None, "is no date and time"),
        ("2026-01-01T00:00:00+99:00", None, "is no date and time"),
        ("9" * 5_000, None, f"'{'9' * 60}' is no date and time"),
        (
            *("2026-03-29T02:30:00", "Europe/Paris"),
            (
                "the clocks of Europe/Paris skip that time; say which with an "
                "offset: 2026-03-29T02:30:00+01:00 or 2026-03-29T02:30:00+02:00"
            ),
        ),
        (
            *("2026-10-25T02:30:00", "Europe/Paris"),
            (
                "the clocks of Europe/Paris repeat that time; say which with an "
                "offset: 2026-10-25T02:30:00+02:00 or 2026-10-25T02:30:00+01:00"
            ),
        ),
        (
            *("2026-07-01T09:30:00Z", "Europe/Paris"),
            "2026-07-01T09:30:00Z has an offset that Europe/Paris does not have then",
        ),
        ("0001-01-01T00:00:00", "Asia/Tokyo", "is not in the years 1 to 9999 there"),
        ("9999-12-31T23:00:00-10:00", None, "is not in the years 1 to 9999 there"),
    ],
)
def test_a_time_that_is_none_is_a_result_that_says_why(
    time: str, source: str | None, reason: str
) -> None:
    told = message(convert(time, source, "UTC"))

    assert told.startswith("time_convert: ")
    assert reason in told


@pytest.mark.row("B18", "B22")
def test_the_skill() -> None:
    skill = clock()

    assert skill.name == "clock"
    assert skill.description.startswith("Use when")
    assert "`time_now`" in skill.instructions
    assert "`time_convert`" in skill.instructions
    assert len(skill.instructions) <= 800
    assert skill.tools is not None
    assert skill.tools.name == "clock"
    assert {tool.name: list(tool.parameters["properties"]) for tool in skill.tools} == {  # type: ignore[arg-type]
        "time_now": ["timezone"],
        "time_convert": ["time", "from_timezone", "to_timezone"],
    }
    assert [tool.parameters["required"] for tool in skill.tools] == [
        [],
        ["time", "to_timezone"],
    ]


@pytest.mark.row("B22")
def test_ready_made_skills_bring_no_parser_along() -> None:
    code = (
        "import sys; from satchel.skills import calc, clock; calc(); clock()\n"
        "print({'yaml', 'pydantic', 'satchel.skill_md'} & set(sys.modules))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert out.stdout == "set()\n"
