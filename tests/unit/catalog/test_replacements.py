"""Which listed skill replaces one that is gone."""

import pytest

from satchel.model import Catalog, Descriptor, Excluded

LISTED = Descriptor(id="new", description="d", replaces=("old", "older"))


def deprecated(id: str, replacement: str, *replaces: str) -> Excluded:
    entry = Descriptor(
        id=id, description="d", replaced_by=replacement, replaces=replaces
    )
    return Excluded(entry, "deprecated")


@pytest.mark.parametrize(
    ("id", "excluded", "replacement"),
    [
        ("old", (), "new"),
        ("older", (), "new"),
        ("new", (), ""),
        ("other", (), ""),
        ("gone", (deprecated("old", "new", "gone"),), "new"),
        ("gone", (deprecated("mid", "old", "gone"),), "new"),
        ("mid", (deprecated("mid", "new"),), "new"),
        ("mid", (deprecated("mid", "mid"),), ""),
        ("a", (deprecated("a", "b"), deprecated("b", "a")), ""),
        ("gone", (Excluded(LISTED, "disabled"),), ""),
    ],
)
def test_replacement_of(
    id: str, excluded: tuple[Excluded, ...], replacement: str
) -> None:
    assert Catalog((LISTED,), excluded).replacement_of(id) == replacement


def test_of_several_replacements_the_first_by_id_is_named() -> None:
    others = tuple(
        Descriptor(id=id, description="d", replaces=("old",)) for id in ("b", "a")
    )

    assert Catalog(others).replacement_of("old") == "a"


def test_a_long_line_of_replacements_is_not_followed_for_ever() -> None:
    line = tuple(deprecated(f"s{n}", f"s{n + 1}") for n in range(20))

    assert (
        Catalog((Descriptor(id="s20", description="d"),), line).replacement_of("s0")
        == ""
    )
