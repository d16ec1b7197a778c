"""``satchel add`` of plugins: it reports what ``list`` reports of the same folder."""

import json
import os
import shlex
import shutil
import tarfile
from pathlib import Path
from typing import Final

import pytest

from satchel_install._entries import parse_source
from tests.functional.library import run
from tests.functional.test_plugins import (
    CONTRADICTIONS,
    HOSTILE,
    LAYOUTS,
    MANIFEST,
    MARKET,
    TWO,
    UNLISTED,
    Tree,
    doctors,
    entry,
    findings_of,
    market,
    skill,
    two,
    write,
)
from tests.install.conftest import Upstream

TREES: Final[dict[str, Tree]] = {
    "packs that no plugin has": UNLISTED,
    **{name: tree for name, (tree, _) in LAYOUTS.items()},
    **{name: tree for name, (tree, _) in CONTRADICTIONS.items()},
    **{name: tree for name, (tree, _) in HOSTILE.items()},
}
KINDS: Final = ("git", "archive", "folder")


def place_of(kind: str, tmp_path: Path) -> str:
    """Return what to add, so that it has what is in the folder ``upstream``."""
    folder = tmp_path / "upstream"
    if kind == "folder":
        return str(folder)
    if kind == "archive":
        with tarfile.open(
            tmp_path / "given.tar.gz", "w:gz", compresslevel=0
        ) as archive:
            archive.add(folder, "given")
        return str(tmp_path / "given.tar.gz")
    if shutil.which("git") is None:
        pytest.skip("git is not installed; to run this: make engines")
    folder.rename(tmp_path / "files")
    repository = Upstream(folder)
    shutil.copytree(tmp_path / "files", folder, symlinks=True, dirs_exist_ok=True)
    repository.commit({})
    return repository.address


def plugin_lines(place: str, folder: Path, *command: str) -> list[str]:
    """Return what a command says of plugins, with paths as in the folder."""
    shown = os.path.relpath(place) if "://" not in place else place
    begins = (f"{place}/", f"{shown}/", f"{Path.cwd() / shown}/")
    lines = findings_of(*command)
    for begin in begins:
        lines = [line.removeprefix(begin) for line in lines]
    return [line.replace(f"{folder}/", "") for line in lines]


@pytest.mark.row("U01", "R25")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_add_reports_of_plugins_what_list_reports(
    tree: Tree, kind: str, tmp_path: Path
) -> None:
    folder = write({**tree, "skills/z/SKILL.md": skill("z")}, tmp_path / "upstream")
    listed = plugin_lines(str(folder), folder, "list", str(folder))
    place = place_of(kind, tmp_path)

    added = plugin_lines(place, folder, "add", place, "--name", "all", "--dry-run")

    assert sorted(added) == sorted(listed)


@pytest.mark.parametrize("kind", KINDS)
def test_a_link_in_place_of_a_manifest_is_not_followed(
    kind: str, tmp_path: Path, canary: Path
) -> None:
    """Wherever it leads: what it leads to is not read."""
    folder = write({"skills/x/SKILL.md": skill("x")}, tmp_path / "upstream")
    write({"skills/x/plugin.json": "{}", MARKET: market()}, folder)
    (folder / "plugin.json").symlink_to(canary / "secret")
    place = place_of(kind, tmp_path)

    added = plugin_lines(place, folder, "add", place, "--name", "all")

    assert len(added) == 1
    assert added[0].startswith("plugin.json: warning ")
    assert "a link is not followed" in added[0]
    assert "canary-secret" not in added[0]


def test_who_adds_gets_no_advice_that_is_for_the_author(tmp_path: Path) -> None:
    """What nobody else can fix has no advice."""
    write(UNLISTED, tmp_path / "upstream")
    place = place_of("git", tmp_path)

    result = run("add", place)

    assert "this marketplace leaves out packs that are below it: skills/draft" in (
        result.stderr
    )
    assert "fix:" not in result.stderr


@pytest.mark.parametrize("named", [(), ("--skill", "doctor")])
@pytest.mark.parametrize("kind", ["git", "folder"])
@pytest.mark.parametrize(
    "tree",
    [
        two(MANIFEST),
        TWO,
        doctors("plugins/odd name/skills/doctor", "plugins/$(x)/skills/doctor"),
        {**doctors("skills/doctor"), "SKILL.md": skill("doctor", "root")},
    ],
    ids=["plugins", "no plugins", "odd names", "one at the root"],
)
def test_of_packs_of_one_name_the_message_has_a_command_that_adds_one(
    tree: Tree, kind: str, named: tuple[str, ...], tmp_path: Path, project: Path
) -> None:
    write({**tree, "skills/z/SKILL.md": skill("z")}, tmp_path / "upstream")
    place = place_of(kind, tmp_path)

    refused = run("add", place, "--name", "all", *named)
    begin, _, command = refused.stderr.partition("; to add one: satchel ")

    assert "2 packs are called so: " in begin
    is_named = ", of the plugins alpha, beta" in begin
    assert is_named is (MANIFEST in str(tree))
    added = run(*shlex.split(command.splitlines()[0]))
    assert added.exit_code == 0, added.stderr
    assert (project / "skills/doctor").is_dir()
    assert run("sync", "--frozen").exit_code == 0


def test_the_command_has_the_revision(tmp_path: Path, project: Path) -> None:
    write(two(MANIFEST), tmp_path / "upstream")
    place = place_of("git", tmp_path)
    repository = Path(place.removeprefix("file://"))
    (repository / ".git/refs/heads/of").mkdir()
    shutil.copy(
        repository / ".git/refs/heads/main", repository / ".git/refs/heads/of/x"
    )

    refused = run("add", place, "--rev", "of/x", "--skill", "doctor")
    command = refused.stderr.partition("; to add one: satchel ")[2]

    assert run(*shlex.split(command)).exit_code == 0
    assert 'rev = "of/x"' in (project / "satchel.toml").read_text()


def test_packs_of_one_name_in_an_archive(tmp_path: Path, project: Path) -> None:
    write({**two(MANIFEST), "z/SKILL.md": skill("z")}, tmp_path / "upstream")
    place = place_of("archive", tmp_path)

    result = run("add", place)
    begin, _, command = result.stderr.partition("; to add one: satchel ")

    assert ", of the plugins alpha, beta" in begin
    added = run(*shlex.split(command.splitlines()[0]))
    assert added.exit_code == 0, added.stderr
    assert (project / "skills/doctor").is_dir()
    shutil.rmtree(os.environ["SATCHEL_STORE"])
    shutil.rmtree(project / "skills")
    assert run("sync", "--frozen").exit_code == 0


@pytest.mark.parametrize("kind", ["git", "archive"])
@pytest.mark.parametrize("which", ["alpha", "beta"])
def test_a_path_says_which_of_two_is_meant(
    kind: str, which: str, tmp_path: Path, project: Path
) -> None:
    write({**two(MANIFEST), "z/SKILL.md": skill("z")}, tmp_path / "upstream")
    place, other = place_of(kind, tmp_path), {"alpha": "beta", "beta": "alpha"}[which]
    paths = {one: f"plugins/{one}/skills/doctor" for one in (which, other)}

    added = run("add", place, "--path", paths[which])
    assert added.exit_code == 0, added.stderr
    lock = json.loads((project / "satchel.lock").read_text())
    assert [one["path"] for one in lock["skills"]] == [paths[which]]
    assert run("sync").exit_code == 0

    # Both cannot be there; what the message says works.
    both = run("add", place, "--path", paths[other])
    assert both.exit_code == 1
    assert "have different skills of this name; keep one: " in both.stderr
    advice = both.stderr.partition("or type: satchel ")[2]
    assert run(*shlex.split(advice)).exit_code == 0
    assert run("add", place, "--path", paths[other]).exit_code == 0


def test_the_one_at_the_top_can_be_added(tmp_path: Path, project: Path) -> None:
    tree = {**doctors("skills/doctor"), "SKILL.md": skill("doctor", "root")}
    write({**tree, "skills/z/SKILL.md": skill("z")}, tmp_path / "upstream")
    place = place_of("git", tmp_path)

    refused = run("add", place, "--skill", "doctor")
    assert "the one at the top is added with --path ." in refused.stderr
    assert run("add", place, "--path", ".").exit_code == 0
    assert run("add", place, "--skill", "z").exit_code == 0
    assert "root" in (project / "skills/doctor/SKILL.md").read_text()
    assert sorted(one.name for one in (project / "skills").iterdir()) == ["doctor", "z"]
    shutil.rmtree(os.environ["SATCHEL_STORE"])
    shutil.rmtree(project / "skills")
    assert run("sync", "--frozen").exit_code == 0
    assert run("remove", "z").exit_code == 0
    assert sorted(one.name for one in (project / "skills").iterdir()) == ["doctor"]


def test_a_pack_at_the_top_that_is_named_brings_no_other(
    tmp_path: Path, project: Path
) -> None:
    tree = {"SKILL.md": skill("doctor"), "skills/z/SKILL.md": skill("z")}
    write(tree, tmp_path / "upstream")

    assert run("add", place_of("git", tmp_path), "--skill", "doctor").exit_code == 0
    assert sorted(one.name for one in (project / "skills").iterdir()) == ["doctor"]


def test_a_folder_of_a_repository_that_is_reached_by_ssh() -> None:
    of = parse_source("git@example.com:team/skills.git/tree/HEAD/plugins/a/skills/x")

    assert (of.place, of.path, of.rev) == (
        "git@example.com:team/skills.git",
        "plugins/a/skills/x",
        "",
    )


@pytest.mark.parametrize("kind", KINDS)
def test_an_internal_skill_is_added_as_it_is_listed(
    kind: str, tmp_path: Path, project: Path
) -> None:
    """``metadata.internal`` is the word of one client: it hides nothing here."""
    text = skill("x").replace("\n---\n", "\nmetadata:\n  internal: true\n---\n")
    folder = write({"skills/x/SKILL.md": text}, tmp_path / "upstream")
    write({MARKET: market(entry("a", "./", skills=[]))}, folder)
    listed = json.loads(run("list", str(folder), "--json").stdout)["skills"]

    run("add", place_of(kind, tmp_path))

    assert [one["id"] for one in listed] == ["x"]
    assert [file.name for file in (project / "skills").iterdir()] == ["x"]
