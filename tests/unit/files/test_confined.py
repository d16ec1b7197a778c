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


@pytest.mark.row("A05", "A14")
def test_bytes_are_exact(pack: Path) -> None:
    assert read_confined(str(pack), "references/a.md", 7) == b"\xef\xbb\xbfa\r\n\xff"


@pytest.mark.row("A20")
def test_any_folder_is_accepted(pack: Path) -> None:
    (pack / "scripts").mkdir()
    (pack / "scripts" / "sandbox_runner.py").write_bytes(b"print()")

    assert read_confined(str(pack), "scripts/sandbox_runner.py", 99) == b"print()"


def test_a_folder_below_the_root(pack: Path) -> None:
    data = read_confined(str(pack.parent), "a.md", 99, folder="pack/references")

    assert data == b"\xef\xbb\xbfa\r\n\xff"


def test_the_root_itself_may_be_a_link(pack: Path) -> None:
    (pack.parent / "link").symlink_to("pack")

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

    with pytest.raises((ReferenceEscapesError, ReferenceUnreadableError)) as caught:
        read_confined(str(pack), path, 99)

    assert b"secret" not in repr(caught.value).encode()


def test_no_link_on_the_way_to_the_pack(pack: Path) -> None:
    (pack.parent / "door").symlink_to("secret")

    with pytest.raises(ReferenceEscapesError):
        read_confined(str(pack.parent), "a.md", 99, folder="door")


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the address of a socket is short
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


@pytest.mark.row("A09")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("make", [_fifo, _socket, Path.mkdir])
def test_only_regular_files(pack: Path, make: Callable[[Path], None]) -> None:
    """And at once: nobody waits for a writer."""
    make(pack / "thing")

    with pytest.raises(ReferenceEscapesError):
        read_confined(str(pack), "thing", 99)


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


def test_a_hard_link_is_a_file(pack: Path) -> None:
    """Anyone who can make one next to a file can read that file anyway."""
    os.link(pack / "SKILL.md", pack / "b.md")

    assert read_confined(str(pack), "b.md", 99) == b"skill"


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


@pytest.mark.parametrize(
    ("size", "data"), [(3, b"skill"), (9, b"skill"), (5, b"skill")]
)
def test_a_file_that_changes_while_it_is_read(
    pack: Path, monkeypatch: pytest.MonkeyPatch, size: int, data: bytes
) -> None:
    """Grown or shrunk since it was measured: what is there now is read to its end."""
    real = os.fstat

    def stale(fd: int) -> os.stat_result:
        status = list(real(fd))
        status[6] = size
        return os.stat_result(status)

    monkeypatch.setattr(os, "fstat", stale)

    assert read_confined(str(pack), "SKILL.md", 99) == data


@pytest.mark.row("G16")
def test_what_the_system_refuses(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's reason is told, without the absolute path that it names."""
    real = os.open

    def refuse(path: str, *args: int, **kwargs: int) -> int:
        if path.endswith("SKILL.md"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(ReferenceUnreadableError) as caught:
        read_confined(str(pack), "SKILL.md", 99, owner="pdf")

    assert (
        str(caught.value)
        == "'SKILL.md' of skill 'pdf' cannot be read: Permission denied"
    )


def test_a_disk_that_fails_while_reading(
    pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: int) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "read", fail)
    with pytest.raises(ReferenceUnreadableError):
        read_confined(str(pack), "SKILL.md", 99)


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
