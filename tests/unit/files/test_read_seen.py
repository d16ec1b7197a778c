"""A file is read by one open only if it is the very one that the walk saw."""

import os
from pathlib import Path

import pytest

from satchel.errors import SkillError
from satchel.files import read_seen
from satchel.model import Found
from satchel.sources import LocalSource


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
