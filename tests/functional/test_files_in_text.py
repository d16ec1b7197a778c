"""A text in the place of a list of files: names of files, or a sentence."""

from pathlib import Path

import pytest

from satchel import Satchel
from satchel.model import Json
from satchel.skill_md import from_spec, to_spec
from satchel_lab.checking import check
from tests.functional.library import write_pack

HEAD = "---\nname: forms\ndescription: Use when there are forms.\n"


@pytest.mark.row("F80", "A09")
@pytest.mark.parametrize(
    "source",
    [
        "Devlin et al., NAACL 2019; Hu et al., ICLR 2022",
        "adapted from K-Dense-AI/claude-skills",
        "RFC 7231",
    ],
)
def test_a_source_that_is_named_closes_no_pack(tmp_path: Path, source: str) -> None:
    text = f"{HEAD}metadata:\n  references: {source}\n---\n# Forms\n\nRead fees.md.\n"
    write_pack(tmp_path / "forms", text, {"fees.md": "50"})

    assert check([str(tmp_path)]).findings == ()
    assert Satchel(tmp_path)["forms"].resources == ("fees.md",)


@pytest.mark.row("A09")
@pytest.mark.parametrize(
    ("written", "files"),
    [
        ("fees.md dates.md", ("references/dates.md", "references/fees.md")),
        ("references/fees.md, dates.md", ("references/dates.md", "references/fees.md")),
        ('\'["fees.md", "a b"]\'', ("references/a b", "references/fees.md")),
    ],
)
def test_names_of_files_are_a_list(
    tmp_path: Path, written: str, files: tuple[str, ...]
) -> None:
    text = f"{HEAD}metadata:\n  references: {written}\n---\n# Forms\n"
    write_pack(tmp_path / "forms", text, dict.fromkeys(files, "1"))

    assert Satchel(tmp_path)["forms"].references == files


@pytest.mark.row("A09")
@pytest.mark.parametrize("written", ["fees.md LICENSE", "scripts/fill fees"])
def test_a_word_among_files_opens_no_pack(tmp_path: Path, written: str) -> None:
    text = f"{HEAD}metadata:\n  references: {written}\n---\n# Forms\n"
    write_pack(tmp_path / "forms", text, {"notes.md": "1", "fees.md": "50"})

    assert "notes.md" not in Satchel(tmp_path)["forms"].resources


@pytest.mark.row("A09")
@pytest.mark.parametrize("files", [["LICENSE", "NOTICE"], ["fees"], ["a.md", "b"]])
def test_what_is_written_is_read_again(files: list[str]) -> None:
    front: dict[str, Json] = {"name": "forms", "description": "Forms."}
    front["assets"] = [*files]

    assert from_spec(to_spec(front)) == front
