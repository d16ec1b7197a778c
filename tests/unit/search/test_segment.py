"""Segments: what is written is read, and what is damaged is noticed."""

import random

import pytest

from satchel.search._segment import InvalidSegment, Part, Place, Postings, Segment
from satchel.search._segment_folder import merge_segments
from tests.unit.search.segments import Indexed, write_segment

WORDS = [f"w{n}".encode() for n in range(40)]


def documents(count: int, seed: int = 0) -> list[Indexed]:
    rng = random.Random(seed)  # noqa: S311 - any numbers do
    return [
        Indexed(
            rng.randbytes(16),
            f"skill-{seed}-{n}",
            {word: rng.randrange(1, 4096) for word in rng.sample(WORDS, 7)},
        )
        for n in range(count)
    ]


def read(segment: Segment) -> list[Indexed]:
    """Return what it was written from."""
    terms: list[dict[bytes, int]] = [{} for _ in range(segment.documents)]
    for term in segment.terms():
        for posting in segment.postings(term):
            terms[posting >> 12][term] = posting & 4095
    return [
        Indexed(key, segment.id(at), found)
        for at, (key, found) in enumerate(zip(segment.keys(), terms, strict=True))
    ]


@pytest.mark.parametrize("count", [0, 1, 30])
def test_what_is_written_is_read(count: int) -> None:
    segment = Segment(write_segment(documents(count)))

    assert read(segment) == documents(count)
    assert list(segment.terms()) == sorted(segment.terms())
    assert list(segment.postings(b"unknown")) == []


def test_a_posting_has_its_fields_and_its_impact() -> None:
    one = Indexed(b"k" * 16, "a", {b"w": 0b1001 << 8 | 82, b"x": 0b0100 << 8 | 41})
    other = Indexed(b"l" * 16, "b\ud800", {b"v": 1})
    segment = Segment(write_segment([one, other]))
    postings = Postings([Part(segment)])
    terms = postings.terms(["w", "v", "x"], {"w": "w", "v": "v", "x": "x"})

    [(score, matches, _)] = postings.judge([Place("a", 0, 0)], terms)

    assert [(match.word, match.fields) for match in matches] == [
        ("w", ("name", "body")),
        ("x", ("keywords",)),
    ]
    assert matches[0].points == pytest.approx(2 * matches[1].points, abs=1e-5)
    assert score == pytest.approx(sum(match.points for match in matches), abs=1e-5)
    assert segment.id(1) == "b\ud800"


def test_merged_segments_hold_the_live_documents_of_all() -> None:
    first, second = documents(9, 1), documents(8, 2)
    parts = [
        (Segment(write_segment(first)), [1, 0, 1, 1, 0, 0, 1, 1, 1]),
        (Segment(write_segment(second)), [0, 1, 1, 1, 1, 1, 1, 0]),
    ]

    merged = merge_segments(parts)

    kept = [
        document
        for part, (_, live) in zip((first, second), parts, strict=True)
        for document, lives in zip(part, live, strict=True)
        if lives
    ]
    assert read(Segment(merged)) == kept
    assert merged == write_segment(kept)


def test_no_damage_goes_unnoticed() -> None:
    """Each byte, each cut, and what follows the end."""
    good = write_segment(documents(5))

    def is_accepted(data: bytes) -> bool:
        try:
            segment = Segment(data)
            read(segment)
        except InvalidSegment:
            return False
        return True

    assert is_accepted(good)
    for at in range(len(good)):
        bad = bytearray(good)
        bad[at] ^= 0x10
        assert not is_accepted(bytes(bad)), at
    for end in range(len(good)):
        assert not is_accepted(good[:end]), end
    assert not is_accepted(good + b"\0")
