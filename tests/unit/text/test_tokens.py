"""The estimate of tokens."""

import pytest

from satchel.text import EstimateCounter


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("\u4e2d\u6587\u4e2d\u6587", 3),
        ("\u043f\u0440\u0438\u0432\u0435\u0442", 3),
        ("\U0001f600", 1),
        ("\ud800", 1),
    ],
)
def test_a_quarter_of_a_token_for_each_byte(text: str, tokens: int) -> None:
    assert EstimateCounter().count(text) == tokens


def test_an_estimate_says_so() -> None:
    assert "estimate" in EstimateCounter().name
