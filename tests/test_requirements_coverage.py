"""Every requirement that is due has a test, and the page that says so is current."""

from functools import cache
from textwrap import dedent

import pytest

from tools.rows import PAGE, Mark, Row, parse_marks, read_marks, read_rows, render_page

ROWS = read_rows()
# Read by the first test that asks: a worker that runs none of these need not wait.
marks = cache(read_marks)


@pytest.mark.slow
def test_every_mark_names_a_row() -> None:
    """A mistyped id would otherwise cover nothing and look as if it did."""
    known = {row.id for row in ROWS}

    assert [mark for mark in marks() if mark.row not in known] == []


def test_every_row_that_is_due_has_a_test() -> None:
    covered = {mark.row for mark in marks()}
    due = [row.id for row in ROWS if row.due != "later"]

    assert [id for id in due if id not in covered] == []


@pytest.mark.row("F106")
def test_no_row_that_has_a_test_is_due_later() -> None:
    """What is built has a time, so that its test is missed once it goes."""
    later = {row.id for row in ROWS if row.due == "later"}

    assert sorted({mark for mark in marks() if mark.row in later}) == []


def test_the_page_is_current() -> None:
    page = PAGE.read_text("utf-8")

    assert page == render_page(ROWS, marks()), "run `make generate`"


def test_marks_are_read_wherever_pytest_takes_them() -> None:
    source = dedent("""\
        pytestmark = [pytest.mark.row("A01")]

        @pytest.mark.row("A02", "A03")
        class TestBox:
            @pytest.mark.row("A04")
            def test_one(self): ...

        @pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.row("A05"))])
        async def test_two(x): ...
    """)

    assert sorted(parse_marks(source, "tests/test_x.py")) == [
        Mark("A01", "tests/test_x.py", 1, ""),
        Mark("A02", "tests/test_x.py", 3, "TestBox"),
        Mark("A03", "tests/test_x.py", 3, "TestBox"),
        Mark("A04", "tests/test_x.py", 5, "TestBox.test_one"),
        Mark("A05", "tests/test_x.py", 8, "test_two"),
    ]


def test_a_mark_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"tests/test_x\.py:1: a row is a literal"):
        list(parse_marks("pytestmark = pytest.mark.row(ID)", "tests/test_x.py"))


def test_a_row_without_a_test_is_open() -> None:
    rows = [Row("A01", "spine", "one"), Row("A02", "later", "two")]
    page = render_page(rows, [Mark("A01", "tests/test_x.py", 1, "test_one")])

    assert "| A01 | one | [`test_one`](../../tests/test_x.py) |" in page
    assert "| A02 | two | open |" in page
