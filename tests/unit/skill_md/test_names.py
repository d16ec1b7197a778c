"""A name is a key: what makes it clean, and how long it may be."""

import pytest

from satchel.model import Limits
from satchel.skill_md import parse
from tests.fakes import pack


def _codes(name: str, **options: object) -> list[tuple[str, str]]:
    parsed = parse(pack(name).encode(), directory="folder", **options)  # type: ignore[arg-type]
    return [(each.severity, each.code) for each in parsed.findings]


@pytest.mark.row("E01", "G17")
@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("folder\u200b", "folder"),
        ('"fol\\u202Eder"', "folder"),
        ('"\\U000E0041folder\\e"', "folder"),
        ('"fol\\u3164der"', "folder"),
        ('"folder\\n "', "folder"),
    ],
)
def test_hidden_characters_are_left_out_of_a_name(written: str, name: str) -> None:
    """Else a pack could look as if it bore another's name, and be another key."""
    parsed = parse(pack(written).encode(), directory="folder")

    assert parsed.manifest is not None
    assert parsed.manifest.name == name


def test_what_was_left_out_is_reported_with_its_line() -> None:
    parsed = parse(pack('"fol\\u202Eder"').encode(), directory="folder")

    (reported,) = [each for each in parsed.findings if each.code == "hidden-text"]
    assert (reported.severity, reported.line) == ("warning", 2)
    assert reported.message == "the name holds 1 bidirectional control, left out of it"

    assert ("warning", "hidden-text") not in _codes("caf\u00e9-\U0001f600")


def test_a_name_of_nothing_is_the_folders_if_that_has_one() -> None:
    parsed = parse(pack("\u200b").encode(), directory="folder")

    assert parsed.manifest is not None
    assert parsed.manifest.name == "folder"

    parsed = parse(b"---\ndescription: x\n---\n", directory="  ")

    assert parsed.manifest is None
    assert [each.code for each in parsed.findings] == ["missing-name"]


@pytest.mark.parametrize(("chars", "taken"), [(255, True), (256, False)])
def test_a_name_has_a_limit(chars: int, taken: bool) -> None:
    """A name is never cut to fit a budget, so one that fills it would fill it alone."""
    parsed = parse(pack("a" * chars).encode())

    assert (parsed.manifest is not None) is taken
    if not taken:
        assert parsed.findings[0].message == (
            "256 characters exceed the limit name_chars = 255 characters"
        )


def test_the_limit_of_a_name_can_be_set() -> None:
    codes = _codes("a" * 300, limits=Limits(name_chars=300))

    assert ("error", "limit-exceeded") not in codes
