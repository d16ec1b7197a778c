"""Sinks of usage events."""

import logging

import pytest

from satchel.model import UsageEvent
from satchel.usage import ListSink, LoggingSink, record


def event(name: str = "a") -> UsageEvent:
    return UsageEvent(name, "r.md", None, "s", 0.25, None)


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


def test_no_name_forges_a_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    LoggingSink(logging.getLogger("mine")).record(event("a\nskill_loaded name='b'"))

    assert "\n" not in caplog.messages[0]
    assert caplog.records[0].name == "mine"


def test_events_reach_every_sink() -> None:
    first, second = ListSink(), ListSink()

    record((first, second), event())

    assert first.events == second.events == [event()]
