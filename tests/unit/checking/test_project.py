"""What is found next to a pack, and how far that goes."""

from pathlib import Path

import pytest

from satchel_lab.checking._library import path_finder
from satchel_lab.lint import Neighbour


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two skills, a file of its own, and a neighbour of the project."""
    root = tmp_path / "home" / "project"
    for path in (".git/HEAD", "skills/a/SKILL.md", "skills/b/SKILL.md", "docs/x.md"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x", "utf-8")
    (tmp_path / "home" / "secret.md").write_text("x", "utf-8")
    return root


@pytest.mark.row("F50")
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("../b/SKILL.md", Neighbour("b")),
        ("../b", Neighbour("b")),
        ("../../docs/x.md", Neighbour()),
        ("/docs/x.md", Neighbour()),
        ("../c/SKILL.md", None),
        ("../../docs/y.md", None),
        ("../../../secret.md", None),
        ("../..", None),
        ("../\0", None),
    ],
)
def test_what_is_around_a_pack(
    project: Path, path: str, expected: Neighbour | None
) -> None:
    assert path_finder(project / "skills" / "a")(path) == expected


@pytest.mark.row("F50")
def test_without_git_a_project_is_a_few_folders_up(project: Path) -> None:
    (project / ".git" / "HEAD").unlink()
    (project / ".git").rmdir()

    find = path_finder(project / "skills" / "a")

    assert find("../../docs/x.md") == Neighbour()
    assert find("../../../../../../../../../etc/hosts") is None
