"""Whatever bytes are handed over, unpacking ends in a plain pack or in our error."""

import io
import tarfile

import pytest
from hypothesis import given, strategies as st

from satchel.errors import ArchiveError, LimitExceededError, SkillError
from satchel.files import path_problem, unpack
from satchel.model import Limits
from tests.unit.files.archive_makers import (
    SKILL,
    Zipped,
    plain_tar,
    plain_zip,
    raw_tar,
    tar_block,
    zipped,
)

pytestmark = pytest.mark.property

LIMITS = Limits(archive_files=8, archive_bytes=100_000)
_PART = st.text(st.sampled_from("abÄß.-_ 你"), min_size=1, max_size=8)
PATHS = (
    st.lists(_PART, min_size=1, max_size=4)
    .map("/".join)
    .filter(lambda path: not path_problem(path))
)
NAMES = st.one_of(
    PATHS,
    st.text(max_size=20),
    st.lists(st.sampled_from(["..", ".", "", "a", "A", "C:", "\\"])).map("/".join),
)
SEEDS = [
    plain_zip(("SKILL.md", SKILL), ("a/b.md", b"x" * 99)),
    zipped(Zipped(flags=8, behind=b"PK\7\x08"), Zipped(b"a/", b"")),
    plain_tar(("SKILL.md", SKILL), ("a/b.md", b"x" * 99)),
]


def attempt(data: bytes) -> dict[str, bytes] | SkillError:
    """Return what comes out, or the refusal; anything else that is raised is wrong."""
    try:
        return unpack(data, limits=LIMITS)
    except (ArchiveError, LimitExceededError) as error:
        return error


def check(data: bytes) -> None:
    pack = attempt(data)
    if isinstance(pack, SkillError):
        assert str(pack).isprintable()
        return
    assert "SKILL.md" in pack
    assert len(pack) <= LIMITS.archive_files
    assert sum(map(len, pack.values())) <= LIMITS.archive_bytes
    assert len({path.casefold() for path in pack}) == len(pack)
    assert not any(map(path_problem, pack))


@given(
    data=st.binary(max_size=300), magic=st.sampled_from([b"PK\3\4", b"\x1f\x8b\x08"])
)
def test_any_bytes(data: bytes, magic: bytes) -> None:
    check(magic + data)


@given(
    seed=st.sampled_from(SEEDS),
    changes=st.lists(
        st.tuples(st.integers(0, 2_000), st.binary(max_size=4), st.integers(0, 4)),
        min_size=1,
        max_size=4,
    ),
)
def test_an_archive_with_a_few_other_bytes(
    seed: bytes, changes: list[tuple[int, bytes, int]]
) -> None:
    for place, new, old in changes:
        at = place % (len(seed) + 1)
        seed = seed[:at] + new + seed[at + old :]
    check(seed)


@given(
    changes=st.lists(
        st.tuples(
            st.one_of(st.integers(0, 511), st.sampled_from([100, 124, 148, 156, 345])),
            st.sampled_from([b"\0", b" ", b"/", b".", b"0", b"1", b"5", b"x", b"\xff"]),
        ),
        max_size=3,
    ),
    magic=st.sampled_from([b"ustar\x0000", b"ustar  \0"]),
)
def test_the_standard_library_reads_the_same(
    changes: list[tuple[int, bytes]], magic: bytes
) -> None:
    """A scanner that uses it sees every file that is handed out, or gets an error."""
    block = tar_block(b"docs/a.md", b"A" * 99, magic=magic, more=changes)
    data = raw_tar(tar_block(), block, tar_block(b"last.md", b"B"))
    pack = attempt(data)
    if isinstance(pack, SkillError):
        return
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        seen = {
            getmember.name.removeprefix("./"): content.read()
            for getmember in archive.getmembers()
            if getmember.isfile() and (content := archive.extractfile(getmember))
        }
    assert seen == pack


@given(
    names=st.lists(NAMES, max_size=6),
    kinds=st.lists(st.sampled_from([b"0", b"5", b"2", b"x", b"L", b"g"]), max_size=6),
)
def test_any_names(names: list[str], kinds: list[bytes]) -> None:
    raw = [name.encode("utf-8", "replace")[:100] for name in names]
    pairs = zip(raw, kinds, strict=False)
    check(raw_tar(tar_block(), *(tar_block(name, b"", kind) for name, kind in pairs)))
    check(zipped(Zipped(), *(Zipped(name, b"") for name in raw)))


@given(
    files=st.dictionaries(PATHS, st.binary(max_size=200), max_size=6),
    folder=st.sampled_from(["", "./", "a-folder/"]),
)
def test_what_tools_pack_comes_back(files: dict[str, bytes], folder: str) -> None:
    """Every byte of it; unless one of the paths is in the way of another."""
    pack = {"SKILL.md": SKILL, **files}
    members = [(folder + path, data) for path, data in pack.items()]
    for data in (plain_zip(*members), plain_tar(*members, style=2)):
        result = attempt(data)
        if isinstance(result, SkillError):
            reasons = ("on some systems", "not a folder", "twice", "archive_files")
            assert any(reason in str(result) for reason in reasons)
        else:
            assert result == pack
