"""An archive as a source: opened whole, within limits, and again when it changed."""

import zipfile
from pathlib import Path

import pytest

from satchel import Satchel
from satchel.errors import (
    ReferenceNotFoundError,
    SkillNotFoundError,
    SourceUnavailableError,
)
from satchel.model import Finding, Found, Limits
from satchel.sources import archive
from satchel_store.archives import zip_pack
from tests.fakes import pack

TEXT = pack("alpha").encode()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "thing.skill"
    path.write_bytes(zip_pack("alpha", {"SKILL.md": TEXT, "references/a.md": b"a"}))
    return path


@pytest.mark.row("U01", "F64")
@pytest.mark.parametrize(
    ("member", "text", "key"),
    [
        ("SKILL.md", TEXT, "alpha"),
        ("./SKILL.md", TEXT, "alpha"),
        ("beta/SKILL.md", TEXT, "beta"),
        ("SKILL.md", b"no frontmatter", "flat"),
        ("SKILL.md", pack("a/b").encode(), "flat"),
    ],
)
def test_the_key_is_the_folder_in_it_else_the_name_of_the_skill(
    tmp_path: Path, member: str, text: bytes, key: str
) -> None:
    """So that a pack without a folder is not told that its folder has another name."""
    flat = tmp_path / "flat.ZIP"
    with zipfile.ZipFile(flat, "w") as made:
        made.writestr(member, text)
    (found,) = archive(flat).scan()

    assert isinstance(found, Found)
    assert (found.key, found.location) == (key, f"{flat}/{key}")
    with Satchel(flat) as skills:
        codes = [finding.code for finding in skills.findings]
    assert ("name-not-folder" in codes) == (key == "beta" or b"a/b" in text)


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
            b"PK" + bytes(60_000),
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
    assert finding.path in (str(place), f"{place}/a")  # a pack over a limit is named
    with pytest.raises(SkillNotFoundError):
        source.read("a", "SKILL.md", 9)
