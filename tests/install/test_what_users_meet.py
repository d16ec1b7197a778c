"""What users of real repositories meet, and what they read then."""

import json
import shutil
from pathlib import Path

import pytest

from satchel_install._entries import Upstream as Place, parse_source
from satchel_install._git import current_commit
from tests.functional.library import run
from tests.install.conftest import PACK, Upstream


def test_the_git_folder_of_a_repository_gives_its_entry_a_name(
    project: Path, upstream: Upstream
) -> None:
    """A name that no project could have breaks the next command."""
    result = run("add", f"{upstream.address}/.git")

    assert result.exit_code == 0, result.stderr
    assert "upstream = {" in (project / "satchel.toml").read_text()
    assert run("verify").exit_code == 0


def test_a_repository_that_is_called_as_no_entry_can_be(
    project: Path, upstream: Upstream, tmp_path: Path
) -> None:
    shutil.copytree(upstream.folder, tmp_path / "packs/aux")

    result = run("add", f"file://{tmp_path}/packs/aux")

    assert result.exit_code == 0, result.stderr
    assert "packs-aux = {" in (project / "satchel.toml").read_text()
    assert run("verify").exit_code == 0


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "https://h.example/a.git/tree/HEAD/skills/pdf",
            Place("git", "https://h.example/a.git", "skills/pdf"),
        ),
        (
            "https://h.example/a/tree/v1/skills",
            Place("git", "https://h.example/a", "skills", "v1"),
        ),
        (
            "https://h.example/a.git@v1",
            Place("git", "https://h.example/a.git", "", "v1"),
        ),
        ("https://h.example/@team", Place("site", "https://h.example/@team")),
    ],
)
def test_a_folder_of_a_repository_at_any_address(source: str, expected: Place) -> None:
    """It is what the message about two packs of one name tells to type."""
    assert parse_source(source) == expected


def test_a_pack_that_a_pattern_takes_and_that_is_broken_is_reported(
    upstream: Upstream,
) -> None:
    upstream.commit({"skills/sql-bad/SKILL.md": "# nothing\n"})

    result = run("add", upstream.address, "--skill", "sql-*")

    assert result.exit_code == 0
    assert "skills/sql-bad/SKILL.md:1: error no-frontmatter" in result.stderr


def test_findings_name_files_where_they_are_in_the_repository(
    upstream: Upstream,
) -> None:
    (upstream.folder / "skills/form/more.md").symlink_to("SKILL.md")
    upstream.commit({})

    result = run("add", upstream.address, "--skill", "form")

    assert f"{upstream.address}/skills/form/more.md: warning" in result.stderr


def test_a_pointer_of_git_lfs_is_named(upstream: Upstream) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\n"
    pointer += f"oid sha256:{'0' * 64}\nsize 12345\n"
    upstream.commit({"skills/form/data.bin": pointer})

    result = run("add", upstream.address, "--skill", "form")

    assert result.exit_code == 0
    assert "warning: form/data.bin is a pointer of Git LFS; add a" in result.stderr


@pytest.mark.parametrize("data", [b"nothing", b"\x1f\x8bxxxx"])
def test_an_archive_at_an_address_that_is_none_is_named(
    data: bytes, site: tuple[Path, str], project: Path
) -> None:
    """A project may have several, and any of them may be the one."""
    (site[0] / "bad.tar.gz").write_bytes(data)

    result = run("add", f"{site[1]}/bad.tar.gz")

    assert result.exit_code == 1
    assert f"the archive {site[1]}/bad.tar.gz is not unpacked: " in result.stderr


def test_a_submodule_is_named(upstream: Upstream, project: Path) -> None:
    """Its skills are in another repository, and nobody else says so."""
    upstream.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},team")
    upstream.git("commit", "-qm", "Change")

    every = run("add", upstream.address, "--dry-run")
    one = run("add", upstream.address, "--skill", "form", "--dry-run")

    text = "warning: team is a submodule, and not read; add its repository by itself\n"
    assert every.exit_code == 0
    assert every.stderr.count(text) == 1
    assert "is a submodule" not in one.stderr


def test_only_a_submodule_is_no_library(upstream: Upstream) -> None:
    upstream.git("rm", "-rq", "skills")
    upstream.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},team")
    upstream.git("commit", "-qm", "Change")

    result = run("add", upstream.address)

    assert result.exit_code == 1
    assert "it has no skill to add: team is a submodule, and not" in result.stderr


def test_what_a_repository_lacks_is_no_silence_of_it(
    project: Path, upstream: Upstream
) -> None:
    """It answered, so that it helps nobody to wait and to type it again."""
    run("add", upstream.address, "--skill", "sql-read")
    commit = upstream.git("rev-parse", "HEAD")
    upstream.git("rm", "-rq", "skills/sql-read")
    upstream.commit({"skills/new/SKILL.md": PACK.format("new")})

    gone = run("sync", "--upgrade")
    unknown = run("add", upstream.address, "--rev", "nope")
    short = run("add", upstream.address, "--rev", commit[:7])

    assert [gone.exit_code, unknown.exit_code, short.exit_code] == [1, 1, 1]
    assert f"{upstream.address}: it has no folder 'skills/sql-read'" in gone.stderr
    assert "it has no branch, tag or commit 'nope'" in unknown.stderr
    assert "a commit is named by all of its digits" in short.stderr
    assert "did not answer" not in gone.stderr + unknown.stderr + short.stderr


def test_an_upgrade_names_the_repository_that_is_away(
    project: Path, upstream: Upstream
) -> None:
    run("add", upstream.address, "--skill", "form")
    shutil.rmtree(upstream.folder)

    result = run("sync", "--upgrade")

    assert f"source '{upstream.address}' did not answer" in result.stderr


def test_other_bytes_than_are_locked_are_no_silence(
    project: Path, upstream: Upstream, tmp_path: Path
) -> None:
    run("add", str(upstream.folder / "skills"), "--skill", "form")
    file = upstream.folder / "skills/form/SKILL.md"
    file.write_text(file.read_text() + "More.\n")
    shutil.rmtree(tmp_path / "store")
    shutil.rmtree(project / "skills")

    result = run("sync", "--frozen")

    assert result.exit_code == 1
    assert "form/SKILL.md was sha256:" in result.stderr
    assert "did not answer" not in result.stderr


def test_a_tag_counts_before_a_branch_of_its_name(upstream: Upstream) -> None:
    """As it does for what git fetches."""
    upstream.git("tag", "both")
    tagged = upstream.git("rev-parse", "HEAD")
    upstream.git("checkout", "-qb", "both")
    upstream.commit({"README.md": "More.\n"})

    assert current_commit(Place("git", upstream.address, "", "both")) == tagged


def test_a_commit_that_is_wanted_is_not_looked_for_again(
    project: Path, upstream: Upstream
) -> None:
    commit = upstream.git("rev-parse", "HEAD")
    run("add", upstream.address, "--skill", "form", "--rev", commit)
    shutil.rmtree(upstream.folder)

    assert run("sync", "--upgrade").exit_code == 0


def test_a_path_without_any_skill_is_named_as_such(upstream: Upstream) -> None:
    result = run("add", str(upstream.folder / "skills"), "--path", "no", "--skill", "x")

    assert result.stderr.endswith("it has no skill 'x'; it has none\n")


def test_the_advice_on_an_edited_pack_of_an_entry_that_is_gone(
    project: Path, upstream: Upstream
) -> None:
    """No lock has it any more, so that nothing can be discarded."""
    run("add", upstream.address, "--skill", "form")
    file = project / "skills/form/SKILL.md"
    file.write_text(file.read_text() + "More.\n")

    result = run("remove", "form")

    assert result.exit_code == 1
    assert "nothing asks for it any more; if nobody does, delete it" in result.stderr
    assert "--discard" not in result.stderr


def test_a_conflict_in_the_settings_is_named_as_such(
    project: Path, upstream: Upstream
) -> None:
    run("add", upstream.address, "--skill", "form")
    file = project / "satchel.toml"
    ours, theirs = "<<<<<<< HEAD\na = 1\n", "=======\nb = 2\n>>>>>>> other\n"
    file.write_text(file.read_text() + ours + theirs)

    result = run("sync")

    assert result.exit_code == 2
    assert "satchel.toml:3: a merge left its conflict here; keep" in result.stderr


def test_an_entry_that_an_approved_lock_has_not_is_to_be_added(
    project: Path, upstream: Upstream
) -> None:
    """Nothing that is typed for the lock could help."""
    run("add", upstream.address, "--skill", "form")
    file = project / "satchel.toml"
    file.write_text(f'{file.read_text()}x = {{git = "{upstream.address}"}}\n')

    result = run("sync")

    assert "delete the entry, and type: satchel add" in result.stderr
    assert "satchel trust" not in result.stderr


def test_a_name_in_a_lock_hides_nothing(project: Path, upstream: Upstream) -> None:
    """Who approves a lock reads the names in it."""
    run("add", upstream.address, "--skill", "form")
    file = project / "satchel.lock"
    lock = json.loads(file.read_bytes())
    lock["skills"][0]["id"] = "mrof\u202e"
    file.write_text(json.dumps(lock))

    result = run("trust", "--yes")

    assert result.exit_code == 2
    assert "it has hidden characters; delete them" in result.stderr
    assert "\u202e" not in result.output


def test_a_file_in_a_plan_hides_nothing(upstream: Upstream) -> None:
    upstream.commit({"skills/form/a\u202eb.md": "x"})

    result = run("add", upstream.address, "--skill", "form", "--dry-run")

    assert "  + form/a<U+202E>b.md" in result.stdout
