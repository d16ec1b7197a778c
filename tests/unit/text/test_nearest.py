"""The names that somebody may have meant, among few and among thousands."""

from satchel.text.nearest import nearest


def test_the_closest_come_first() -> None:
    names = ["sql-style", "pdf-form", "pdf-forms", "travel"]

    assert nearest("pdf-fromm", names, 2) == ["pdf-form", "pdf-forms"]
    assert nearest("", names, 2) == []


def test_a_slip_is_found_among_thousands() -> None:
    """Of which only some are compared letter by letter."""
    names = [f"skill-{n}" for n in range(5_000)] + ["pdf-forms"]

    assert nearest("pdf-from", names, 3) == ["pdf-forms"]
