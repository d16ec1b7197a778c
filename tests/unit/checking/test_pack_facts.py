"""What is compared of two states of a pack: bytes, programs, descriptions."""

import os
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from satchel.files import digest_bytes
from satchel.model import DEFAULT_LIMITS, Limits
from satchel_lab.checking._library import PackFolder, open_library
from satchel_lab.checking._pack_facts import (
    PackFacts,
    are_similar,
    pack_facts,
    similar_pairs,
)
from tests.unit.checking.history import write


def facts(folder: Path, limits: Limits = DEFAULT_LIMITS) -> PackFacts:
    place = PackFolder(str(folder), "s")
    with open_library([place], profile="spec", limits=DEFAULT_LIMITS) as library:
        return pack_facts(library, limits)["s/a"]


@pytest.mark.parametrize(
    ("path", "data", "why"),
    [
        ("scripts/a.txt", b"x", "scripts/"),
        ("scripts/a.sh", b"#!/bin/sh", "#!, scripts/, .sh"),
        ("a", b"#!/bin/sh", "#!"),
        ("a.PY", b"", ".py"),
        (".hidden/a.js", b"", ".js"),
        ("a.bin", b"MZ", "PE, .bin"),
        ("a.md", b"# A", ""),
        ("a.md", b"\x7fELF", "ELF"),
    ],
)
def test_what_runs_is_known_by_its_look(
    tmp_path: Path, path: str, data: bytes, why: str
) -> None:
    file = write(tmp_path, "a") / path
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data)
    found = facts(tmp_path).programs

    assert [shown for _, shown in found.values()] == ([why] if why else [])


def test_a_change_of_any_file_is_a_change(tmp_path: Path) -> None:
    pack = write(tmp_path, "a")
    seen = {facts(tmp_path).digest}
    for path, text in product(("x", ".env", "deep/y"), "12"):
        (pack / path).parent.mkdir(exist_ok=True)
        (pack / path).write_text(text)
        seen.add(facts(tmp_path).digest)

    assert len(seen) == 7


def test_what_is_not_file_is_left_out(tmp_path: Path) -> None:
    pack = write(tmp_path, "a")
    before = facts(tmp_path)
    (pack / "link").symlink_to("SKILL.md")
    os.mkfifo(pack / "pipe")
    (pack / ".git").mkdir()
    (pack / ".git" / "run.sh").write_text("x")

    assert facts(tmp_path) == before


def test_a_file_that_is_too_large_is_known_by_its_size(tmp_path: Path) -> None:
    small = Limits(file_bytes=200)
    file = write(tmp_path, "a") / "scripts" / "large"
    file.parent.mkdir()
    states: list[PackFacts] = []
    for data in (b"1" * 300, b"2" * 300, b"2" * 301):
        file.write_bytes(data)
        states.append(facts(tmp_path, small))
    first, same, longer = states

    assert first == same
    assert first.digest != longer.digest
    assert first.programs == {"scripts/large": ("300 bytes", "scripts/")}


def test_no_more_files_than_a_pack_may_have_are_read(tmp_path: Path) -> None:
    pack = write(tmp_path, "a")
    for number in range(9):
        (pack / f"{number}.sh").write_text("x")

    assert len(facts(tmp_path, Limits(pack_files=4)).programs) == 4


def pointer_to(data: bytes, oid: str = "") -> bytes:
    """Return what git-lfs keeps in place of a large file."""
    version = "version https://git-lfs.github.com/spec/v1"
    return f"{version}\noid {oid or digest_bytes(data)}\nsize {len(data)}\n".encode()


@pytest.mark.parametrize(
    ("kept", "checked_out", "same"),
    [
        (b"a\nb\n", b"a\r\nb\r\n", True),
        (b"a\nb\n", b"a\rb\n", False),
        (b"\0a\nb\n", b"\0a\r\nb\r\n", False),
        (pointer_to(b"large\n"), b"large\n", True),
        (pointer_to(b"large\n"), b"other\n", False),
        (pointer_to(b"x" * 160), b"x" * 160, True),
        (pointer_to(b"x" * 160), b"x" * 161, False),
        (pointer_to(b"large\n", "md5:1"), b"large\n", False),
    ],
)
def test_what_a_checkout_turns_is_not_change(
    tmp_path: Path, kept: bytes, checked_out: bytes, same: bool
) -> None:
    """Line ends, and the pointers that git keeps in place of large files."""
    file = write(tmp_path, "a") / "x.dat"
    limits = replace(DEFAULT_LIMITS, file_bytes=150)
    file.write_bytes(kept)
    before = facts(tmp_path, limits).digest
    file.write_bytes(checked_out)

    assert (facts(tmp_path, limits).digest == before) is same


WORDS = "Read, fill in and check PDF forms of any office"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (WORDS, WORDS, True),
        (WORDS, WORDS.upper(), True),
        (WORDS, f"{WORDS} now", True),
        (WORDS, f"{WORDS} now and then, for all who ask", False),
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
