"""Files and folders appear whole, and never in the place of others."""

import os
from pathlib import Path

import pytest

from satchel.errors import AlreadyThereError, NotWrittenError
from satchel_lab.authoring import new_folder
from satchel_lab.authoring._packs import put_file

FILES = {"SKILL.md": b"a", "scripts/run.sh": b"#!/bin/sh\n"}


def test_a_folder_is_made_with_those_above_it(tmp_path: Path) -> None:
    place = tmp_path / "a" / "b"
    new_folder(place, FILES, ["scripts/run.sh"])

    assert (place / "SKILL.md").read_bytes() == b"a"
    assert os.access(place / "scripts/run.sh", os.X_OK)
    assert not os.access(place / "SKILL.md", os.X_OK)
    assert [path.name for path in place.parent.iterdir()] == ["b"]


def test_a_folder_that_cannot_be_made_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(NotWrittenError):
        new_folder(tmp_path / "b", {"a": b"", "a/b": b""})

    assert list(tmp_path.iterdir()) == []


def test_a_file_is_replaced_by_who_knows_its_bytes(tmp_path: Path) -> None:
    file = tmp_path / "a" / "f"
    put_file(file, b"1")
    file.chmod(0o640)
    with pytest.raises(AlreadyThereError):
        put_file(file, b"2")
    with pytest.raises(AlreadyThereError, match="a moment ago"):
        put_file(file, b"2", over=b"0")
    put_file(file, b"2", over=b"1")

    assert file.read_bytes() == b"2"
    assert file.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in file.parent.iterdir()] == ["f"]


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"1")
    (tmp_path / "link").symlink_to("real")
    put_file(tmp_path / "link", b"2", over=b"1")

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"2"


def test_a_file_that_is_gone_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(NotWrittenError, match="No such file"):
        put_file(tmp_path / "gone", b"2", over=b"1")
    (tmp_path / "f").write_bytes(b"")
    with pytest.raises(NotWrittenError):
        put_file(tmp_path / "f" / "g", b"1")


def test_a_file_that_appears_meanwhile_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f"

    def slow(size: int) -> bytes:
        file.write_bytes(b"theirs")
        return bytes(size)

    monkeypatch.setattr(os, "urandom", slow)
    with pytest.raises(AlreadyThereError):
        put_file(file, b"ours")

    assert file.read_bytes() == b"theirs"
    assert list(tmp_path.iterdir()) == [file]


def test_new_files_have_the_rights_of_any_and_programs_run(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        new_folder(tmp_path / "a", FILES, ["scripts/run.sh"])
        put_file(tmp_path / "f", b"1")
    finally:
        os.umask(mask)

    files = (tmp_path / "f", *(tmp_path / "a" / path for path in FILES))
    assert [file.stat().st_mode & 0o777 for file in files] == [0o640, 0o640, 0o750]
