"""Who took the place of a skill that is gone."""

import pytest

from satchel.model import Catalog, Descriptor, Withheld

LISTED = Descriptor(id="new", description="d", replaces=("old", "older"))


def deprecated(id: str, heir: str, *replaces: str) -> Withheld:
    entry = Descriptor(id=id, description="d", replaced_by=heir, replaces=replaces)
    return Withheld(entry, "deprecated")


@pytest.mark.parametrize(
    ("id", "withheld", "heir"),
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
        ("gone", (Withheld(LISTED, "disabled"),), ""),
    ],
)
def test_heirs(id: str, withheld: tuple[Withheld, ...], heir: str) -> None:
    assert Catalog((LISTED,), withheld).heir_of(id) == heir


def test_of_several_heirs_the_first_by_id_is_named() -> None:
    others = tuple(
        Descriptor(id=id, description="d", replaces=("old",)) for id in ("b", "a")
    )

    assert Catalog(others).heir_of("old") == "a"


def test_a_long_line_of_heirs_is_not_followed_for_ever() -> None:
    line = tuple(deprecated(f"s{n}", f"s{n + 1}") for n in range(20))

    assert Catalog((Descriptor(id="s20", description="d"),), line).heir_of("s0") == ""
