"""`satchel check` without --profile judges a pack by its own dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from satchel import Satchel
from satchel.checking import check
from satchel.cli import main
from satchel.errors import SkillError

if TYPE_CHECKING:
    from pathlib import Path

    from satchel.model import Finding

ABOUT = "description: Fills in PDF forms. Use when a form must be filled in."


def pack(folder: Path, *lines: str, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join(["---", *lines, "---", "# Forms", "", "Read a.md.", ""])
    (folder / "SKILL.md").write_text(text, "utf-8")
    for name, content in files.items():
        (folder / "references").mkdir(exist_ok=True)
        (folder / "references" / f"{name}.md").write_text(content, "utf-8")
    return folder


def found(folder: Path) -> list[tuple[str, str]]:
    return [(f.severity, f.code) for f in check([str(folder)]).findings]


STRICT = ("name: forms", ABOUT, "trigger_keywords: [pdf]", "references: [a.md]")


@pytest.mark.row("F54", "T07")
def test_a_pack_of_the_strict_dialect_is_clean_and_one_note_says_what_spec_wants(
    tmp_path: Path,
) -> None:
    folder = pack(tmp_path / "forms", *STRICT, a="# A\n")

    (finding,) = check([str(folder)]).findings

    assert (finding.severity, finding.code) == ("note", "spec-incompatible")
    assert "trigger_keywords, references" in finding.message
    assert "convert --to spec" in finding.fix
    assert CliRunner().invoke(main, ["check", str(folder)]).exit_code == 0


@pytest.mark.row("F54", "T07", "A29")
@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ((*STRICT, "extra: 1"), "unknown-field"),
        (("name: forms", "description: Short.", *STRICT[2:]), "description-length"),
        (("name: forms", ABOUT, "references: [b.md]"), "listed-file-missing"),
        (("name: forms", ABOUT, "trigger_keywords: [pdf]"), "unlisted-reference"),
    ],
)
def test_its_own_rules_hold_for_it(
    tmp_path: Path, lines: tuple[str, ...], code: str
) -> None:
    folder = pack(tmp_path / "forms", *lines, a="# A\n")

    assert ("error", code) in found(folder)


@pytest.mark.row("F54", "T07")
@pytest.mark.parametrize(
    ("lines", "errors"),
    [
        (("name: forms", ABOUT), []),
        (("name: forms", ABOUT, "license: MIT"), []),
        (("name: forms", ABOUT, "metadata:", "  references: a.md"), []),
        (("name: forms", ABOUT, "version: 1.0.0"), []),
        (("name: forms", ABOUT, "license: MIT", "tags: a"), ["unknown-field"]),
        (("name: forms", ABOUT, "version: 1.0.0", "tags: a"), ["unknown-field"] * 2),
        (("name: forms", ABOUT, "license: MIT", "version: '1'"), ["unknown-field"]),
        (("name: 3d-forms", "description: Short."), ["name-not-folder"]),
    ],
)
def test_any_other_pack_is_judged_by_the_public_specification(
    tmp_path: Path, lines: tuple[str, ...], errors: list[str]
) -> None:
    folder = pack(tmp_path / "forms", *lines, a="# A\n")

    assert [code for severity, code in found(folder) if severity == "error"] == errors


@pytest.mark.row("F11", "F54", "T06")
def test_a_misspelled_field_is_a_warning_in_either(tmp_path: Path) -> None:
    folder = pack(tmp_path / "forms", *STRICT[:3], "refrences: [a.md]", a="# A\n")

    assert ("warning", "misspelled-field") in found(folder)
    assert "error" not in [severity for severity, _ in found(folder)]


@pytest.mark.row("F54", "T07")
def test_a_folder_may_hold_both(tmp_path: Path) -> None:
    pack(tmp_path / "forms", *STRICT, a="# A\n")
    pack(tmp_path / "scans", "name: scans", ABOUT, "license: MIT", a="# A\n")

    assert found(tmp_path) == [("note", "spec-incompatible")]


@pytest.mark.row("F54")
@pytest.mark.parametrize(
    "how", [["--profile", "dialect"], ["--config", "satchel.toml"]]
)
def test_the_default_has_a_name(
    tmp_path: Path, how: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "satchel.toml").write_text('[lint]\nprofile = "dialect"\n', "utf-8")
    pack(tmp_path / "forms", *STRICT, a="# A\n")

    assert CliRunner().invoke(main, ["check", "forms", *how]).exit_code == 0


@pytest.mark.row("F11", "F54", "A08")
def test_fix_opens_no_pack_that_its_author_closed(tmp_path: Path) -> None:
    """Whether a file belongs on the list is for the author to say, or for --profile."""
    lines = (*STRICT[:3], "refrences: [a.md]")
    folder = pack(tmp_path / "forms", *lines, a="# A\n", hidden="# H\n")

    CliRunner().invoke(main, ["check", str(folder), "--fix"])

    text = (folder / "SKILL.md").read_text("utf-8")
    assert "\nreferences: [a.md]\n" in text
    with Satchel(tmp_path) as skills, pytest.raises(SkillError):
        skills.load("forms", "hidden.md")
    CliRunner().invoke(main, ["check", str(folder), "--fix", "--profile", "strict"])
    text = (folder / "SKILL.md").read_text("utf-8")
    assert "\nreferences: [a.md, hidden.md]\n" in text


def shown(finding: Finding) -> str:
    return f"{finding.severity} {finding.code}"


@pytest.mark.row("F54")
@pytest.mark.parametrize("folder", ["src/satchel/packs", "examples/skills"])
def test_what_ships_passes(folder: str) -> None:
    report = check([folder])

    assert [shown(f) for f in report.findings if f.severity != "note"] == []
