"""A file is read by one open, or by none, only if it is the very one that was seen."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from satchel.errors import LimitExceededError, SkillError
from satchel.files import mark_of, read_seen
from satchel.model import Found
from satchel.sources import LocalSource, _local

# Longer than that of Linux, and shorter than what `is_settled` waits.
TICK_NS = 40_000_000


def found(folder: Path) -> tuple[LocalSource, Found]:
    (folder / "group" / "pack").mkdir(parents=True)
    (folder / "group" / "pack" / "SKILL.md").write_bytes(b"---\nname: pack\n---\n")
    source = LocalSource(folder)
    [pack] = source.scan()
    assert isinstance(pack, Found)
    return source, pack


def test_what_was_seen_is_read(tmp_path: Path) -> None:
    source, pack = found(tmp_path)
    [seen] = pack.files or ()
    path = tmp_path / pack.key / "SKILL.md"

    assert read_seen(str(path), seen) == path.read_bytes() == source.manifest(pack.key)


def test_an_edit_or_another_file_is_not(tmp_path: Path) -> None:
    _, pack = found(tmp_path)
    [seen] = pack.files or ()
    path = tmp_path / pack.key / "SKILL.md"
    text = path.read_bytes()
    path.unlink()
    assert read_seen(str(path), seen) is None
    path.write_bytes(text)
    os.utime(path, ns=(0, 0))

    assert read_seen(str(path), seen) is None


@pytest.mark.parametrize("name", ["group", "group/pack"])
def test_a_link_that_came_since_leads_nowhere(tmp_path: Path, name: str) -> None:
    source, pack = found(tmp_path / "root")
    secret = tmp_path / "secret"
    (secret / "pack").mkdir(parents=True)
    for folder in (secret, secret / "pack"):
        (folder / "SKILL.md").write_bytes(b"secret")
    (tmp_path / "root" / name).rename(tmp_path / "old")
    (tmp_path / "root" / name).symlink_to(secret)

    with pytest.raises(SkillError):
        source.manifest(pack.key)


def edited(file: Path) -> None:
    """Other bytes, and as many; the time of the edit is set back."""
    before = file.stat()
    file.write_bytes(file.read_bytes().replace(b"pack", b"evil"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def exchanged(file: Path) -> None:
    """A file next to it takes its place, and has its size and its time."""
    other, before = file.with_name("other"), file.stat()
    other.write_bytes(file.read_bytes().replace(b"pack", b"evil"))
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(file)


def linked(file: Path) -> None:
    secret = file.parents[2] / "secret"
    secret.write_bytes(b"secret")
    file.unlink()
    file.symlink_to(secret)


def folder_linked(file: Path) -> None:
    (file.parents[2] / "secret").mkdir()
    (file.parents[2] / "secret" / "SKILL.md").write_bytes(b"secret")
    file.parent.rename(file.parents[1] / "old")
    file.parent.symlink_to(file.parents[2] / "secret")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (edited, b"---\nname: evil\n---\n"),
        (exchanged, b"---\nname: evil\n---\n"),
        (linked, None),
        (folder_linked, None),
        (Path.unlink, None),
    ],
)
def test_what_was_read_is_kept_until_the_file_is_another(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], None],
    text: bytes | None,
) -> None:
    """While it is the same one no folder is opened for it; then as for the first."""
    source, pack = found(tmp_path)
    file = tmp_path / pack.key / "SKILL.md"
    first = file.read_bytes()
    time.sleep(0.06)  # so that an edit shows in the times of the file
    assert source.read(pack.key, "SKILL.md", 99) == first
    with monkeypatch.context() as closed:
        closed.setattr(os, "open", lambda *_, **__: pytest.fail("it was opened again"))
        assert source.read(pack.key, "SKILL.md", 99) == first
    with pytest.raises(LimitExceededError):
        source.read(pack.key, "SKILL.md", 3)

    change(file)

    if text is not None:
        assert source.read(pack.key, "SKILL.md", 99) == text
        return
    with pytest.raises(SkillError):
        source.read(pack.key, "SKILL.md", 99)


def test_what_was_written_just_now_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An edit in the same tick of the file system's clock has the same times."""

    def in_ticks(status: os.stat_result) -> tuple[int, int, int]:
        mtime_ns, inode, ctime_ns = mark_of(status)
        return mtime_ns // TICK_NS * TICK_NS, inode, ctime_ns // TICK_NS * TICK_NS

    monkeypatch.setattr(_local, "mark_of", in_ticks)
    source, pack = found(tmp_path)
    file = tmp_path / pack.key / "SKILL.md"
    for number in range(200):
        text = f"---\nname: pack{number:03}\n---\n".encode()
        file.write_bytes(text)
        assert source.read(pack.key, "SKILL.md", 99) == text
