"""Times and time zones: from text, and back."""

import re
from datetime import UTC, datetime, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from satchel.model import Json

__all__ = ["describe", "find_zone", "parse_time"]

# RFC 3339, section 5.6, but for seconds and offset, which may be left out.
_TIME: Final = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?",
    re.ASCII | re.IGNORECASE,
)
_DAYS: Final = (
    *("Monday", "Tuesday", "Wednesday", "Thursday"),
    *("Friday", "Saturday", "Sunday"),
)
_NO_PLACES: Final = frozenset({"factory", "localtime", "posixrules", "posix", "right"})
"""What lies among the zone data and is no IANA zone: what a machine is set to or was
built with, and copies of all zones, of which those in ``right`` count leap seconds."""
_SHOWN: Final = 60
"""Characters of what was asked for that a message repeats."""


def find_zone(name: str) -> tzinfo:
    """Return the time zone of an IANA name; UTC needs no data on the machine.

    Raises:
        ValueError: There is none of this name, or no data to find any with.
    """
    if name.upper() == "UTC":
        return UTC
    unknown = ValueError(
        f"unknown time zone {name[:_SHOWN]!r}; want an IANA name, such as Europe/Paris"
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
    """Return the moment that ``text`` means, in its own offset or in the zone.

    Args:
        text: As RFC 3339 writes it; seconds and offset may be left out.
        zone_name: Whose clocks a time without offset is read from; None is UTC.

    Raises:
        ValueError: It is no such text or time; its offset is not that of the zone;
            or the clocks of the zone skip or repeat it, so that it needs an offset.
    """
    found = _TIME.fullmatch(text)
    try:
        time = datetime.fromisoformat(text.upper() if found else "")
    except ValueError as error:
        raise ValueError(
            f"{text[:_SHOWN]!r} is no date and time; want 2026-03-01T09:30:00+01:00, "
            "with or without the offset"
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
    """Let a time pass that the clocks of its zone show exactly once."""
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
    """Return a moment as a zone's clocks show it: time, zone and day of the week.

    Raises:
        ValueError: It is not in the years 1 to 9999 there.
    """
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
