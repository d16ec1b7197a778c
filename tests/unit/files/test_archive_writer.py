"""Archives: equal files give equal bytes, and any program unpacks them."""

import gzip
import io
import tarfile

import pytest

from satchel.files import digest_bytes
from satchel_store.archives import archive_problem, tar_gz

LONG = f"{'f' * 100}/{'g' * 54}/{'n' * 100}"
FILES = [
    ("SKILL.md", b"# Do\r\n"),
    ("references/Über.md", b"\xff" * 70_000),
    ("empty.txt", b""),
    (LONG, b"long"),
]


def members(data: bytes) -> list[tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        return archive.getmembers()


def test_what_went_in_comes_out() -> None:
    """In one order, and with nothing of the machine."""
    data = tar_gz(FILES)
    assert tar_gz(reversed(FILES)) == data
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        out = {
            item.name: taken.read()
            for item in archive
            if (taken := archive.extractfile(item))
        }
    assert out == dict(FILES)
    assert list(out) == sorted(out)
    for member in members(data):
        assert member.isreg()
        assert not member.name.startswith("./")
        assert not member.pax_headers
        assert (member.mode, member.mtime, member.uid, member.gid) == (0o644, 0, 0, 0)
        assert (member.uname, member.gname) == ("", "")


def test_the_bytes_are_these_on_any_machine() -> None:
    """They are no matter of the zlib, the Python or the system; ids depend on them."""
    data = tar_gz([("SKILL.md", b"# Do\n"), ("a/b.txt", b"x" * 66_000)])

    assert digest_bytes(data) == (
        "sha256:98b38e912d657b27bdf119f228083ebeaf35fddd9e4b385c942bb430c9dd5178"
    )
    assert data[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"


@pytest.mark.parametrize("size", [0, 1, 511, 512, 513, 8_703, 8_704, 9_216])
def test_the_size_is_a_whole_number_of_records(size: int) -> None:
    data = gzip.decompress(tar_gz([("a", bytes(size))]))

    assert len(data) % tarfile.RECORDSIZE == 0
    assert data.endswith(bytes(2 * tarfile.BLOCKSIZE))
    assert len(gzip.decompress(tar_gz([]))) == tarfile.RECORDSIZE


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("n" * 100, ""),
        ("n" * 101, "too long"),
        (LONG, ""),
        (f"{'f' * 156}/n", "too long"),
        ("ü" * 51, "too long"),
        ("./a", "does not begin"),
        ("/a", "does not begin"),
        ("\ud800", "Unicode"),
    ],
)
def test_a_path_that_no_archive_takes_is_reported(path: str, problem: str) -> None:
    assert problem in archive_problem(path)
    assert bool(problem) == bool(archive_problem(path))
    if problem:
        with pytest.raises(ValueError, match=problem):
            tar_gz([(path, b"")])


def test_a_file_that_is_too_large_for_the_header_is_reported() -> None:
    assert archive_problem("a", 8**11 - 1) == ""
    assert "8,589,934,591 bytes" in archive_problem("a", 8**11)
    with pytest.raises(ValueError, match="given twice"):
        tar_gz([("a", b"1"), ("a", b"2")])
