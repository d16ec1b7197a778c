"""``satchel publish``: a release on a static site, and the way back."""

import json
from pathlib import Path

import pytest

from tests.functional.library import run, write_pack

GOOD = "---\nname: {name}\ndescription: Use {name} when testing.\n---\nDo.\n"


@pytest.fixture(autouse=True)
def library(here: Path) -> Path:
    """Two good packs in ``skills``; the working folder is the one above."""
    write_pack(here / "skills/a", GOOD.format(name="a"), {"references/x.md": "X"})
    write_pack(here / "skills/b", GOOD.format(name="b"))
    return here / "skills"


def test_a_release_is_put_on_a_site(tmp_path: Path) -> None:
    built = run("build", "dist", "--skills", "skills").stdout

    first = run("publish", "dist", "public")
    second = run("publish", "dist", "public")

    assert first.exit_code == second.exit_code == 0
    assert first.stdout == second.stdout == built
    assert first.stderr == "public: 8 files written, 0 there before\n"
    assert second.stderr == "public: 0 files written, 8 there before\n"
    index = tmp_path / "public/.well-known/agent-skills/index.json"
    next(Path("public/releases").rglob("x.md")).unlink()
    assert run("publish", "dist", "public").stderr.startswith("public: 1 file written")
    assert [s["name"] for s in json.loads(index.read_text())["skills"]] == ["a", "b"]


def test_skills_can_be_published_without_a_release_in_between(tmp_path: Path) -> None:
    built = run("build", "dist", "--skills", "skills").stdout

    result = run("publish", "public", "--skills", "skills", "--v1")

    assert result.stdout == built
    assert (tmp_path / "public/.well-known/skills/a/references/x.md").exists()


def test_what_would_not_be_released_is_not_published(library: Path) -> None:
    run("publish", "public", "--skills", "skills")
    before = (library.parent / "public/release.json").read_bytes()
    write_pack(library / "bad", "no frontmatter\n")

    refused = run("publish", "public", "--skills", "skills")

    assert refused.exit_code == 1
    assert (library.parent / "public/release.json").read_bytes() == before
    allowed = run("publish", "public", "--skills", "skills", "--allow-findings")
    assert allowed.exit_code == 0
    assert "warning: this release lacks what is in error" in allowed.stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("dist", "public", "more"), "two folders at most"),
        (("dist", "public", "--skills", "skills"), "not both"),
        (("", "public"), "the path is empty"),
        (("gone", "public"), "gone: no such file or folder"),
        (("skills/site", "--skills", "skills"), "where the skills come from"),
        ((), "missing argument"),
    ],
)
def test_what_cannot_be_meant_is_status_2(
    arguments: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    result = run("publish", *arguments)

    assert result.exit_code == 2
    assert reason in result.stderr
    assert not (tmp_path / "public").exists()


def test_a_folder_that_is_no_release_is_refused(tmp_path: Path) -> None:
    result = run("publish", "skills", "public")

    assert result.exit_code == 1
    assert "skills/release.json: there is no such file" in result.stderr
    assert not (tmp_path / "public").exists()
