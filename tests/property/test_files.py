"""No path and no archive leaves its folder."""

import io
import os
import tarfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, strategies as st

from satchel.errors import ArchiveError, LimitExceededError, SkillError
from satchel.files import _confined as confined, path_problem, read_confined
from satchel.model import Limits
from satchel.sources import LocalSource
from satchel.testing import ESCAPES
from satchel_store.archives import unpack
from tests.unit.files.archive_makers import (
    SKILL,
    Zipped,
    plain_tar,
    plain_zip,
    raw_tar,
    tar_block,
    zipped,
)

pytestmark = [pytest.mark.slow, pytest.mark.property]


SECRET = b"this was outside"

_PARTS = st.one_of(
    st.sampled_from(
        ["..", ".", "", "pack", "secret", "a.md", "up", "door", "self", "SKILL.md"]
    ),
    st.sampled_from(["%2e%2e", "..\\", "C:", "NUL", "\0", "~", "/", "//", "\ud800"]),
    st.text(max_size=5),
)
PATHS = st.one_of(
    st.lists(_PARTS, max_size=6).map("/".join),
    st.text(max_size=30),
    st.sampled_from(ESCAPES),
)


@pytest.fixture(scope="module")
def pack() -> Iterator[Path]:
    """A pack full of ways out, next to a secret."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "pack" / "references").mkdir(parents=True)
        (root / "secret").mkdir()
        for path in ("secret/a.md", "secret/SKILL.md", "a.md", "SKILL.md"):
            (root / path).write_bytes(SECRET)
        for path in ("pack/a.md", "pack/SKILL.md", "pack/references/a.md"):
            (root / path).write_bytes(b"inside")
        for link, target in (
            ("up", ".."),
            ("door", "../secret"),
            ("out.md", "../secret/a.md"),
            ("self", "."),
            ("references/up", "../.."),
        ):
            (root / "pack" / link).symlink_to(target)
        yield root / "pack"


@pytest.mark.row("A09", "A13")
@pytest.mark.parametrize("way", ["open_by_fd", "open_by_real_path"])
@given(path=PATHS)
@example(path="door/a.md")
@example(path="references/up/secret/a.md")
def test_no_path_reads_outside(way: str, pack: Path, path: str) -> None:
    """It gives bytes of the pack, or one of our errors; on both ways of opening."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confined, "_open", getattr(confined, way))
        try:
            data = read_confined(str(pack), path, 100)
        except SkillError:
            return

    assert data == b"inside"
    assert path_problem(path) == ""


@given(key=PATHS, path=PATHS)
def test_no_key_reads_outside(pack: Path, key: str, path: str) -> None:
    source = LocalSource(pack)
    seen: set[bytes] = set()
    with suppress(SkillError):
        seen.add(source.read(key, path, 100))
    with suppress(SkillError):
        seen.add(source.manifest(key))

    assert seen <= {b"inside"}


@given(path=PATHS)
def test_a_plain_path_means_the_same_everywhere(path: str) -> None:
    """What is let through is what it looks like: joined, it stays below the folder."""
    if path_problem(path) == "":
        joined = os.path.normpath(os.path.join("/root/pack", path))  # noqa: PTH118

        assert joined == f"/root/pack/{path}"
        assert path.encode().decode() == path


@pytest.mark.row("A09")
@pytest.mark.parametrize("way", ["open_by_fd", "open_by_real_path"])
def test_links_that_are_exchanged_while_we_read(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder and a link to the secret change places as fast as they can."""
    if way == "open_by_fd" and not confined.HAS_DIR_FD:
        pytest.skip("this system cannot open relative to a folder")
    monkeypatch.setattr(confined, "_open", getattr(confined, way))
    good, evil, door = (tmp_path / "pack" / name for name in ("good", "evil", "door"))
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "a.md").write_bytes(SECRET)
    good.mkdir(parents=True)
    (good / "a.md").write_bytes(b"inside")
    evil.symlink_to("../secret")
    done = threading.Event()

    def exchange() -> None:
        while not done.is_set():
            for each in (good, evil):
                each.rename(door)
                door.rename(each)

    thread = threading.Thread(target=exchange)
    thread.start()
    seen: set[bytes] = set()
    try:
        for _ in range(20_000):
            try:
                seen.add(read_confined(str(tmp_path / "pack"), "door/a.md", 100))
            except SkillError:
                continue
    finally:
        done.set()
        thread.join()

    assert seen <= {b"inside"}


LIMITS = Limits(archive_files=8, archive_bytes=100_000)
_PART = st.text(st.sampled_from("abÄß.-_ 你"), min_size=1, max_size=8)
ARCHIVE_PATHS = (
    st.lists(_PART, min_size=1, max_size=4)
    .map("/".join)
    .filter(lambda path: not path_problem(path))
)
NAMES = st.one_of(
    ARCHIVE_PATHS,
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
    files=st.dictionaries(ARCHIVE_PATHS, st.binary(max_size=200), max_size=6),
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
