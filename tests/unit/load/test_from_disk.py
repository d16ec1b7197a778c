"""Packs on a disk, through the front door, to prompt and tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from satchel import Satchel
from satchel.sources import LocalSource

if TYPE_CHECKING:
    from pathlib import Path

    from satchel.model import FileStat


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    folder = tmp_path / "skills" / "pdf"
    for name, text in {
        "SKILL.md": "---\nname: pdf\ndescription: Use for PDF forms.\n---\n# PDF\n",
        "references/fields.md": "# Fields\r\n",
        "scripts/fill.py": "print('never run')\n",
        "assets/empty.txt": "",
        "LICENSE": "free\n",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder


@pytest.mark.row("A04", "A05", "A30", "C03", "D18")
def test_every_listed_path_is_a_file_and_loads_as_it_is(pack: Path) -> None:
    skills = Satchel(pack.parent)
    (entry,) = skills.catalog

    loaded = {path: skills.load("pdf", path).data for path in entry.resources}

    assert loaded == {
        path.relative_to(pack).as_posix(): path.read_bytes()
        for path in pack.rglob("*")
        if path.is_file() and path.name != "SKILL.md"
    }


def test_a_file_is_read_without_a_look_at_all_the_others(pack: Path) -> None:
    """Else a pack of 600 files takes seconds to be packed into an archive."""

    class Counting(LocalSource):
        looks = 0

        def files(self, key: str) -> tuple[FileStat, ...]:
            self.looks += 1
            return super().files(key)

    source = Counting(pack.parent)
    skills = Satchel(source)
    before = source.looks

    skills.load("pdf", "references/fields.md")
    skills.load("pdf", "scripts/fill.py")
    after = source.looks
    (pack / "LICENSE").write_text("true\n")  # of the same length

    assert after == before
    assert skills.load("pdf", "LICENSE").text == "true\n"


@pytest.mark.row("D15", "D16", "D17", "D20", "A36")
def test_what_is_listed_loads_and_a_sync_takes_in_what_changed(pack: Path) -> None:
    skills = Satchel(pack.parent)
    before = str(skills.prompt()), skills.load("pdf").text
    with (pack / "SKILL.md").open("a", encoding="utf-8") as file:
        file.write("More.\n")

    skills.sync()

    assert str(skills.prompt()) == before[0]
    assert skills.load("pdf").text == before[1] + "More.\n"


@pytest.mark.row("D01", "D02", "D03", "D05", "D08", "D21")
def test_a_session_lists_and_loads(pack: Path) -> None:
    session = Satchel(pack.parent).session()

    text = session.call("load_skill", {"skill_id": "pdf"})

    assert "<id>pdf</id>" in session.instructions("You are the desk.")
    assert isinstance(text, str)
    assert text.startswith(
        '<skill_context id="pdf">\n  <instructions>\n---\nname: pdf\n'
    )
    assert "<reference>references/fields.md</reference>" in text
