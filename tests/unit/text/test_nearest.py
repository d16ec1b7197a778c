"""The names that somebody may have meant, among few and among thousands."""

import pytest

from satchel.text import nearest


def test_the_closest_come_first_among_few_and_thousands() -> None:
    """Of which only some are compared letter by letter."""
    names = ["sql-style", "pdf-form", "pdf-forms", "travel"]

    assert nearest("pdf-fromm", names, 2) == ["pdf-form", "pdf-forms"]
    assert nearest("", names, 2) == []

    names = [f"skill-{n}" for n in range(5_000)] + ["pdf-forms"]

    assert nearest("pdf-from", names, 3) == ["pdf-forms"]


@pytest.mark.row("F08")
def test_names_that_look_the_same_come_first() -> None:
    """However accents are encoded, and among however many others."""
    names = [f"skill-{n}" for n in range(5_000)] + ["café-menü", "cafe-menu"]

    assert nearest("cafe\u0301-menu\u0308", names, 3) == ["café-menü"]
    assert nearest("CAFE-MENU", names, 3) == ["cafe-menu"]
