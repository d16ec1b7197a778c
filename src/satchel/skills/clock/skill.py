"""The skill ``clock``: two tools, and when to use them."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from satchel.errors import ToolError
from satchel.model import Json
from satchel.skill import Skill
from satchel.skills.clock.zones import describe, find_zone, parse_time
from satchel.tools import Tool

__all__ = ["clock"]

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
    """Return a skill that tells the time; its tools: ``time_now``, ``time_convert``.

    Args:
        now: Gives the time; one without an offset is UTC. None is the clock of this
            machine.

    Raises:
        TypeError: ``now`` is no function.
    """
    if now is not None and not callable(now):
        raise TypeError(f"want a function that tells the time, got {now!r}")
    tell = now or _tell

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
    """Return ``time`` as it is in ``to_timezone``.

    Raises:
        ToolError: A time zone or the time is none, they contradict each other, or
            the clocks of that zone skip or repeat that time.
    """
    try:
        moment = parse_time(time, from_timezone)
        said = describe(moment, find_zone(to_timezone))
    except ValueError as error:
        raise ToolError("time_convert", str(error)) from error
    return {"from": moment.isoformat(), **said}


def _tell() -> datetime:
    return datetime.now(UTC)
