"""Descriptions that are nearly the same are all found."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from satchel.checking._pack_facts import are_similar, similar_pairs

WORDS = "Read, fill in and check PDF forms of any office"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (WORDS, WORDS, True),
        (WORDS, WORDS.upper(), True),
        (WORDS, f"{WORDS} now", True),
        (WORDS, f"{WORDS} now and then, for whoever asks", False),
        (WORDS, "Translate letters from Latin to Greek for a museum", False),
        ("Use it", "Use it", False),  # too short to tell anything
        ("", "", False),
    ],
)
def test_what_is_alike(one: str, other: str, expected: bool) -> None:
    assert are_similar(one, other) is expected
    assert are_similar(other, one) is expected


@pytest.mark.property
@given(
    st.dictionaries(
        st.sampled_from("abcdefgh"),
        st.lists(st.sampled_from("stuvwxyz0123"), min_size=3, max_size=10).map(
            " ".join
        ),
        max_size=6,
    ),
    st.frozensets(st.sampled_from("abcdefgh")),
)
def test_no_pair_is_missed(texts: dict[str, str], fresh: frozenset[str]) -> None:
    expected = [
        (key, other)
        for key in sorted(fresh & texts.keys())
        for other in sorted(texts)
        if other != key
        and not (other in fresh and other > key)
        and are_similar(texts[key], texts[other])
    ]

    assert list(similar_pairs(texts, fresh)) == expected
