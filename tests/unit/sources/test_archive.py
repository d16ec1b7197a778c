"""An archive as a source: opened whole, within limits, and again when it changed."""

import zipfile
from pathlib import Path

import pytest

from satchel.errors import (
    ReferenceNotFoundError,
    SkillNotFoundError,
    SourceUnavailableError,
)
from satchel.files import zip_pack
from satchel.model import Finding, Found, Limits
from satchel.sources import archive
from tests.fakes import pack

TEXT = pack("alpha").encode()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "thing.skill"
    path.write_bytes(zip_pack("alpha", {"SKILL.md": TEXT, "references/a.md": b"a"}))
    return path


def test_the_key_is_the_folder_in_it_else_the_files_name(tmp_path: Path) -> None:
    flat = tmp_path / "flat.ZIP"
    with zipfile.ZipFile(flat, "w") as made:
        made.writestr("SKILL.md", TEXT)
    (pack,) = archive(flat).scan()

    assert isinstance(pack, Found)
    assert (pack.key, pack.location) == ("flat", f"{flat}/flat")


def test_files_are_read_from_memory(place: Path) -> None:
    source = archive(place, label="a")
    (pack,) = source.scan()

    assert isinstance(pack, Found)
    assert pack.key == "alpha"
    assert source.manifest("alpha") == TEXT
    assert [stat.path for stat in source.files("alpha")] == [
        "SKILL.md",
        "references/a.md",
    ]
    assert source.read("alpha", "references/a.md", 9) == b"a"
    with pytest.raises(ReferenceNotFoundError):
        source.read("alpha", "b.md", 9)
    with pytest.raises(SkillNotFoundError):
        source.manifest("beta")
    assert repr(source).startswith("ArchiveSource(")
    source.close()
    assert source.read("alpha", "references/a.md", 9) == b"a"


def test_it_is_opened_again_when_it_changed(place: Path) -> None:
    source = archive(place)
    before = source.scan()
    assert source.scan() == before
    place.write_bytes(zip_pack("alpha", {"SKILL.md": TEXT, "b.md": b"bb"}))

    assert source.scan() != before
    assert source.read("alpha", "b.md", 9) == b"bb"
    place.unlink()
    with pytest.raises(SourceUnavailableError, match="No such file"):
        source.scan()


@pytest.mark.row("R04")
@pytest.mark.parametrize(
    ("data", "limits", "code"),
    [
        (b"PK no", Limits(), "unsafe-archive"),
        (b"text", Limits(), "unsafe-archive"),
        (zip_pack("a", {"notes.md": b"x"}), Limits(), "unsafe-archive"),
        (zip_pack("..", {"SKILL.md": b"x"}), Limits(), "unsafe-archive"),
        (zip_pack("a", {"SKILL.md": TEXT}), Limits(archive_bytes=9), "limit-exceeded"),
        (
            b"PK" + bytes(20_000),
            Limits(archive_bytes=0, archive_files=1),
            "limit-exceeded",
        ),
    ],
    ids=["damaged", "no-archive", "no-skill", "climbs", "too-much", "too-large"],
)
def test_what_should_not_be_unpacked_is_a_finding(
    tmp_path: Path, data: bytes, limits: Limits, code: str
) -> None:
    place = tmp_path / "a.skill"
    place.write_bytes(data)
    source = archive(place, limits=limits)
    (finding,) = source.scan()

    assert isinstance(finding, Finding)
    assert (finding.code, finding.severity) == (code, "error")
    assert finding.path == str(place)
    with pytest.raises(SkillNotFoundError):
        source.read("a", "SKILL.md", 9)
