"""``satchel retire``: out of the catalog, still loading, and named when it is gone."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import get_args

import pytest
from mcp import Client

from satchel import Policy, Satchel, deny, sources
from satchel.errors import (
    AlreadyThereError,
    CannotRetireError,
    NotEditableError,
    SkillNotFoundError,
)
from satchel.model import Style
from satchel_lab.authoring import retire
from satchel_server import ServedLibrary, ServerSettings, build_server
from satchel_store.release import build_folder
from tests.fakes import pack
from tests.functional.library import run, tree, write_pack


@pytest.fixture(autouse=True)
def library(tmp_path: Path) -> Path:
    for name in ("old", "new", "newest"):
        write_pack(tmp_path / "skills" / name, pack(name))
    return tmp_path / "skills"


def text_of(folder: Path) -> str:
    return (folder / "SKILL.md").read_text("utf-8")


def retired(library: Path, *arguments: str, status: int = 0) -> str:
    result = run("retire", *arguments, "--skills", str(library))
    assert result.exit_code == status, result.output
    return result.output


def test_it_is_marked_by_a_small_edit_that_is_shown(library: Path) -> None:
    said = retired(library, "old", "--for", "new")

    head = "---\nname: {0}\ndescription: Use when testing.\nmetadata:\n"
    assert text_of(library / "old") == (
        head.format("old") + "  status: deprecated\n  replaced-by: new\n---\n# Do\n"
    )
    assert (
        text_of(library / "new") == head.format("new") + "  replaces: old\n---\n# Do\n"
    )
    assert "+  status: deprecated\n+  replaced-by: new\n" in said
    assert said.endswith("old: retired\n")


@pytest.mark.row("C33")
def test_it_is_out_of_the_catalog_and_still_loads_with_a_note(library: Path) -> None:
    """And its loads are counted."""
    retired(library, "old", "--for", "new")

    listed = json.loads(run("list", "--json", "--skills", str(library)).stdout)
    assert [skill["id"] for skill in listed["skills"]] == ["new", "newest"]
    shown = run("show", "old", "--skills", str(library))
    assert (shown.exit_code, shown.stdout) == (0, "# Do\n")
    assert "deprecated; 'new' takes its place" in shown.stderr
    usage = json.loads(run("usage", "--json").stdout)
    assert [(use["name"], use["by_hand"]) for use in usage["skills"]] == [("old", 1)]


def test_undo_takes_every_byte_back_and_a_second_time_changes_nothing(
    library: Path,
) -> None:
    before = tree(library)
    assert retired(library, "old", "--dry-run").endswith("old: would be retired\n")
    assert tree(library) == before
    retired(library, "old", "--for", "new")
    after = tree(library)

    for more in ((), ("--for", "new")):
        assert retired(library, "old", *more) == "old: nothing to change\n"
    assert tree(library) == after
    assert retired(library, "old", "--undo").endswith("old: back in use\n")
    assert tree(library) == before


def test_another_replacement_takes_over(library: Path) -> None:
    retired(library, "old", "--for", "new")
    retired(library, "old", "--for", "newest")

    assert "replaced-by: newest" in text_of(library / "old")
    assert "replaces" not in text_of(library / "new")
    assert "replaces: old" in text_of(library / "newest")


def test_a_replacement_inherits(library: Path) -> None:
    """Once both are deleted, the last one still answers for the first."""
    retired(library, "old", "--for", "new")
    said = retired(library, "new", "--for", "newest")
    assert "note: " not in said
    assert "note: new is retired itself\n" in retired(library, "old", "--for", "new")
    for name in ("old", "new"):
        shutil.rmtree(library / name)

    assert "replaces: new old" in text_of(library / "newest")
    with Satchel(library) as skills:
        assert skills.registry.catalog.replacement_of("old") == "newest"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nope"], "skill 'nope' not found"),
        (["old", "--for", "nope"], "skill 'nope' not found"),
        (["old", "--for", "old"], "it cannot take its own place"),
        (["new", "--for", "old"], "its replacement 'old' leads back to it"),
        (["newest", "--for", "old"], "its replacement 'old' leads back to it"),
    ],
)
def test_a_replacement_has_to_be_there_and_lead_on(
    library: Path, arguments: list[str], said: str
) -> None:
    if arguments[-1] == "old" != arguments[0]:
        retired(library, "old", "--for", "new")
    if arguments[0] == "newest":
        retired(library, "new", "--for", "newest")
    before = tree(library)

    assert said in retired(library, *arguments, status=1)
    assert tree(library) == before


@pytest.mark.parametrize("arguments", [["--for", ""], ["--undo", "--for", "new"]])
def test_what_is_asked_for_has_to_make_sense(
    library: Path, arguments: list[str]
) -> None:
    retired(library, "old", *arguments, status=2)


def test_a_pack_of_profile_strict_is_reported_what_it_costs(library: Path) -> None:
    said = "Use it when testing strictly."
    write_pack(library / "own", pack("own", f"{said}\nreferences: []"))
    write_pack(library / "plain", pack("plain", said))

    assert "note: " in (told := retired(library, "own"))
    assert "is in error in profile strict now" in told
    assert "note: " not in retired(library, "plain")


def test_what_no_small_edit_fits_is_left_alone(library: Path) -> None:
    text = "---\nname: odd\ndescription: Use when: testing\n---\n# A\n"
    write_pack(library / "odd", text)

    said = retired(library, "odd", status=1)
    assert "SKILL.md:3: " in said
    assert "change it by hand" in said
    with Satchel(library) as skills, pytest.raises(NotEditableError):
        retire(skills, "odd")


def test_only_folders_of_the_user_are_written_to(library: Path, tmp_path: Path) -> None:
    with Satchel(library) as skills:
        build_folder(skills, tmp_path / "dist")
    with Satchel(tmp_path / "dist") as skills, pytest.raises(CannotRetireError):
        retire(skills, "old")

    other = sources.memory({"far": {"SKILL.md": pack("far")}})
    with Satchel(library, other) as skills:
        plan = retire(skills, "old", "far")
    assert [edit.shown for edit in plan.edits] == [f"{library}/old/SKILL.md"]
    assert plan.notes[0].startswith("memory/far cannot be written to")


def test_a_hidden_replacement_is_not_marked(library: Path) -> None:
    text = pack("quiet").replace("---\n#", "disable-model-invocation: true\n---\n#")
    write_pack(library / "quiet", text)

    said = retired(library, "old", "--for", "quiet")
    assert "note: quiet is not listed, and does not say that it replaces old" in said


@pytest.mark.parametrize("arguments", [["--undo"], ["--for", "newest"]])
def test_a_former_replacement_that_is_not_there_is_reported(
    library: Path, arguments: list[str]
) -> None:
    retired(library, "old", "--for", "new")
    shutil.rmtree(library / "new")

    said = retired(library, "old", *arguments)
    assert "note: new is not listed; it may still say that it replaces old\n" in said


def test_either_both_are_changed_or_none(library: Path) -> None:
    with Satchel(library) as skills:
        plan = retire(skills, "old", "new")
        replacement = text_of(library / "new")
        write_pack(library / "old", pack("old", "Another description."))
        with pytest.raises(AlreadyThereError):
            plan.write()

    assert text_of(library / "new") == replacement
    assert "status" not in text_of(library / "old")


def test_a_hand_written_replaces_stays_with_its_author(library: Path) -> None:
    text = pack("by-hand").replace("---\n#", "metadata:\n  replaces: [old]\n---\n#")
    write_pack(library / "by-hand", text)
    retired(library, "old")

    assert text_of(library / "by-hand") == text


def gone(library: Path) -> Path:
    """Retire a skill and delete it."""
    retired(library, "old", "--for", "new")
    shutil.rmtree(library / "old")
    return library


REPLACEMENT = "The skill new takes its place: load it."


@pytest.mark.parametrize(
    ("style", "tool", "key"),
    [
        ("agent-skills", "load_skill", "skill_id"),
        ("agent-skills", "read_skill_file", "skill_id"),
        ("packs", "load_skill", "name"),
        ("packs", "read_skill_file", "name"),
        ("references", "load_skill_instructions", "skill_name"),
    ],
)
def test_a_model_that_asks_for_it_is_told_of_the_replacement(
    library: Path, style: Style, tool: str, key: str
) -> None:
    write_pack(library / "new", pack("new"), {"a.md": "a", "references/b.md": "b"})
    arguments = {key: "old"} | ({"path": "a.md"} if tool == "read_skill_file" else {})
    with Satchel(gone(library), style=style) as skills:
        chat = skills.session()
        first, second, final = (str(chat.call(tool, arguments)) for _ in range(3))
        view = str(skills.view(style=style).tools().call(tool, arguments))

    assert REPLACEMENT in first
    assert REPLACEMENT in second
    assert "takes its place" not in final
    assert REPLACEMENT in view


def test_a_replacement_is_named_only_to_those_who_may_use_it(library: Path) -> None:
    policy = Policy(deny("new"))
    with Satchel(gone(library), policy=policy) as skills:
        said = str(skills.session().call("load_skill", {"skill_id": "old"}))
        with pytest.raises(SkillNotFoundError) as told:
            skills.view().load("old")

    assert "takes its place" not in said
    assert told.value.replacement == ""


@pytest.mark.parametrize("style", get_args(Style))
def test_an_mcp_client_is_told_of_the_replacement(library: Path, style: Style) -> None:
    key = {"packs": "name", "references": "skill_name"}.get(style, "skill_id")
    tool = "load_skill_instructions" if style == "references" else "load_skill"

    async def ask() -> str:
        with Satchel(gone(library), style=style) as skills:
            served = ServedLibrary(skills, ServerSettings(style=style))
            async with Client(build_server(served)) as client:
                return str((await client.call_tool(tool, {key: "old"})).content)

    assert REPLACEMENT in asyncio.run(ask())


def test_a_release_and_a_user_know_the_replacement_too(
    library: Path, tmp_path: Path
) -> None:
    gone(library)
    said = run("show", "old", "--skills", str(library)).stderr
    assert said == "error: skill 'old' not found; 'new' takes its place\n"
    with Satchel(library) as skills:
        build_folder(skills, tmp_path / "dist")
    with Satchel(tmp_path / "dist") as skills, pytest.raises(SkillNotFoundError) as got:
        skills.load("old")
    assert got.value.replacement == "new"
