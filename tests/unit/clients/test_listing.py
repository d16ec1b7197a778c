"""What clients show of whole libraries: the rules, and what was recorded."""

import json
import unicodedata
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from satchel_lab.clients import (
    LISTING_STATES,
    WINDOWS,
    Candidate,
    LibrarySkill,
    ListingRule,
    choose_loaders,
    listing_rules,
    predict,
    predict_listing,
    read_skill,
    unknown_rule,
)
from satchel_lab.clients._listing import rules_from_json
from satchel_lab.clients._listing_rules import columns_of
from tools.listings.clients import CLIENTS
from tools.listings.judging import digest_of, predicted, rows_of
from tools.listings.libraries import KINDS, made, named
from tools.listings.recording import read_recorded
from tools.listings.registered import LISTERS


def rule(kind: str, **numbers: object) -> ListingRule:
    return ListingRule(
        "made-up", "Made up", "1", "measured", "2026-11-23", kind, numbers=numbers
    )


def skills(*descriptions: str) -> list[LibrarySkill]:
    return [
        LibrarySkill(f"s{at}", text, f"s{at}") for at, text in enumerate(descriptions)
    ]


def shown(rule: ListingRule, some: list[LibrarySkill], window: int = 1000) -> list[Any]:
    """Return the name, state and text of each."""
    listing = predict_listing(rule, some, window)
    return [(one.skill.name, one.state, one.text) for one in listing.skills]


# The others take as long, and have simpler rules.
OFTEN = {"claude-code", "codex"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "key",
    [
        pytest.param(key, marks=() if key in OFTEN else pytest.mark.hostile)
        for key in sorted(read_recorded())
    ],
)
def test_the_rule_says_what_was_recorded(key: str) -> None:
    """Every name and text of the made-up libraries, in the client's order.

    A framework may refuse a library for what nothing measured of one pack shows.
    """
    client, entry = LISTERS[key], read_recorded()[key]
    right: list[bool] = []
    for window, rows in entry["windows"].items():
        for name, (*_, digest) in rows.items():
            if name.split("-")[-2] == "400" and window != "200000":
                continue  # the largest take long
            listing = predicted(client, named(name), int(window))
            right.append(digest_of(client, rows_of(client, listing.skills)) == digest)

    assert sum(right) / len(right) >= (1 if key in CLIENTS else 0.8)


def test_every_rule_is_dated_and_says_how_it_is_known() -> None:
    """A measured one also says how often it was right, at each window."""
    for known in listing_rules().values():
        assert date.fromisoformat(known.checked) <= date(2100, 1, 1)
        assert known.version
        assert known.source
        assert known.how in ("measured", "documented")
        if known.how == "measured":
            assert known.agreed
            for right, count in known.agreed.values():
                assert right / count >= (0.97 if known.key in CLIENTS else 0.85)


def test_another_schema_is_refused() -> None:
    """A file of a later version is not half read."""
    with pytest.raises(ValueError, match="schema_version"):
        rules_from_json({"schema_version": 2, "clients": {}})


def test_all_are_shown_up_to_a_length() -> None:
    """The end counts; a character outside the basic plane counts twice."""
    cut = rule("whole", most_chars=10, end="...")

    assert shown(cut, skills("0123456789", "0123456789a", "🙂🙂🙂🙂🙂🙂")) == [
        ("s0", "shown", "0123456789"),
        ("s1", "shortened", "0123456..."),
        ("s2", "shortened", "🙂🙂🙂..."),
    ]


def test_names_come_first_and_a_shorter_description_still_fits() -> None:
    """What has no room is named, and the next one may have some."""
    client = rule(
        "names-then-descriptions",
        fraction=0.1,
        chars_per_token=1,
        own_columns=72,
        by="folder",
    )

    assert shown(client, skills("1234567", "12345678", "1", "12345678")) == [
        ("s0", "shortened", ""),
        ("s1", "shortened", ""),
        ("s2", "shown", "1"),
        ("s3", "shortened", ""),
    ]


def test_shares_are_equal_and_short_ones_leave_the_rest_to_others() -> None:
    """One character at a time, in order."""
    client = rule(
        "equal-shares", percent=10, most_window=1000, own_skills=[], by="name"
    )
    texts = skills("a" * 400, "b" * 8, "c" * 400)

    found = shown(client, texts)

    assert found[1] == ("s1", "shown", "b" * 8)
    assert abs(len(found[0][2]) - len(found[2][2])) <= 4
    assert found[0][1] == "shortened"


def test_names_that_find_no_room_are_left_out_last() -> None:
    """The own skills of the client come first."""
    client = rule(
        "equal-shares", percent=10, most_window=200, own_skills=[["own", 9]], by="name"
    )

    found = shown(client, skills("one", "two", "three", "four"))

    assert [state for _, state, _ in found] == [
        "shortened",
        "left-out",
        "left-out",
        "left-out",
    ]


def test_advice_is_exact() -> None:
    """With so many characters all are shown whole, and with one more they are not."""
    client = rule(
        "equal-shares", percent=2, most_window=10**6, own_skills=[], by="name"
    )
    some = skills(*("word " * size for size in (5, 60, 90, 120)))
    listing = predict_listing(client, some, 8000)

    def is_whole(chars: int) -> bool:
        cut = [replace(skill, description=skill.description[:chars]) for skill in some]
        return not predict_listing(client, cut, 8000).of("shortened")

    assert listing.most_chars is not None
    assert is_whole(listing.most_chars)
    assert not is_whole(listing.most_chars + 1)
    assert all(
        len(skill.description) > listing.most_chars for skill in listing.to_shorten
    )
    assert predict_listing(client, some[: listing.most_skills], 8000).most_chars is None


def test_nothing_to_do_where_all_fit() -> None:
    """There is no advice."""
    listing = predict_listing(rule("whole"), skills("one", "two"), 1000)

    assert (listing.most_chars, listing.most_skills, listing.to_shorten) == (
        None,
        None,
        (),
    )


@pytest.mark.slow
@pytest.mark.parametrize("key", sorted(listing_rules()))
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_shuffled_skills_give_the_same_listing(key: str, kind: str) -> None:
    """The order in which a library is read counts for nothing."""
    some = [
        LibrarySkill(p.folder, p.text[:300], p.folder) for p in made(kind, 40, 3).packs
    ]

    one, two = (
        predict_listing(listing_rules()[key], order, 128_000)
        for order in (some, some[::-1])
    )

    assert one == two


@pytest.mark.parametrize("key", sorted(listing_rules()))
def test_a_larger_window_never_shows_less(key: str) -> None:
    """More room is more text, skill by skill not less listed."""
    some = [
        LibrarySkill(p.folder, p.text[:400], p.folder)
        for p in made("long", 100, 3).packs
    ]

    listings = [
        predict_listing(listing_rules()[key], some, size) for size in WINDOWS.values()
    ]
    sizes = [sum(len(one.text) for one in each.skills) for each in listings]

    assert sizes == sorted(sizes)


def test_an_unknown_client_shows_nothing_that_is_made_up() -> None:
    """No rule, no states."""
    (loader,) = choose_loaders(["skills-ref"])
    listing = predict_listing(unknown_rule(loader), skills("one"), 1000)

    assert not listing.is_known
    assert [listing.of(state) for state in LISTING_STATES] == [(), (), ()]


PACK = "---\nname: {name}\ndescription: {text}\n---\n# Title\n"


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        (
            "codex",
            PACK.format(name="a", text="Do it."),
            LibrarySkill("a", "Do it.", "a"),
        ),
        ("codex", "---\nname: a\n---\n# Title\n", None),
        (
            "claude-code",
            "---\nname: a\ndescription: Do it.\nwhen_to_use: Now.\n---\n# Title\n",
            LibrarySkill("a", "Do it.", "a", "Now."),
        ),
        (
            "codex",
            PACK.format(name="a", text="x" * 1500),
            LibrarySkill("a", "x" * 1500, "a"),
        ),
    ],
)
def test_a_pack_as_a_client_reads_it(
    key: str, text: str, expected: LibrarySkill | None
) -> None:
    """Packs that a client drops are in no list; a long description is for the rule."""
    candidate = Candidate(text.encode(), "a")
    (prediction,) = predict(candidate, choose_loaders([key]))

    assert read_skill(candidate, prediction) == expected


@pytest.mark.parametrize(
    ("text", "columns"),
    [("abc", 3), ("a\nb\x7f", 2), ("表", 2), ("é", 1), ("e\u0301", 1), ("", 0)],
)
def test_columns(text: str, columns: int) -> None:
    """Control and combining characters take none."""
    assert columns_of(text) == columns
    assert columns_of(unicodedata.normalize("NFC", text)) == columns


def test_the_data_is_small_and_has_no_text_of_others() -> None:
    """Counts and digests alone."""
    for entry in read_recorded().values():
        for rows in entry["windows"].values():
            for name, (*counts, digest) in rows.items():
                assert sum(counts) <= int(name.split("-")[-2])
                assert len(json.dumps(digest)) == 14
