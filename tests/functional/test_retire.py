"""``satchel retire``: out of the catalog, still loading, and named when it is gone."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from satchel import Policy, Satchel, deny, sources
from satchel.authoring import retire
from satchel.errors import (
    AlreadyThereError,
    CannotRetireError,
    NotEditableError,
    SkillNotFoundError,
)
from satchel.model import Style
from satchel.release import build_folder
from satchel.server import ServedLibrary, build_server
from tests.fakes import pack
from tests.functional.library import run, write_pack


@pytest.fixture(autouse=True)
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("old", "new", "newest"):
        write_pack(tmp_path / "skills" / name, pack(name))
    return tmp_path / "skills"


def text_of(folder: Path) -> str:
    return (folder / "SKILL.md").read_text("utf-8")


def retired(shelf: Path, *arguments: str, status: int = 0) -> str:
    result = run("retire", *arguments, "--skills", str(shelf))
    assert result.exit_code == status, result.output
    return result.output


def test_it_is_marked_by_a_small_edit_that_is_shown(shelf: Path) -> None:
    said = retired(shelf, "old", "--for", "new")

    head = "---\nname: {0}\ndescription: Use when testing.\nmetadata:\n"
    assert text_of(shelf / "old") == (
        head.format("old") + "  status: deprecated\n  replaced-by: new\n---\n# Do\n"
    )
    assert text_of(shelf / "new") == head.format("new") + "  replaces: old\n---\n# Do\n"
    assert "+  status: deprecated\n+  replaced-by: new\n" in said
    assert said.endswith("old: retired\n")


def test_it_is_out_of_the_catalog_and_still_loads_with_a_note(shelf: Path) -> None:
    retired(shelf, "old", "--for", "new")

    listed = json.loads(run("list", "--json", "--skills", str(shelf)).stdout)
    assert [each["id"] for each in listed["skills"]] == ["new", "newest"]
    shown = run("show", "old", "--skills", str(shelf))
    assert (shown.exit_code, shown.stdout) == (0, "# Do\n")
    assert "deprecated; 'new' takes its place" in shown.stderr


@pytest.mark.row("C33")
def test_its_loads_are_counted(shelf: Path) -> None:
    events: list[Any] = []

    class Sink:
        def record(self, event: object) -> None:
            events.append(event)

    retired(shelf, "old")
    with Satchel(shelf, sinks=[Sink()]) as skills:
        skills.load("old")
    assert [event.name for event in events if event.name == "old"] == ["old"]


def test_to_do_it_again_changes_nothing(shelf: Path) -> None:
    retired(shelf, "old", "--for", "new")
    before = text_of(shelf / "old"), text_of(shelf / "new")

    assert retired(shelf, "old", "--for", "new") == "old: nothing to change\n"
    assert retired(shelf, "old") == "old: nothing to change\n"
    assert (text_of(shelf / "old"), text_of(shelf / "new")) == before


def test_undo_takes_every_byte_back(shelf: Path) -> None:
    before = text_of(shelf / "old"), text_of(shelf / "new")
    retired(shelf, "old", "--for", "new")

    assert retired(shelf, "old", "--undo").endswith("old: back in use\n")
    assert (text_of(shelf / "old"), text_of(shelf / "new")) == before


def test_a_rehearsal_writes_nothing(shelf: Path) -> None:
    before = text_of(shelf / "old")

    assert retired(shelf, "old", "--dry-run").endswith("old: would be retired\n")
    assert text_of(shelf / "old") == before


def test_another_heir_takes_over(shelf: Path) -> None:
    retired(shelf, "old", "--for", "new")
    retired(shelf, "old", "--for", "newest")

    assert "replaced-by: newest" in text_of(shelf / "old")
    assert "replaces" not in text_of(shelf / "new")
    assert "replaces: old" in text_of(shelf / "newest")


def test_an_heir_inherits(shelf: Path) -> None:
    """Once both are deleted, the last one still answers for the first."""
    retired(shelf, "old", "--for", "new")
    retired(shelf, "new", "--for", "newest")
    for name in ("old", "new"):
        shutil.rmtree(shelf / name)

    assert "replaces: new old" in text_of(shelf / "newest")
    with Satchel(shelf) as skills:
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
def test_an_heir_has_to_be_there_and_lead_on(
    shelf: Path, arguments: list[str], said: str
) -> None:
    if "nope" not in arguments and arguments != ["old", "--for", "old"]:
        retired(shelf, "old", "--for", "new")
        if arguments[0] == "newest":
            retired(shelf, "new", "--for", "newest")
    before = [text_of(shelf / name) for name in ("old", "new", "newest")]

    assert said in retired(shelf, *arguments, status=1)
    assert [text_of(shelf / name) for name in ("old", "new", "newest")] == before


@pytest.mark.parametrize("arguments", [["--for", ""], ["--undo", "--for", "new"]])
def test_what_is_asked_for_has_to_make_sense(shelf: Path, arguments: list[str]) -> None:
    retired(shelf, "old", *arguments, status=2)


def test_a_pack_of_profile_strict_is_told_what_it_costs(shelf: Path) -> None:
    said = "Use it when testing strictly."
    write_pack(shelf / "own", pack("own", f"{said}\nreferences: []"))
    write_pack(shelf / "plain", pack("plain", said))

    assert "note: " in (told := retired(shelf, "own"))
    assert "is in error in profile strict now" in told
    assert "note: " not in retired(shelf, "plain")


def test_what_no_small_edit_fits_is_left_alone(shelf: Path) -> None:
    text = "---\nname: odd\ndescription: Use when: testing\n---\n# A\n"
    write_pack(shelf / "odd", text)

    said = retired(shelf, "odd", status=1)
    assert "SKILL.md:3: " in said
    assert "change it by hand" in said
    with Satchel(shelf) as skills, pytest.raises(NotEditableError):
        retire(skills, "odd")


def test_only_folders_of_the_user_are_written_to(shelf: Path, tmp_path: Path) -> None:
    with Satchel(shelf) as skills:
        build_folder(skills, tmp_path / "dist")
    with Satchel(tmp_path / "dist") as skills, pytest.raises(CannotRetireError):
        retire(skills, "old")

    other = sources.memory({"far": {"SKILL.md": pack("far")}})
    with Satchel(shelf, other) as skills:
        plan = retire(skills, "old", "far")
    assert [edit.shown for edit in plan.edits] == [f"{shelf}/old/SKILL.md"]
    assert plan.notes[0].startswith("memory/far cannot be written to")


def test_a_hidden_heir_is_marked_by_nobody(shelf: Path) -> None:
    text = pack("quiet").replace("---\n#", "disable-model-invocation: true\n---\n#")
    write_pack(shelf / "quiet", text)

    said = retired(shelf, "old", "--for", "quiet")
    assert "note: quiet is not listed, and does not say that it replaces old" in said


def test_a_file_that_changed_meanwhile_is_not_written(shelf: Path) -> None:
    with Satchel(shelf) as skills:
        plan = retire(skills, "old")
    (shelf / "old/SKILL.md").write_text("mine", "utf-8")

    with pytest.raises(AlreadyThereError, match="a moment ago"):
        plan.write()
    assert text_of(shelf / "old") == "mine"


def test_an_heir_that_is_retired_is_told(shelf: Path) -> None:
    retired(shelf, "new")

    assert "note: new is retired itself\n" in retired(shelf, "old", "--for", "new")


@pytest.mark.parametrize("arguments", [["--undo"], ["--for", "newest"]])
def test_a_former_heir_that_is_not_there_is_told(
    shelf: Path, arguments: list[str]
) -> None:
    retired(shelf, "old", "--for", "new")
    shutil.rmtree(shelf / "new")

    said = retired(shelf, "old", *arguments)
    assert "note: new is not listed; it may still say that it replaces old\n" in said


def test_either_both_are_changed_or_none(shelf: Path) -> None:
    with Satchel(shelf) as skills:
        plan = retire(skills, "old", "new")
        heir = text_of(shelf / "new")
        write_pack(shelf / "old", pack("old", "Another description."))
        with pytest.raises(AlreadyThereError):
            plan.write()

    assert text_of(shelf / "new") == heir
    assert "status" not in text_of(shelf / "old")


def test_a_hand_written_replaces_stays_with_its_author(shelf: Path) -> None:
    text = pack("by-hand").replace("---\n#", "metadata:\n  replaces: [old]\n---\n#")
    write_pack(shelf / "by-hand", text)
    retired(shelf, "old")

    assert text_of(shelf / "by-hand") == text


def gone(shelf: Path) -> Path:
    """Retire a skill and delete it."""
    retired(shelf, "old", "--for", "new")
    shutil.rmtree(shelf / "old")
    return shelf


HEIR = "The skill new takes its place: load it."


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
def test_a_model_that_asks_for_it_is_told_of_the_heir(
    shelf: Path, style: Style, tool: str, key: str
) -> None:
    write_pack(shelf / "new", pack("new"), {"a.md": "a", "references/b.md": "b"})
    arguments = {key: "old"}
    if tool == "read_skill_file":
        arguments["path"] = "a.md"
    with Satchel(gone(shelf), style=style) as skills:
        chat = skills.session()
        first, second = (str(chat.call(tool, arguments)) for _ in range(2))
        final = str(chat.call(tool, arguments))
        view = str(skills.view(style=style).tools().call(tool, arguments))

    assert HEIR in first
    assert HEIR in second
    assert "takes its place" not in final
    assert HEIR in view


def test_nobody_is_told_of_an_heir_that_is_not_for_them(shelf: Path) -> None:
    policy = Policy(deny("new"))
    with Satchel(gone(shelf), policy=policy) as skills:
        said = str(skills.session().call("load_skill", {"skill_id": "old"}))
        with pytest.raises(SkillNotFoundError) as told:
            skills.view().load("old")

    assert "takes its place" not in said
    assert told.value.replacement == ""


@pytest.mark.parametrize("style", ["agent-skills", "packs", "references"])
def test_an_mcp_client_is_told_of_the_heir(shelf: Path, style: Style) -> None:
    names = {"agent-skills": "skill_id", "packs": "name", "references": "skill_name"}
    tool = "load_skill_instructions" if style == "references" else "load_skill"

    async def ask() -> str:
        with Satchel(gone(shelf), style=style) as skills:
            from satchel.server import ServerSettings

            library = ServedLibrary(skills, ServerSettings(style=style))
            async with Client(build_server(library)) as client:
                result = await client.call_tool(tool, {names[style]: "old"})
        return str(result.content)

    assert HEIR in asyncio.run(ask())


def test_a_release_and_a_user_know_the_heir_too(shelf: Path, tmp_path: Path) -> None:
    gone(shelf)
    said = run("show", "old", "--skills", str(shelf)).stderr
    assert said == "satchel: skill 'old' not found; 'new' takes its place\n"
    with Satchel(shelf) as skills:
        build_folder(skills, tmp_path / "dist")
    with Satchel(tmp_path / "dist") as skills, pytest.raises(SkillNotFoundError) as got:
        skills.load("old")
    assert got.value.replacement == "new"
