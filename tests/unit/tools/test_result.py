"""Results of tools, as the text that a model reads."""

import json
from dataclasses import dataclass
from datetime import date
from pathlib import PurePosixPath

import pytest
from pydantic import BaseModel

from satchel.tools import result_text


@dataclass
class Point:
    x: int
    seen: date


class Order(BaseModel):
    seen: date


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ('{"a": é}', '{"a": é}'),
        ("", ""),
        (None, "null"),
        ({"a": [1, 2.5, True]}, '{"a": [1, 2.5, true]}'),
        ("é" * 2, "éé"),
        (["é"], '["é"]'),
        (Point(1, date(2026, 1, 2)), '{"x": 1, "seen": "2026-01-02"}'),
        ([Order(seen=date(2026, 1, 2))], '[{"seen": "2026-01-02"}]'),
        ({3, 1, 2}, "[1, 2, 3]"),
        pytest.param(frozenset({"b", 1}), '[1, "b"]', id="set"),
        (PurePosixPath("a/b"), '"a/b"'),
    ],
    ids=str,
)
def test_text_stays_and_anything_else_is_json(result: object, text: str) -> None:
    assert result_text(result) == text


@pytest.mark.row("B26")
def test_what_cannot_be_written_is_an_error_that_the_model_reads() -> None:
    class Bad:
        def __str__(self) -> str:
            raise OSError("/home/me/secret")

    circle: list[object] = []
    circle.append(circle)
    told = [
        json.loads(result_text(each))["error"] for each in (circle, {(1, 2): 3}, Bad())
    ]

    assert {each["code"] for each in told} == {"internal-error"}
    assert [each["message"].rpartition(" ")[2] for each in told] == [
        "ValueError",
        "TypeError",
        "OSError",
    ]


@pytest.mark.row("B26")
def test_a_request_can_be_sent_with_any_text() -> None:
    """As os.listdir() gives a file's name that is no UTF-8."""
    assert result_text("caf\udce9 é") == "caf? é"
    assert result_text(["caf\udce9 é"]) == '["caf? é"]'
