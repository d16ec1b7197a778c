"""A package's own folder, unpacked or in a zip file."""

import zipfile
from pathlib import Path

import pytest

from satchel import sources
from satchel.errors import SourceUnavailableError
from satchel.model import Found, Limits
from satchel.sources import LocalSource, MemorySource
from tests.unit.sources.trees import keys, pack, told

TEXT = "---\nname: x\ndescription: About x.\n---\n"


def test_a_folder_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack(tmp_path, "on_disk_app/skills/pdf", "references/a.md")
    (tmp_path / "on_disk_app" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    source = sources.resource("on_disk_app", "skills")
    (found,) = source.scan()

    assert isinstance(source, LocalSource)
    assert isinstance(found, Found)
    assert source.label == "on_disk_app:skills"
    assert (found.key, found.location) == ("pdf", "on_disk_app/skills/pdf")


def test_a_zip_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searched as a folder is: down to a SKILL.md, past what is left out."""
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        for path in (
            "skills/pdf/SKILL.md",
            "skills/pdf/references/a.md",
            "skills/pdf/inner/SKILL.md",
            "skills/pdf/.env",
            "skills/group/csv/SKILL.md",
            "skills/.git/x/SKILL.md",
            "skills/1/2/3/4/5/6/7/SKILL.md",
            "skills/README.md",
            "one/SKILL.md",
        ):
            archive.writestr(f"zip_app/{path}", TEXT)
        archive.writestr("zip_app/__init__.py", "")
    monkeypatch.syspath_prepend(tmp_path / "app.zip")
    source = sources.resource("zip_app")

    assert isinstance(source, MemorySource)
    assert keys(source) == ["group/csv", "pdf"]
    assert told(source) == [
        ("note", "unsearched-folder", "zip_app:skills/.git"),
        ("note", "limit-exceeded", "zip_app:skills/1/2/3/4/5/6/7/SKILL.md"),
        ("note", "files-left-out", "zip_app:skills/pdf"),
        ("note", "unlisted-skill", "zip_app:skills/pdf/inner/SKILL.md"),
    ]
    assert [file.path for file in source.files("pdf")] == [
        "SKILL.md",
        "inner/SKILL.md",
        "references/a.md",
    ]
    assert keys(sources.resource("zip_app", "one")) == ["one"]
    assert keys(sources.resource("zip_app", limits=Limits(scan_depth=1))) == ["pdf"]


@pytest.mark.parametrize(
    ("package", "folder"),
    [
        ("satchel", "no-such-folder"),
        ("no_such_package_x", "skills"),
        ("satchel", "policy.py"),
    ],
)
def test_what_is_not_there(package: str, folder: str) -> None:
    with pytest.raises(SourceUnavailableError, match=f"{package}:{folder}"):
        sources.resource(package, folder)
