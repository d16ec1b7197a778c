"""``satchel add``, ``remove`` and ``sync``: what is wanted, locked and installed."""

import json
import shutil
import tarfile
from pathlib import Path

import pytest

from satchel import Satchel
from tests.functional.library import run
from tests.install.conftest import PACK, Upstream


def installed(project: Path) -> dict[str, str]:
    """Return the text of each installed file, by its path."""
    folder = project / "skills"
    return {
        file.relative_to(folder).as_posix(): file.read_text()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def test_a_skill_of_a_repository_comes_with_what_it_needs(
    project: Path, upstream: Upstream
) -> None:
    result = run("add", upstream.address, "--skill", "pdf")

    assert result.exit_code == 0, result.stderr
    assert [*installed(project)] == [
        "form/SKILL.md",
        "pdf/SKILL.md",
        "pdf/scripts/fill.py",
    ]
    assert (project / "satchel.toml").read_text() == (
        f'[skills]\npdf = {{git = "{upstream.address}", path = "skills/pdf"}}\n'
    )
    lock = json.loads((project / "satchel.lock").read_bytes())
    assert [skill["id"] for skill in lock["skills"]] == ["form", "pdf"]
    assert lock["skills"][1]["source"]["commit"] == upstream.git("rev-parse", "HEAD")
    with Satchel(sinks=[]) as skills:
        assert [entry.id for entry in skills.catalog] == ["form", "pdf"]


@pytest.mark.parametrize("kind", ["git", "archive", "folder"])
def test_add_lock_wipe_and_sync_frozen_give_equal_bytes(
    project: Path, upstream: Upstream, tmp_path: Path, kind: str
) -> None:
    place = upstream.address
    if kind == "folder":
        place = str(upstream.folder / "skills")
    elif kind == "archive":
        place = str(tmp_path / "skills.tar.gz")
        with tarfile.open(place, "w:gz") as archive:
            archive.add(upstream.folder / "skills", "skills")
    assert run("add", place).exit_code == 0
    before, lock = installed(project), (project / "satchel.lock").read_bytes()

    shutil.rmtree(project / "skills")
    shutil.rmtree(tmp_path / "store")
    result = run("sync", "--frozen")

    assert result.exit_code == 0, result.stderr
    assert installed(project) == before
    assert len(before) == 4
    assert (project / "satchel.lock").read_bytes() == lock
    # With a warm store nothing is asked for.
    shutil.rmtree(project / "skills")
    shutil.rmtree(upstream.folder)
    Path(place).unlink() if kind == "archive" else None
    assert run("sync", "--frozen").exit_code == 0
    assert installed(project) == before


@pytest.mark.parametrize("flags", [(), ("--frozen",)])
def test_where_nothing_is_to_do_nothing_is_written(
    project: Path, upstream: Upstream, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    """A container may have its project, and its user's folders, to read only."""
    assert run("add", upstream.address).exit_code == 0

    def state() -> dict[str, tuple[int, int]]:
        places = [tmp_path, *tmp_path.rglob("*")]
        stats = {str(place): place.stat() for place in places}
        return {place: (one.st_ino, one.st_mtime_ns) for place, one in stats.items()}

    before = state()
    result = run("sync", *flags)

    assert result.exit_code == 0, result.stderr
    assert "3 skills, nothing to do" in result.stderr
    assert state() == before


def test_what_a_project_needs_is_kept_where_it_was_moved_to(
    project: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("add", upstream.address).exit_code == 0
    monkeypatch.chdir(project.rename(project.with_name("moved")))
    assert run("trust", "--yes").exit_code == 0  # it is by folder
    assert "nothing to do" in run("sync").stderr
    assert "removed 0 files" in run("store", "prune").stderr


def test_equal_projects_have_equal_locks(project: Path, upstream: Upstream) -> None:
    run("add", upstream.address, "--skill", "sql-read")
    run("add", upstream.address, "--skill", "form")
    first = (project / "satchel.lock").read_bytes()
    run("remove", "sql-read", "form")
    assert installed(project) == {}
    run("add", upstream.address, "--skill", "form", "--skill", "sql-read")

    assert (project / "satchel.lock").read_bytes() == first


def test_patterns_and_all(project: Path, upstream: Upstream) -> None:
    assert run("add", upstream.address, "--skill", "sql-*").exit_code == 0
    assert [*installed(project)] == ["sql-read/SKILL.md"]
    assert run("add", upstream.address, "--name", "rest").exit_code == 0
    assert len(installed(project)) == 4

    result = run("remove", "form")
    assert "one of 3 skills of the entry rest" in result.stderr


def test_comments_of_the_file_are_kept(project: Path, upstream: Upstream) -> None:
    """So are the ends of its lines, of whichever system."""
    before = b'# Ours.\r\nstyle = "lean"  # the default\n'
    (project / "satchel.toml").write_bytes(before)
    run("add", upstream.address, "--skill", "form")

    after = (project / "satchel.toml").read_bytes()
    assert after.startswith(before)
    assert b"[skills]\nform = " in after


def test_pyproject_has_the_table_where_it_has_ours(
    project: Path, upstream: Upstream
) -> None:
    (project / "pyproject.toml").write_text(
        '[project]\nname = "x"\n[tool.satchel]\nstyle = "lean"\n'
    )
    run("add", upstream.address, "--skill", "form")

    assert "[tool.satchel.skills]\n" in (project / "pyproject.toml").read_text()
    assert run("list", "--json").exit_code == 0


def test_upgrade_shows_and_takes_what_changed(
    project: Path, upstream: Upstream
) -> None:
    run("add", upstream.address, "--skill", "form")
    text = PACK.format("form").replace("when testing", "when filling")
    upstream.commit({"skills/form/SKILL.md": text, "skills/form/x.md": "X\n"})
    assert "nothing to do" in run("sync").stderr

    shown = run("sync", "--upgrade", "--dry-run")
    assert {"  + form/x.md", "  ~ form/SKILL.md"} <= {*shown.stdout.splitlines()}
    assert "description was: Use form when testing." in shown.stdout
    assert "would be:        Use form when filling." in shown.stdout
    assert [*installed(project)] == ["form/SKILL.md"]

    assert run("sync", "--upgrade", "form").exit_code == 0
    assert [*installed(project)] == ["form/SKILL.md", "form/x.md"]
    assert "there is no entry 'x'" in run("sync", "--upgrade", "x").stderr


def test_what_was_edited_by_hand_is_named_and_left(
    project: Path, upstream: Upstream
) -> None:
    run("add", upstream.address, "--skill", "form")
    file = project / "skills/form/SKILL.md"
    file.write_text(PACK.format("form") + "Mine.\n")
    upstream.commit({"skills/form/SKILL.md": PACK.format("form") + "Theirs.\n"})

    result = run("sync", "--upgrade")

    assert result.exit_code == 1
    assert "form was edited by hand, and is left as it is:" in result.stderr
    assert file.read_text().endswith("Mine.\n")
    assert run("sync", "--frozen").exit_code == 1
    assert run("sync", "--discard", "form").exit_code == 0
    assert file.read_text().endswith("Theirs.\n")
    assert "no skill 'x' is locked" in run("sync", "--discard", "x").stderr


def test_a_clone_without_its_skills_says_what_brings_them(
    project: Path, upstream: Upstream
) -> None:
    assert run("add", upstream.address).exit_code == 0
    shutil.rmtree(project / "skills")
    result = run("list")
    assert result.exit_code == 2
    assert result.stderr.rstrip().endswith("type: satchel sync")
    assert run("sync").exit_code == 0
    assert run("list").exit_code == 0


def test_frozen_refuses_a_lock_that_does_not_fit(
    project: Path, upstream: Upstream
) -> None:
    run("add", upstream.address, "--skill", "form")
    file = project / "satchel.toml"
    file.write_text(file.read_text().replace("skills/form", "skills/pdf"))

    result = run("sync", "--frozen")

    assert result.exit_code == 1
    assert "entry 'form' is not the one of satchel.toml" in result.stderr
    assert [*installed(project)] == ["form/SKILL.md"]


def test_upstream_that_changed_behind_a_lock_is_an_error(
    project: Path, upstream: Upstream, tmp_path: Path
) -> None:
    run("add", str(upstream.folder / "skills"))
    shutil.rmtree(tmp_path / "store")
    shutil.rmtree(project / "skills")
    (upstream.folder / "skills/form/SKILL.md").write_text(PACK.format("form") + "X\n")

    result = run("sync", "--frozen")

    assert result.exit_code == 1
    assert "form/SKILL.md was sha256:" in result.stderr
    assert not (project / "skills").exists() or installed(project) == {}


def test_two_entries_with_different_skills_of_one_name(
    project: Path, upstream: Upstream, tmp_path: Path
) -> None:
    other = Upstream(tmp_path / "other")
    other.commit({"form/SKILL.md": PACK.format("form") + "Other.\n"})
    run("add", upstream.address, "--skill", "form")

    result = run("add", other.address)

    assert result.exit_code == 1
    assert "have different skills of this name" in result.stderr
    assert installed(project) == {"form/SKILL.md": PACK.format("form")}


def test_a_skill_that_is_missing_is_named_with_close_ones(upstream: Upstream) -> None:
    result = run("add", upstream.address, "--skill", "fomr")

    assert result.exit_code == 1
    assert "it has no skill 'fomr'; did you mean form?" in result.stderr


def test_a_need_that_is_nowhere_is_a_warning(project: Path, upstream: Upstream) -> None:
    needs = PACK.format("a").replace(
        "\n---\n", "\nmetadata:\n  requires: [b, zzz]\n---\n"
    )
    back = PACK.format("b").replace("\n---\n", "\nmetadata:\n  requires: a\n---\n")
    upstream.commit({"skills/a/SKILL.md": needs, "skills/b/SKILL.md": back})

    result = run("add", upstream.address, "--skill", "a")

    assert result.exit_code == 0
    assert "a needs zzz, which is not in" in result.stderr
    assert [*installed(project)] == ["a/SKILL.md", "b/SKILL.md"]


def test_a_conflict_of_a_merge_is_named(project: Path, upstream: Upstream) -> None:
    run("add", upstream.address, "--skill", "form")
    file = project / "satchel.lock"
    file.write_text("<<<<<<< ours\n{}\n=======\n{}\n>>>>>>> theirs\n")

    result = run("sync")

    assert result.exit_code == 2
    assert "satchel.lock:1: a merge left its conflict here" in result.stderr


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"schema_version": 2}, "is of a later Satchel"),
        ({"format": "x"}, "expected 'satchel-lock'"),
        ({"skills": [{}]}, "skills[0].id: expected a text"),
    ],
)
def test_a_lock_of_another_form_is_an_error(
    project: Path, upstream: Upstream, change: dict[str, object], expected: str
) -> None:
    run("add", upstream.address, "--skill", "form")
    file = project / "satchel.lock"
    file.write_text(json.dumps(json.loads(file.read_bytes()) | change))

    result = run("sync")

    assert result.exit_code == 2
    assert expected in result.stderr


def test_an_edited_digest_in_the_lock_is_an_error(
    project: Path, upstream: Upstream
) -> None:
    run("add", upstream.address, "--skill", "form")
    file = project / "satchel.lock"
    lock = json.loads(file.read_bytes())
    lock["skills"][0]["files"][0]["digest"] = "sha256:" + "0" * 64
    file.write_text(json.dumps(lock))

    assert "it is not that of the files listed" in run("sync").stderr


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("x = 1", "expected a table"),
        ("x = { }", "expected one of git, archive, site, folder"),
        ('x = { git = "https://a/b", folder = "c" }', "expected one of"),
        ('x = { git = "https://a/b", branch = "c" }', "unknown key 'branch'"),
        ('x = { git = "https://a/b", rev = "-x" }', "no name of git's"),
        ('x = { git = "https://a/b", rev = "a..b" }', "no name of git's"),
        ('x = { git = "https://a/b", path = "../c" }', "path '../c'"),
        ('x = { git = "https://u:p@a/b" }', "no user, password or token"),
        ('x = { git = "ftp://u:p@a/b" }', "no user, password or token"),
        ('x = { git = "u:p@a:b" }', "git '***@a:b': expected https://"),
        ('x = { site = "-u:p@a" }', "'***@a' is no address or path"),
        ('x = { archive = "https://a/b.zip?Token=u:p" }', "no user, password or token"),
        ('x = { site = "https://a/b?a=1&X-Amz-Signature=u:p" }', "or token"),
        ('x = { git = "ext::sh -c x" }', "expected https://"),
        ('x = { git = "--upload-pack=x" }', "no address or path"),
        ('x = { folder = "a", rev = "b" }', "for git only"),
        ('x = { folder = "a", skills = [1] }', "expected a list of texts"),
        ("x = { folder = 1 }", "expected a text"),
        ('"a/b" = { folder = "a" }', "skills.a/b"),
    ],
)
def test_an_entry_that_cannot_be_used_is_named(
    project: Path, entry: str, expected: str
) -> None:
    (project / "satchel.toml").write_text(f"[skills]\n{entry}\n")

    result = run("sync")

    assert result.exit_code == 2
    assert expected in result.stderr
    assert "u:p" not in result.stderr


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("no such thing", "no owner/repo or address either"),
        ("https://u:secret@example.com/a.git", "no user, password or token"),
        ("https://example.com/a.zip?access_token=secret", "or token"),
        ("u:secret@example.com:a/b", "no owner/repo or address either"),
        ("ftp://u:secret@example.com/a", "is no address that is read"),
        ("ftp://example.com/a", "is no address that is read"),
        ("-x", "no such option"),
        ("ext::sh -c x", "no owner/repo or address either"),
    ],
)
def test_a_source_that_is_none_is_an_error(source: str, expected: str) -> None:
    result = run("add", source)

    assert result.exit_code == 2
    assert expected in result.stderr
    assert "secret" not in result.stderr


def test_a_repository_that_does_not_answer_is_an_error(
    project: Path, tmp_path: Path
) -> None:
    result = run("add", f"file://{tmp_path}/gone.git")

    assert result.exit_code == 1
    assert "did not answer" in result.stderr
    assert [*project.iterdir()] == []


def test_the_store_is_pruned_of_what_no_lock_needs(
    project: Path, upstream: Upstream, tmp_path: Path
) -> None:
    run("add", upstream.address)
    assert run("store").stdout == f"{tmp_path / 'store'}\n"
    assert "removed 0 files" in run("store", "prune").stderr
    run("remove", "upstream")

    result = run("store", "prune", "--json")

    assert json.loads(result.stdout)["removed"] == 4


def test_a_damaged_store_is_fetched_again(
    project: Path, upstream: Upstream, tmp_path: Path
) -> None:
    run("add", upstream.address, "--skill", "form")
    shutil.rmtree(project / "skills")
    for file in (tmp_path / "store/sha256").glob("*/*"):
        file.chmod(0o600)
        file.write_bytes(b"x" * file.stat().st_size)

    result = run("sync")

    assert result.exit_code == 0, result.stderr
    assert [*installed(project)] == ["form/SKILL.md"]


def test_a_link_in_the_place_of_the_folder_is_refused(
    project: Path, upstream: Upstream, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (project / "skills").symlink_to(outside)

    result = run("add", upstream.address)

    assert result.exit_code == 2
    assert "it is a link" in result.stderr
    assert [*outside.iterdir()] == []


def test_json_is_one_object(project: Path, upstream: Upstream) -> None:
    lines = (
        f"add {upstream.address} --skill form --skill sql-read",
        "sync",
        "verify",
        "remove sql-read",
        "store prune",
    )
    documents = {
        line.partition(" ")[0]: json.loads(run(*line.split(), "--json").stdout)
        for line in lines
    }

    assert {each["schema_version"] for each in documents.values()} == {1}
    assert [row["id"] for row in documents["add"]["changes"]] == ["form", "sql-read"]
    assert documents["verify"] | {"schema_version": 0} == {
        "schema_version": 0,
        "skills": 2,
        "differences": [],
        "not_locked": [],
        "approved": True,
    }
    assert documents["remove"]["changes"] == [{"id": "sql-read", "change": "remove"}]
    assert documents["store"]["removed"] == 1
