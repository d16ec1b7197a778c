"""Search: engines agree, and how an index came about does not matter."""

import random
from array import array
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from satchel import Satchel
from satchel.model import Descriptor, Match
from satchel.search._documents import (
    Document,
    document_key,
    index_documents,
)
from satchel.search._numpy_engine import numpy_engine
from satchel.search._segment import (
    Part,
    Postings,
    Segment,
    array_engine,
)
from satchel.search._segment_folder import merge_segments
from satchel.search._words import Stemmer, bag_of_words, query_words, words_of
from tests.fakes import FakeSource, pack

pytestmark = [pytest.mark.slow, pytest.mark.property]

WORDS = ["form", "forms", "tax", "test", "testing", "do", "C", "go", "sql", "review"]
WORDS += ["deploy", "饺子", "做饺子", "the", "of"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
SKILLS = st.lists(st.tuples(TEXTS, TEXTS), max_size=12)


def documents(skills: Sequence[tuple[str, str]]) -> list[Document]:
    entries = [
        Descriptor(f"s{n:02}", text, keywords=(body[:3],), digest=body)
        for n, (text, body) in enumerate(skills)
    ]
    return [
        Document(document_key(entry, with_body=True), entry, entry.digest)
        for entry in entries
    ]


Ranked = list[tuple[str, float, tuple[Match, ...], float]]


def ranked(parts: Sequence[Part], query: str) -> Ranked:
    postings = Postings(parts)
    words = query_words(query)
    terms = postings.terms(words, Stemmer().stems(words))
    lists = [
        list(zip(best, postings.judge(best, terms), strict=True))
        for engine in (array_engine, numpy_engine)
        for best in [postings.best(terms, 5, engine)[1]]
    ]
    assert lists[0] == lists[1], "the engines agree"
    return [(place.id, *figures) for place, figures in lists[0]]


@given(SKILLS, st.randoms(use_true_random=False), TEXTS)
def test_an_incremental_index_gives_what_a_new_one_gives(
    skills: list[tuple[str, str]], rng: random.Random, query: str
) -> None:
    """Any documents in any segments, any dead ones between them, any merge."""
    pytest.importorskip("numpy")
    living = documents(skills)
    dead = [
        Document(b"x" * 16, Descriptor(f"s{n:02}", "dead " + text), text)
        for n, (text, _) in enumerate(skills)
    ]
    mixed = [(one, 1) for one in living] + [(one, 0) for one in dead]
    rng.shuffle(mixed)
    parts = [Part(Segment(index_documents(living).data()))]
    pieces: list[tuple[Segment, bytes]] = []
    while mixed:
        cut = rng.randint(1, len(mixed))
        piece, mixed = mixed[:cut], mixed[cut:]
        segment = Segment(index_documents(one for one, _ in piece).data())
        pieces.append((segment, bytes(lives for _, lives in piece)))
    merged = Segment(merge_segments(pieces))

    fresh = ranked(parts, query)

    assert fresh == ranked([Part(*piece) for piece in pieces], query)
    assert fresh == ranked([Part(merged)], query)


@given(
    st.lists(st.lists(st.integers(0, 2**12 - 1), min_size=30, max_size=30), max_size=6),
    st.integers(1, 40),
    st.binary(min_size=30, max_size=30).map(lambda b: bytes(x & 1 for x in b)),
    st.booleans(),
)
def test_both_engines_add_up_to_the_same(
    columns: list[list[int]], k: int, live: bytes, narrowed: bool
) -> None:
    pytest.importorskip("numpy")
    terms = [
        (
            memoryview(array("I", (d << 12 | v for d, v in enumerate(column) if v))),
            weight + 1,
        )
        for weight, column in enumerate(columns)
    ]
    some = live if narrowed else None

    assert array_engine(30, terms, some, k) == numpy_engine(30, terms, some, k)


@given(st.sampled_from(["do", "test", "C", "go"]), TEXTS, SKILLS)
def test_a_word_that_is_a_name_never_brings_its_skill_forward(
    name: str, query: str, skills: list[tuple[str, str]]
) -> None:
    """Next to other words of a query, an id counts as any other word of the skill."""
    packs: dict[str, dict[str, str | bytes]] = {
        f"s{n:02}": {"SKILL.md": pack(f"s{n:02}", text or "x", body + "\n")}
        for n, (text, body) in enumerate(skills)
    }
    packs["one"] = {"SKILL.md": pack(name, "Twin, prune fruit trees.")}
    packs["two"] = {"SKILL.md": pack("twin", f"{name}, prune fruit trees.")}

    hits = Satchel(FakeSource("s", packs)).find(f"{name} {query} unheard", 99)

    scores = {hit.id: hit.score for hit in hits}
    assert scores.get(name) == scores.get("twin")
    assert [hit.id for hit in hits] == sorted(scores, key=lambda i: (-scores[i], i))


SIGNS = st.text(
    "abABc+#.@$ 19_-é\u0301\u0345İΣς½\u00a0\u2028用的①ﬁ가각ｱ㍿・'’→😀\n\t.\x1c\x85"
)


@given(SIGNS | st.text())
def test_a_bag_has_the_words_of_the_text(text: str) -> None:
    words = [word for word in words_of(text) if word[0] not in ".@$"]

    assert sorted(bag_of_words(text)) == sorted(words)
