"""A skill that several entries want: it stays until the last of them goes."""

import shutil
from pathlib import Path

from tests.functional.library import run
from tests.install.conftest import PACK, Upstream


def folders(project: Path) -> list[str]:
    """Return the names of the packs that are installed."""
    return sorted(folder.name for folder in (project / "skills").iterdir())


def need(upstream: Upstream, name: str, *needed: str) -> None:
    """Let the repository have a skill that needs others."""
    line = f"\nmetadata:\n  requires: {' '.join(needed)}\n---\n"
    text = PACK.format(name).replace("\n---\n", line)
    upstream.commit({f"skills/{name}/SKILL.md": text})


def check_lock_fits(project: Path) -> None:
    """The lock is approved, has all that the entries want, and brings it again."""
    before = folders(project)
    assert run("verify").exit_code == 0
    for args in (["sync", "--frozen"], ["sync"]):
        shutil.rmtree(project / "skills")
        result = run(*args)
        assert result.exit_code == 0, result.stderr
        assert folders(project) == before
    assert "is approved already" in run("trust", "--yes").stderr


def test_what_another_skill_needs_stays(project: Path, upstream: Upstream) -> None:
    """Also what that one needs in its turn."""
    need(upstream, "form", "sql-read")
    need(upstream, "tax", "form")
    result = run("add", upstream.address, "--skill", "pdf", "--skill", "tax")
    assert result.exit_code == 0, result.stderr

    assert run("remove", "pdf").exit_code == 0

    assert folders(project) == ["form", "sql-read", "tax"]
    check_lock_fits(project)
    assert run("remove", "tax").exit_code == 0
    assert folders(project) == []


def test_what_another_entry_names_stays(project: Path, upstream: Upstream) -> None:
    upstream.commit({"skills/sql-write/SKILL.md": PACK.format("sql-write")})
    address = upstream.address
    run("add", address, "--name", "a", "--skill", "sql-*", "--skill", "form")
    run("add", address, "--name", "b", "--skill", "sql-r*", "--skill", "pdf")

    assert run("remove", "a").exit_code == 0

    assert folders(project) == ["form", "pdf", "sql-read"]
    check_lock_fits(project)


def test_an_entry_whose_skills_are_all_there_is_locked(
    project: Path, upstream: Upstream
) -> None:
    run("add", upstream.address, "--skill", "form")
    result = run("add", upstream.address, "--name", "second", "--skill", "form")
    assert result.exit_code == 0, result.stderr
    check_lock_fits(project)
    upstream.commit({"skills/form/more.md": "More.\n"})

    assert run("sync", "--upgrade").exit_code == 0
    assert (project / "skills/form/more.md").is_file()
    check_lock_fits(project)
    assert run("remove", "form").exit_code == 0
    assert folders(project) == ["form"]
    check_lock_fits(project)


def test_a_place_that_came_later_is_not_locked_by_equal_names(
    project: Path, upstream: Upstream
) -> None:
    """Not even for an entry that has no skill for itself alone."""
    run("add", upstream.address, "--skill", "form")
    run("add", upstream.address, "--name", "second", "--skill", "form")
    file = project / "satchel.toml"
    row = '{git = "file:///elsewhere", skills = ["form"]}'
    first, _, _ = file.read_text().partition("second")
    file.write_text(f"{first}second = {row}\n")

    assert "outside of this project" in run("sync").stderr
    assert run("sync", "--frozen").exit_code == 1


def test_the_same_skills_of_another_place_are_refused(
    project: Path, upstream: Upstream, tmp_path: Path
) -> None:
    """Nothing of them would be locked, so that the lock would never fit."""
    mirror = tmp_path / "mirror"
    shutil.copytree(upstream.folder, mirror)
    run("add", upstream.address, "--name", "first")
    before = (project / "satchel.toml").read_bytes()

    result = run("add", f"file://{mirror}", "--name", "second")

    assert result.exit_code == 1
    assert "error: second: each of its skills is there from another" in result.stderr
    assert (project / "satchel.toml").read_bytes() == before
    check_lock_fits(project)


def test_another_ref_of_the_same_place_takes_its_entry(
    project: Path, upstream: Upstream
) -> None:
    """As with a package that is added again with another version."""
    upstream.git("tag", "v1")
    upstream.commit({"skills/pdf/more.md": "More.\n"})
    assert run("add", upstream.address, "--rev", "v1").exit_code == 0
    assert not (project / "skills/pdf/more.md").exists()

    result = run("add", upstream.address)

    assert result.exit_code == 0, result.stderr
    assert (project / "skills/pdf/more.md").exists()
    assert "v1" not in (project / "satchel.toml").read_text()
    check_lock_fits(project)
