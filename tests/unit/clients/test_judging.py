"""What a loader found, judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from satchel.clients import Candidate, PackReader, ShownEntry
from satchel.clients._prediction import words_for
from tools.loaders.driver import Seen
from tools.loaders.expecting import expected_of
from tools.loaders.judging import NEIGHBOURS, Expected, judge, write_library
from tools.loaders.known import PAGE
from tools.loaders.packs import pack
from tools.loaders.table import render

if TYPE_CHECKING:
    from pathlib import Path

GOOD = tuple((name, "A good neighbour.") for name in NEIGHBOURS)
RIGHT = Expected(frozenset(["the-pack"]), "It counts  words")


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        ((*GOOD, ("the-pack", "It  counts\nwords ")), "loaded"),
        ((*GOOD, ("the-pack", None)), "loaded"),
        ((*GOOD, ("the-pack", "It counts...")), "cut"),
        ((*GOOD, ("the-pack", "")), "wrong"),
        ((*GOOD, ("the-pack", "It counts words and more")), "wrong"),
        ((*GOOD, ("another", "It counts words")), "wrong"),
        ((*GOOD, ("another", ""), ("the-pack", "It counts words")), "loaded"),
        (GOOD, "dropped"),
        (GOOD[:1], "breaks-neighbours"),
        ((("the-pack", "It counts words"), GOOD[1]), "breaks-neighbours"),
        ((), "breaks-neighbours"),
    ],
)
def test_a_verdict_is_what_its_meaning_says(
    found: tuple[tuple[str, str | None], ...], wanted: str
) -> None:
    assert judge(Seen(found), RIGHT).verdict == wanted


def test_a_notice_in_the_middle_is_a_cut() -> None:
    right = Expected(frozenset(["the-pack"]), "x" * 300)
    found = (*GOOD, ("the-pack", f"{'x' * 120} (some left out) {'x' * 50}"))

    assert judge(Seen(found), right).verdict == "cut"


def test_a_pack_without_a_description_is_wrong_wherever_it_is_listed() -> None:
    right = Expected(frozenset(["the-pack"]), None)

    assert judge(Seen((*GOOD, ("the-pack", "Something"))), right).verdict == "wrong"


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (ShownEntry("other", "It counts"), {}),
        (ShownEntry("the-pack", "It counts"), {"name": "folder"}),
        (ShownEntry("third", "It"), {"name": "other", "description": "other"}),
        (ShownEntry("other", ""), {"description": "nothing"}),
        (ShownEntry("other", "'It counts'"), {"description": "line"}),
        (ShownEntry(None, None), {}),
    ],
)
def test_what_is_listed_is_put_into_words(
    shown: ShownEntry, words: dict[str, str]
) -> None:
    reading = PackReader(pack("name: other\ndescription: 'It counts'"))

    assert words_for(shown, reading) == words


def test_a_long_beginning_is_measured_by_its_length() -> None:
    reading = PackReader(pack(f"name: the-pack\ndescription: {'x' * 200}"))

    assert words_for(ShownEntry("the-pack", "x" * 120), reading) == {
        "description": "first-120"
    }


@pytest.mark.parametrize(
    ("head", "names", "description"),
    [
        ("name: A_b\ndescription: x", {"A_b", "a-b", "the-pack"}, "x"),
        ("name: a\ndescription: x: y", {"a", "the-pack"}, "x: y"),
        ("name: a\ndescription: &b x", {"a", "the-pack"}, "&b x"),
        ("name: a", {"the-pack"}, None),
    ],
)
def test_what_is_right_is_what_satchel_reads(
    head: str, names: set[str], description: str | None
) -> None:
    expected = expected_of(pack(head))

    assert expected.names >= names
    assert expected.description == description


def test_a_library_has_the_pack_between_good_ones(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    candidate = Candidate(b"x", "p", "skill.md", depth=2, files=("a/b.txt",))
    write_library(library, candidate, with_neighbours=True)

    found = {path.relative_to(library).as_posix() for path in library.rglob("*.*")}
    assert found == {
        "aa-good-neighbour/SKILL.md",
        "group/p/a/b.txt",
        "group/p/skill.md",
        "zz-good-neighbour/SKILL.md",
    }


def test_a_linked_pack_lies_outside_the_library(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    write_library(library, Candidate(b"x", "p", is_link=True), with_neighbours=False)

    assert (library / "p").is_symlink()
    assert (library / "p" / "SKILL.md").read_bytes() == b"x"


def test_the_page_is_what_the_data_say() -> None:
    """Else run ``python -m tools.loaders table``."""
    assert PAGE.read_text("utf-8") == render()
