"""What a later Python takes, and what none does."""

from __future__ import annotations

import sys

import pytest

from satchel.lint._programs import later_version_for

LATER = [
    ('x = f"{d["a"]}"', "3.12"),
    ("x = f'{'a'}'", "3.12"),
    ('x = f"{chr(10)}{"\\n".join(a)}"', "3.12"),
    ('x = f"{', "3.12"),
    ("def f[T](x: T) -> T: ...", "3.12"),
    ("    async def f[T](x: T) -> T: ...", "3.12"),
    ("class A[T]: ...", "3.12"),
    ("type X = int", "3.12"),
    ("type X[T] = list[T]", "3.12"),
    ("except ValueError, os.error:", "3.14"),
    ('x = t"{1}"', "3.14"),
    ("lazy import os", "3.15"),
    ("x = [*a for a in b]", "3.15"),
]
NEVER = [
    "print 'x'",
    "def f(:",
    'x = f"{a b}"',
    "x = [1, 2",
    "except ValueError as e",
    "foo bar",
    "\u201cquoted\u201d",
    "type = x y",
]


@pytest.mark.row("F51")
@pytest.mark.parametrize(("line", "version"), LATER)
def test_grammar_of_a_later_python(line: str, version: str) -> None:
    later = int(version[2:]) > sys.version_info.minor

    assert later_version_for(f"a = 1\n{line}\n", 2, "invalid syntax") == (
        version if later else ""
    )


@pytest.mark.row("F51")
@pytest.mark.parametrize("line", NEVER)
def test_grammar_of_no_python(line: str) -> None:
    assert later_version_for(f"a = 1\n{line}\n", 2, "invalid syntax") == ""


@pytest.mark.parametrize("line", [None, 0, 3])
def test_a_line_that_is_not_there(line: int | None) -> None:
    assert later_version_for("type X = int", line, "invalid syntax") == ""
