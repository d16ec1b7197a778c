"""Reading one file, and nothing next to it: on both ways of opening."""

import errno
import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from satchel.errors import (
    LimitExceededError,
    ReferenceEscapesError,
    ReferenceNotFoundError,
    ReferenceUnreadableError,
)
from satchel.files import _confined as confined, read_confined

CAN_ASK = sys.platform in {"linux", "win32"}


@pytest.fixture(params=["open_by_fd", "open_by_real_path"], autouse=True)
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "open_by_real_path" and not CAN_ASK:
        pytest.skip("this system does not tell the path of an open file")
    if request.param == "open_by_fd" and not confined.HAS_DIR_FD:
        pytest.skip("this system cannot open relative to a folder")
    monkeypatch.setattr(confined, "_open", getattr(confined, request.param))


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """A pack next to a secret."""
    root = tmp_path / "pack"
    (root / "references").mkdir(parents=True)
    (root / "SKILL.md").write_bytes(b"skill")
    (root / "references" / "a.md").write_bytes(b"\xef\xbb\xbfa\r\n\xff")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "a.md").write_bytes(b"secret")
    return root


@pytest.mark.row("A05", "A14", "A20")
def test_bytes_are_exact(pack: Path) -> None:
    """From any folder; the root may be a link, and a hard link is a file.

    Anyone who can make one next to a file can read that file anyway.
    """
    (pack / "scripts").mkdir()
    os.link(pack / "SKILL.md", pack / "scripts" / "sandbox_runner.py")
    (pack.parent / "link").symlink_to("pack")
    data = b"\xef\xbb\xbfa\r\n\xff"

    assert read_confined(str(pack), "references/a.md", 7) == data
    assert read_confined(str(pack.parent), "a.md", 7, folder="pack/references") == data
    assert read_confined(str(pack), "scripts/sandbox_runner.py", 99) == b"skill"
    assert read_confined(str(pack.parent / "link"), "SKILL.md", 99) == b"skill"


@pytest.mark.row("A09", "R35")
@pytest.mark.parametrize(
    ("path", "link", "target"),
    [
        ("b.md", "b.md", "../secret/a.md"),
        ("b.md", "b.md", "SKILL.md"),
        ("b.md", "b.md", "/proc/self/environ"),
        ("dir/a.md", "dir", "../secret"),
        ("dir/a.md", "dir", "references"),
        ("references/x/a.md", "references/x", "../../secret"),
        ("b.md", "b.md", "b.md"),
        ("b.md", "b.md", "/dev/zero"),
    ],
)
def test_no_link_is_followed(pack: Path, path: str, link: str, target: str) -> None:
    """Not even one that stays inside: what a path names would depend on the target."""
    (pack / link).symlink_to(target)
    (pack.parent / "door").symlink_to("secret")

    with pytest.raises((ReferenceEscapesError, ReferenceUnreadableError)) as caught:
        read_confined(str(pack), path, 99)
    assert b"secret" not in repr(caught.value).encode()
    with pytest.raises(ReferenceEscapesError):
        read_confined(str(pack.parent), "a.md", 99, folder="door")


def _socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the address of a socket is short
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


@pytest.mark.row("A09")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("make", [os.mkfifo, _socket, Path.mkdir])
def test_only_regular_files(pack: Path, make: Callable[[Path], None]) -> None:
    """And at once: nobody waits for a writer."""
    make(pack / "thing")

    with pytest.raises(ReferenceEscapesError):
        read_confined(str(pack), "thing", 99)


@pytest.mark.row("F04")
def test_a_file_that_is_written_while_it_is_read_is_of_one_state(
    pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was long when its size was asked, and is so again after the first read."""
    short, long = b"short", b"a longer text"
    path, read = pack / "SKILL.md", os.read
    states = iter([short, long])

    def written_meanwhile(fd: int, size: int) -> bytes:
        path.write_bytes(next(states, long))
        return read(fd, size)

    path.write_bytes(long)
    monkeypatch.setattr(os, "read", written_meanwhile)

    assert read_confined(str(pack), "SKILL.md", 99) == long


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("none.md", ""),
        ("SKILL.md/a.md", ""),
        ("none/a.md", ""),
        ("a.md", "none"),
        ("a.md", "SKILL.md"),
    ],
)
def test_what_is_not_there_is_not_found(pack: Path, path: str, folder: str) -> None:
    with pytest.raises(ReferenceNotFoundError) as caught:
        read_confined(str(pack), path, 99, folder=folder, owner="pdf")

    assert (caught.value.name, caught.value.file) == ("pdf", path)


@pytest.mark.parametrize(
    ("path", "limit"), [("SKILL.md", "skill_md_bytes"), ("a", "file_bytes")]
)
def test_a_limit_names_itself(pack: Path, path: str, limit: str) -> None:
    (pack / path).write_bytes(b"12345")

    assert read_confined(str(pack), path, 5) == b"12345"
    with pytest.raises(LimitExceededError) as caught:
        read_confined(str(pack), path, 4)
    assert caught.value.args == (limit, 4, 5, "bytes", path)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux")
def test_files_without_a_size() -> None:
    """/proc says 0 and has more; the limit holds all the same."""
    assert read_confined("/proc/self", "status", 100_000).startswith(b"Name:")
    with pytest.raises(LimitExceededError):
        read_confined("/proc/self", "status", 10)


@pytest.mark.parametrize("size", [3, 9, 5])
def test_a_file_that_changes_while_it_is_read(
    pack: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Grown or shrunk since it was measured: what is there now is read to its end."""
    real = os.fstat

    def stale(fd: int) -> os.stat_result:
        status = list(real(fd))
        status[6] = size
        return os.stat_result(status)

    monkeypatch.setattr(os, "fstat", stale)

    assert read_confined(str(pack), "SKILL.md", 99) == b"skill"


@pytest.mark.row("G16")
@pytest.mark.parametrize("call", ["open", "read"])
def test_what_the_system_refuses(
    pack: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """The system's reason is told, without the absolute path that it names."""
    real = getattr(os, call)

    def refuse(path: str | int, *args: int, **kwargs: int) -> object:
        if call == "read" or str(path).endswith("SKILL.md"):
            raise PermissionError(errno.EACCES, "Permission denied", str(pack))
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, call, refuse)
    with pytest.raises(ReferenceUnreadableError) as caught:
        read_confined(str(pack), "SKILL.md", 99, owner="pdf")

    says = "'SKILL.md' of skill 'pdf' cannot be read: Permission denied"
    assert str(caught.value) == says


@pytest.fixture(autouse=True)
def _nothing_stays_open() -> Iterator[None]:
    """Whatever happened, every descriptor was closed."""
    if not Path("/proc/self/fd").is_dir():
        yield
        return
    before = len(list(Path("/proc/self/fd").iterdir()))
    yield
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


@pytest.mark.row("R35")
def test_a_file_that_does_not_tell_its_path(
    pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system cannot be asked, nothing is read."""

    def silent(_: int) -> str:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(confined, "_open", confined.open_by_real_path)
    monkeypatch.setattr(confined, "path_of", silent)
    with pytest.raises(ReferenceEscapesError):
        read_confined(str(pack), "SKILL.md", 99)
