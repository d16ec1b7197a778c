"""Unified diffs: those of the standard library, but for what would take days."""

from collections.abc import Iterator
from difflib import unified_diff

import pytest
from hypothesis import given, strategies as st

from satchel.text import _diff as unified, unified_lines

TEXTS = st.text(alphabet="ab\r\n\u2028", max_size=40)


def expected(old: str, new: str, context: int) -> Iterator[str]:
    before, after = (
        [f"{line}\n" for line in text.split("\n")[:-1]]
        + [last for last in text.split("\n")[-1:] if last]
        for text in (old, new)
    )
    for number, line in enumerate(unified_diff(before, after, n=context)):
        if number > 1:
            yield line.removesuffix("\n")
            if not line.endswith("\n"):
                yield "\\ No newline at end of file"


@pytest.mark.property
@given(TEXTS, TEXTS, st.integers(0, 3))
def test_it_is_that_of_the_standard_library(old: str, new: str, context: int) -> None:
    assert list(unified_lines(old, new, context)) == [*expected(old, new, context)]


def test_it_stops_looking_and_stays_true(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unified, "_STEPS", 40)
    old = "".join(f"same {n}\nold {n}\n" for n in range(20))
    new = old.replace("old", "new")
    lines = list(unified_lines(old, new))

    assert len(lines) > len(list(expected(old, new, 3)))
    kept = [line[1:] for line in lines[1:] if not line.startswith("-")]
    gone = [line[1:] for line in lines[1:] if not line.startswith("+")]
    assert kept == new.splitlines()
    assert gone == old.splitlines()


def test_a_small_change_of_a_large_text_stays_small(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unified, "_STEPS", 40)
    old = "".join(f"line {n % 7}\n" for n in range(100))
    new = old.replace("line 3\n", "other\n", 1)

    assert list(unified_lines(old, new, 0)) == ["@@ -4 +4 @@", "-line 3", "+other"]
