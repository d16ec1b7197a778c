"""A file is replaced as a whole, or is as it was."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from satchel.errors import NotWrittenError
from satchel.files import write_file
from satchel_lab._replace import replace_file


def held(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_the_bytes_change_and_the_mode_stays(tmp_path: Path) -> None:
    file = tmp_path / "SKILL.md"
    file.write_bytes(b"old\r\n")
    file.chmod(0o640)

    replace_file(file, b"old\r\n", b"new\r\n")

    assert file.stat().st_mode & 0o777 == 0o640
    assert held(tmp_path) == {"SKILL.md": b"new\r\n"}


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)
def test_the_owner_stays(tmp_path: Path) -> None:
    """A container may repair the files of a user."""
    file = tmp_path / "SKILL.md"
    file.write_bytes(b"old")
    os.chown(file, 1234, 1235)

    replace_file(file, b"old", b"new")

    assert (file.stat().st_uid, file.stat().st_gid) == (1234, 1235)


def _link(file: Path) -> None:
    file.rename(file.with_name("real"))
    file.symlink_to("real")


@pytest.mark.parametrize(
    ("spoil", "text"),
    [
        (lambda file: file.write_bytes(b"other"), "somebody else has written it"),
        (lambda file: file.chmod(0o444), "may only be read"),
        (_link, "no regular file"),
    ],
    ids=["changed", "read-only", "link"],
)
def test_what_is_not_as_it_was_is_left_alone(
    tmp_path: Path, spoil: Callable[[Path], None], text: str
) -> None:
    file = tmp_path / "SKILL.md"
    file.write_bytes(b"old")
    spoil(file)
    before = held(tmp_path)

    with pytest.raises(NotWrittenError, match=text):
        replace_file(file, b"old", b"new")

    assert held(tmp_path) == before


def test_a_disk_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "SKILL.md"
    file.write_bytes(b"old")

    def fail(*_: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        replace_file(file, b"old", b"new")

    assert held(tmp_path) == {"SKILL.md": b"old"}


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    """And not the one that is written first, which nobody has heard of."""
    place = tmp_path / "gone" / "report.json"

    with pytest.raises(FileNotFoundError) as failed:
        write_file(place, b"", 0o600)

    assert failed.value.filename == str(place)
