"""What a section says of each skill where not all descriptions have room."""

import re

import pytest
from hypothesis import given, strategies as st

from satchel.model import Catalog, Descriptor, Rendered
from satchel.prompt import render
from satchel.prompt._telling import TellingWords
from satchel.search import SegmentRanker

THINGS = ("invoice", "harbor", "violin", "glacier", "saddle", "turbine", "orchid")


def catalog_of(count: int, text: str, id: str = "skill-{}") -> Catalog:
    """Return skills whose descriptions differ in one word, ``{}`` in the text."""
    rows = ((id.format(f"{n:04}"), f"{THINGS[n % 7]}{n:04}") for n in range(count))
    return Catalog(tuple(Descriptor(name, text.format(word)) for name, word in rows))


def lines_of(section: Rendered) -> dict[str, str]:
    lines = re.findall(r"(?m)^- ([^:\n]+)(?:: (.*))?$", str(section))
    return dict(lines)


@pytest.mark.row("T13", "N06", "F89")
@pytest.mark.parametrize(
    "text",
    [
        "Use this skill when the user wants to do anything at all with a {}.",
        "This skill helps you with all that one can do, and with the {} of it.",
        "Comprehensive, production-ready guide to the {} and all of its parts.",
        "Use when you need a {}. Do not use it for anything else whatsoever.",
    ],
)
@pytest.mark.parametrize("count", [300, 400])
def test_what_is_shown_finds_the_skill(count: int, text: str) -> None:
    """Search over the lines alone; the first words of all of them are equal."""
    catalog = catalog_of(count, text)

    section = render(catalog)
    lines = lines_of(section)

    shown = Catalog(tuple(Descriptor(id, words) for id, words in lines.items()))
    ranker = SegmentRanker()
    for entry in catalog.entries[:: count // 20]:
        word = next(w for w in re.findall(r"\w+", entry.description) if w[-1].isdigit())
        assert [hit.id for hit in ranker.rank(shown, word, 1)] == [entry.id]
    assert len(lines) == count
    assert section.names_only == section.left_out == ()
    assert 3_800 < section.tokens <= 4_000
    assert f"{len(section.shortened)} descriptions are cut short" in str(section)


@pytest.mark.row("T13", "E30", "F89")
def test_of_a_thousand_skills_most_are_listed() -> None:
    catalog = catalog_of(1_000, "Use when you need a {}.", "a-long-name-of-{}")

    section = render(catalog, featured=["a-long-name-of-0900"])

    listed = lines_of(section)
    assert 500 < len(listed) < 1_000
    assert len(section.left_out) == 1_000 - len(listed)
    assert next(iter(listed.items())) == (
        *("a-long-name-of-0900", "Use when you need a saddle0900."),
    )
    assert section.shortened
    assert section.names_only
    left, bare = len(section.left_out), len(section.names_only)
    note = str(section).split("\n")[1]
    assert note.startswith("1 skill, pinned or in use, is first. ")
    assert f", {bare} are left out, {left} more skills are not listed; " in note
    assert "call find_skills first" in note
    # One skill more, and it would be a list of some among very many.
    larger = catalog_of(3_000, "Use when you need a {}.", "a-long-name-of-{}")
    assert "too many to list" in str(render(larger))


@pytest.mark.row("T13")
@pytest.mark.parametrize(
    ("id", "description", "words", "text"),
    [
        ("pdf", "Use when the user has a PDF form to fill in.", 9, None),
        ("pdf", "Fills in a PDF form.", 2, "Fills form"),
        ("x", "Reads forms, tables and maps.", 9, None),
        ("x", "Reads forms, tables and maps.", 4, "Reads forms, tables maps"),
        # What it is not for is no word of it, nor what another skill is for.
        ("x", "Draws maps. Do not use it for charts.", 2, "Draws maps"),
        ("x", "Draws maps instead of charts; prints them", 3, "Draws maps prints"),
        (
            "x",
            "\u7ed8\u5236\u5730\u56fe\uff0c\u4e0d\u8981\u7528\u4e8e\u56fe\u8868",
            1,
            "\u7ed8\u5236\u5730\u56fe",
        ),
        ("x", "A/B tests in C# and C++", 3, "A/B tests C#"),
        ("x", "", 1, ""),
        ("x", "Use it.", 0, ""),
        ("x", "Use it.", 1, "Use it."),
    ],
)
def test_words_keep_their_order(
    id: str, description: str, words: int, text: str | None
) -> None:
    others = ["Use when the user has a question of any kind."] * 9
    telling = TellingWords([id, *"abcdefghi"], [description, *others])

    assert telling.text(0, words) == (description if text is None else text)


texts = st.text(
    st.sampled_from("aB1 .,;\u7684\u5730\u56fe<&:-/'\u200c\u00e9"), max_size=40
)


@pytest.mark.row("F89")
@given(
    st.lists(st.tuples(st.text("abc", min_size=1, max_size=3), texts), min_size=1),
    st.integers(40, 400),
    st.integers(0, 3),
)
def test_every_length_is_a_part_of_it_and_within_the_budget(
    skills: list[tuple[str, str]], budget: int, featured: int
) -> None:
    rows = {f"{id}{n}": text for n, (id, text) in enumerate(skills * 5)}
    catalog = Catalog(tuple(Descriptor(*row) for row in sorted(rows.items())))
    first = list(rows)[:featured]

    section = render(catalog, budget_tokens=budget, featured=first)

    assert section.tokens <= budget
    assert section == render(catalog, budget_tokens=budget, featured=first)
    cut = (*section.shortened, *section.names_only, *section.left_out)
    assert len({*cut}) == len(cut)
    assert not {*first} & {*section.shortened, *section.names_only}
    telling = TellingWords(list(rows), list(rows.values()))
    counts = [telling.order.count(at) for at in range(len(rows))]
    for at, text in enumerate(rows.values()):
        assert telling.text(at, counts[at]) == text
        for number in range(counts[at]):
            part = iter(text)
            assert all(sign in part for sign in telling.text(at, number) if sign != " ")
