"""``satchel check --since``: exit statuses and formats; the rest is tested below it."""

import json
from pathlib import Path

import pytest

from tests.functional.library import run
from tests.unit.checking.history import commit, write

LINK = "See [it](gone.md).\n"


@pytest.fixture(autouse=True)
def folder(here: Path) -> Path:
    write(here / "skills", "old", more=LINK)
    commit(here)
    return here


def test_only_what_is_new_fails(folder: Path) -> None:
    arguments = ("check", "skills", "--since", "HEAD", "--strict")
    whole = run("check", "skills", "--strict")
    same = run(*arguments)
    write(folder / "skills", "new", more=LINK)
    more = run(*arguments)

    assert (whole.exit_code, same.exit_code, more.exit_code) == (1, 0, 1)
    assert "since HEAD: no pack changed" in same.stdout
    assert "since HEAD: 1 added" in more.stdout
    assert "\nwarning dead-link: " in more.stdout
    assert "\n --> skills/new/SKILL.md:8\n" in more.stdout
    assert "skills/old" not in more.stdout


@pytest.mark.parametrize("style", ["text", "json", "sarif", "github", "markdown"])
def test_every_format_has_the_new_findings_alone(folder: Path, style: str) -> None:
    write(folder / "skills", "new", more=LINK)
    shown = run("check", "skills", "--since", "HEAD", "--format", style).stdout

    assert "skills/new/SKILL.md" in shown
    assert "skills/old/SKILL.md" not in shown


def test_a_baseline_counts_as_well(folder: Path) -> None:
    write(folder / "skills", "new", more=LINK)
    run("check", "skills", "--also", "json=known.json")
    arguments = ("--since", "HEAD", "--strict", "--baseline", "known.json")
    result = run("check", "skills", *arguments, "--format", "json")

    assert result.exit_code == 0
    assert json.loads(result.stdout)["findings"] == []


def test_a_fix_changes_the_files_alone_that_have_something_new(folder: Path) -> None:
    head = "---\nname: {}\ndescription: Use when: words are counted.\n---\n# Title\n"
    for name in ("before", "behind"):
        (folder / f"skills/{name}").mkdir()
        (folder / f"skills/{name}/SKILL.md").write_text(head.format(name), "utf-8")
        if name == "before":
            commit(folder)
    before = (folder / "skills/before/SKILL.md").read_bytes()
    shown = run("check", "skills", "--since", "HEAD", "--diff")
    fixed = run("check", "skills", "--since", "HEAD", "--fix")

    assert "+++ skills/behind/SKILL.md" in shown.stdout
    assert "+++ skills/before/SKILL.md" not in shown.stdout
    assert (shown.exit_code, fixed.exit_code) == (1, 0)
    assert "1 finding fixed in 1 file" in fixed.stderr
    assert (folder / "skills/before/SKILL.md").read_bytes() == before


def test_the_line_about_what_is_not_listed_names_the_folder(folder: Path) -> None:
    write(folder / "my packs", "new")
    (folder / "my packs/torn").mkdir()
    (folder / "my packs/torn/SKILL.md").write_text("no frontmatter", "utf-8")
    shown = run("check", "my packs", "--since", "HEAD").stdout

    assert "; 1 of 2 packs not listed: satchel doctor 'my packs'\n" in shown
