"""Plain scalars have the values of the YAML 1.2 core schema."""

from __future__ import annotations

import pytest

from satchel.skill_md._yaml import FIRST_OF_ODD, resolve


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("NULL", None),
        ("nULL", "nULL"),
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("on", "on"),
        ("012", 12),
        ("0o17", 15),
        ("0x1F", 31),
        ("-0", 0),
        ("+12", 12),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("1e3", 1000.0),
        ("1.10", 1.1),
        (".5", 0.5),
        ("1.", 1.0),
        ("-.5E-1", -0.05),
        ("2024-01-31", "2024-01-31"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("1e999", "1e999"),
        ("-1e999", "-1e999"),
        ("9" * 4_001, "9" * 4_001),
        ("\u0661", "\u0661"),
        ("+", "+"),
        ("0x", "0x"),
    ],
)
def test_value(text: str, value: object) -> None:
    resolved = resolve(text)

    assert resolved == value
    assert type(resolved) is type(value)


@pytest.mark.parametrize(
    "text", ["", "~", "null", "True", "false", "-1", "+1", ".5", "0"]
)
def test_the_quick_look_misses_no_value(text: str) -> None:
    """What does not begin with one of these characters is never resolved at all."""
    assert text[:1] in FIRST_OF_ODD
