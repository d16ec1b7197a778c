"""`clock`: the time as a skill.

An example to copy, too: functions that know nothing of skills and raise `ValueError`;
handlers that make a result or a `ToolError` of that; and one function, named in
``__all__``, that boxes them with instructions as a `satchel.Skill`.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from satchel.agent import Skill
from satchel.errors import ToolError
from satchel.model import Json
from satchel.tools import Tool

__all__ = ["clock"]

# RFC 3339, section 5.6, but for seconds and offset, which may be left out.
_TIME: Final = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?",
    re.ASCII | re.IGNORECASE,
)
_DAYS: Final = (
    *("Monday", "Tuesday", "Wednesday", "Thursday"),
    *("Friday", "Saturday", "Sunday"),
)
# What lies among the zone data and is no IANA zone: what a machine is set to or was
# built with, and copies of all zones, of which those in `right` count leap seconds.
_NO_PLACES: Final = frozenset({"factory", "localtime", "posixrules", "posix", "right"})
# Characters of what was asked for that a message repeats.
_SHOWN: Final = 60


def find_zone(name: str) -> tzinfo:
    """Return the zone of an IANA name or raise ValueError; UTC needs no zone data."""
    if name.upper() == "UTC":
        return UTC
    unknown = ValueError(
        f"unknown time zone {name[:_SHOWN]!r}; expected an IANA name, such as "
        "Europe/Paris"
    )
    if name.partition("/")[0].lower() in _NO_PLACES:
        raise unknown
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        if not available_timezones():
            raise ValueError(
                "no time zone but UTC is known here: there is no time zone data"
            ) from error
        raise unknown from error


def parse_time(text: str, zone_name: str | None = None) -> datetime:
    """Return the moment that ``text`` means, in its own offset or else in the zone."""
    # ValueError where it is none, its offset is not that of the zone, or the clocks of
    # the zone skip or repeat it.
    match = _TIME.fullmatch(text)
    try:
        time = datetime.fromisoformat(text.upper() if match else "")
    except ValueError as error:
        raise ValueError(
            f"{text[:_SHOWN]!r} is no date and time; expected "
            "2026-03-01T09:30:00+01:00, with or without the offset"
        ) from error
    zone = find_zone(zone_name or "UTC")
    if time.tzinfo is None:
        return _on_clocks(time.replace(tzinfo=zone), str(zone))
    if zone_name and _moved(time, zone).utcoffset() != time.utcoffset():
        raise ValueError(
            f"{text} has an offset that {zone_name} does not have then; give the time "
            "without offset, or leave the time zone out"
        )
    return time


def _on_clocks(time: datetime, zone_name: str) -> datetime:
    first, second = (time.replace(fold=fold) for fold in (0, 1))
    if first.utcoffset() == second.utcoffset():
        return time
    # PEP 495: of a time that is skipped, the first reading is the later moment.
    what = "skip" if first.timestamp() > second.timestamp() else "repeat"
    raise ValueError(
        f"the clocks of {zone_name} {what} that time; say which with an offset: "
        f"{first.isoformat()} or {second.isoformat()}"
    )


def describe(moment: datetime, zone: tzinfo) -> dict[str, Json]:
    local = _moved(moment, zone)
    return {
        "time": local.isoformat(),
        "timezone": str(zone),
        "weekday": _DAYS[local.weekday()],
    }


def _moved(moment: datetime, zone: tzinfo) -> datetime:
    try:
        return moment.astimezone(zone)
    except OverflowError as error:
        raise ValueError(f"{moment} is not in the years 1 to 9999 there") from error


_INSTRUCTIONS: Final = (
    "You do not know what time it is: call `time_now` before you say or reckon with "
    "today's date or the time, and never guess. To tell a time in another time zone, "
    "call `time_convert`; it knows when each zone changes its clocks."
)
_NOW: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {
        "timezone": {
            "type": ["string", "null"],
            "description": "An IANA time zone, such as Europe/Paris; UTC by default.",
        }
    },
    "required": [],
    "additionalProperties": False,
}
_CONVERT: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {
        "time": {
            "type": "string",
            "description": "The date and time as RFC 3339 writes it, such as "
            "2026-03-01T09:30:00+01:00; the offset may be left out.",
        },
        "from_timezone": {
            "type": ["string", "null"],
            "description": "The IANA time zone of a time without offset; UTC by "
            "default.",
        },
        "to_timezone": {
            "type": "string",
            "description": "The IANA time zone to tell it in, such as Asia/Tokyo.",
        },
    },
    "required": ["time", "to_timezone"],
    "additionalProperties": False,
}


def clock(now: Callable[[], datetime] | None = None) -> Skill:
    """Return a skill for the time; its tools: ``time_now``, ``time_convert``.

    Args:
        now: Gives the time; one without an offset is UTC. None is the clock of this
            machine.

    Raises:
        TypeError: ``now`` is no function.
    """
    if now is not None and not callable(now):
        raise TypeError(f"expected a function that returns the time; got {now!r}")
    tell = now or (lambda: datetime.now(UTC))

    def time_now(timezone: str | None = None) -> dict[str, Json]:
        try:
            zone = find_zone(timezone or "UTC")
            moment = tell().replace(microsecond=0)
            if moment.tzinfo is None:  # else it would be the machine's time zone
                moment = moment.replace(tzinfo=UTC)
            return describe(moment, zone)
        except ValueError as error:
            raise ToolError("time_now", str(error)) from error

    return Skill(
        "clock",
        description="Use when an answer depends on the date, the time or a time zone.",
        instructions=_INSTRUCTIONS,
        tools=[
            Tool(
                "time_now",
                "Tell the current date and time. Use it whenever a request depends on "
                "today's date or on the time of day.",
                _NOW,
                time_now,
            ),
            Tool(
                "time_convert",
                "Tell what a date and time in one time zone is in another.",
                _CONVERT,
                time_convert,
            ),
        ],
    )


def time_convert(
    time: str, to_timezone: str, from_timezone: str | None = None
) -> dict[str, Json]:
    try:
        moment = parse_time(time, from_timezone)
        described = describe(moment, find_zone(to_timezone))
    except ValueError as error:
        raise ToolError("time_convert", str(error)) from error
    return {"from": moment.isoformat(), **described}
