"""What a command says about missing skills before it answers."""

from pathlib import Path

from tests.fakes import pack
from tests.functional.library import run


def test_a_library_with_many_conflicts_does_not_hide_the_answer(tmp_path: Path) -> None:
    for number in range(12):
        for place in ("a", "b"):
            folder = tmp_path / place / f"s{number:02}"
            folder.mkdir(parents=True)
            (folder / "SKILL.md").write_text(
                pack(f"s{number:02}", body=f"In {place}\n")
            )

    result = run("find", "form", str(tmp_path))

    lines = result.stderr.splitlines()
    assert sum("error duplicate-skill:" in line for line in lines) == 10
    assert f"and 2 more duplicate-skill: see satchel doctor {tmp_path}" in lines


def test_packs_that_cannot_be_used_are_counted_with_the_line_that_shows_them(
    here: Path,
) -> None:
    folder = here / "our packs" / "bad"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("no frontmatter\n")

    result = run("find", "form", "--skills", "our packs")

    line = "1 pack cannot be used: see satchel doctor 'our packs'"
    assert line in result.stderr.splitlines()
