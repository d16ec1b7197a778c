"""Archives and sites over HTTP, and what users write for repositories."""

import shutil
import tarfile
from pathlib import Path

import pytest

from satchel.errors import ConfigError
from satchel_install._entries import Upstream as Place, parse_source
from tests.functional.library import run
from tests.install.conftest import Upstream


def test_an_archive_at_an_address(
    site: tuple[Path, str], project: Path, upstream: Upstream, tmp_path: Path
) -> None:
    folder, address = site
    with tarfile.open(folder / "skills.tar.gz", "w:gz") as archive:
        archive.add(upstream.folder / "skills", "skills")

    result = run("add", f"{address}/skills.tar.gz?v=1", "--skill", "form")
    assert result.exit_code == 0, result.stderr

    shutil.rmtree(tmp_path / "store")
    shutil.rmtree(project / "skills")
    assert run("sync", "--frozen").exit_code == 0
    assert (project / "skills/form/SKILL.md").is_file()

    gone = run("add", f"{address}/gone.zip")
    assert gone.exit_code == 1
    assert "it answered with status 404" in gone.stderr


def test_a_site_with_an_index(
    site: tuple[Path, str], project: Path, upstream: Upstream
) -> None:
    folder, address = site
    packs = str(upstream.folder / "skills")
    assert run("publish", str(folder), "--skills", packs).exit_code == 0

    result = run("add", address, "--skill", "form")

    assert result.exit_code == 0, result.stderr
    text = (upstream.folder / "skills/form/SKILL.md").read_text()
    assert (project / "skills/form/SKILL.md").read_text() == text


def test_a_private_address_is_the_users_to_allow(
    site: tuple[Path, str], project: Path, verifying: Path
) -> None:
    verifying.write_text("")
    result = run("add", f"{site[1]}/skills.zip")

    assert result.exit_code == 1
    assert [*project.iterdir()] == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a/b", Place("git", "https://github.com/a/b")),
        ("a/b.git", Place("git", "https://github.com/a/b")),
        ("a/b/c/d@v1", Place("git", "https://github.com/a/b", "c/d", "v1")),
        (
            "https://github.com/a/b/tree/main/skills/pdf",
            Place("git", "https://github.com/a/b", "skills/pdf", "main"),
        ),
        ("https://h.example/a.git", Place("git", "https://h.example/a.git")),
        (
            "git+https://h.example/a@v1",
            Place("git", "https://h.example/a", "", "v1"),
        ),
        ("git@h.example:a/b.git", Place("git", "git@h.example:a/b.git")),
        ("ssh://git@h.example/a.git", Place("git", "ssh://git@h.example/a.git")),
        ("https://h.example/a.zip", Place("archive", "https://h.example/a.zip")),
        ("https://h.example", Place("site", "https://h.example")),
    ],
)
def test_a_source_is_understood(source: str, expected: Place) -> None:
    assert parse_source(source) == expected


def test_a_revision_is_for_git_only() -> None:
    with pytest.raises(ConfigError, match="--rev is for git only"):
        parse_source("https://h.example/a.zip", "v1")


@pytest.mark.parametrize(
    "place",
    [
        "https://127.0.0.1:1/x.git",
        "https://localhost:1/x.git",
        "https://[::1]:1/x.git",
        "ssh://git@10.0.0.1/x.git",
        "git@localhost:x.git",
        "https://169.254.169.254/x.git",
        "https://127.1:1/x.git",
        "https://0x7f000001:1/x.git",
        "https://2130706433:1/x.git",
        "git@127.1:x.git",
        "https://localhost.:1/x.git",
        "https://x.LOCALHOST:1/x.git",
    ],
)
def test_no_entry_of_others_asks_a_repository_of_this_network(
    place: str, project: Path
) -> None:
    (project / "satchel.toml").write_text(f'[skills]\na = {{git = "{place}"}}\n')
    result = run("sync")

    assert result.exit_code == 1
    assert "outside of this project, and in no lock that you approved" in result.stderr


def test_a_name_of_an_entry_is_one_that_can_be_read(
    project: Path, upstream: Upstream
) -> None:
    result = run("add", upstream.address, "--name", "a\033b")

    assert result.exit_code == 2
    assert not (project / "satchel.toml").exists()
