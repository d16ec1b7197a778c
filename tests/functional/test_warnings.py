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
    assert "and 2 more duplicate-skill: see satchel doctor" in lines
