"""A session: instructions, tools and turns."""

from pathlib import Path

import pytest

from satchel import Satchel
from satchel.errors import ReferenceNotFoundError
from tests.fakes import FakeSource, pack


def skills(count: int = 1) -> Satchel:
    packs = {
        f"s{i:02}": {"SKILL.md": pack(f"s{i:02}"), "references/r.md": f"text {i}"}
        for i in range(count)
    }
    return Satchel(FakeSource("s", packs))  # type: ignore[arg-type]


@pytest.mark.row("D20", "D01")
def test_instructions_are_the_base_a_blank_line_and_the_section() -> None:
    text = skills().session().instructions("You are the desk.")

    assert text.startswith("You are the desk.\n\n## Agent Skills\n")


@pytest.mark.row("D05", "D21")
def test_the_tool_catalogue_has_load_skill_and_calls_it() -> None:
    session = skills().session()

    assert [tool.name for tool in session.tools()] == ["load_skill", "read_skill_file"]
    result = str(session.call("load_skill", {"skill_id": "s00"}))
    assert '<skill_context id="s00">' in result


@pytest.mark.row("D14", "C32")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("load_skill", {"skill_id": "nope"}),
        ("load_skill", {}),
        ("load_skill", {"skill_id": 3}),
        ("load_skill", {"skill_id": "s00", "extra": 1}),
        ("read_skill_file", {"skill_id": "s00", "path": "../x"}),
        ("no_such_tool", {}),
    ],
)
def test_no_call_ever_raises(name: str, arguments: dict[str, object]) -> None:
    """What cannot be carried out is a result that says so."""
    assert "error" in str(skills().session().call(name, arguments))


@pytest.mark.row("A06", "A15", "X16")
def test_within_a_turn_a_file_is_read_once() -> None:
    session = skills().session()
    with session.turn() as turn:
        first = session.load("s00", "r.md")
        again = session.load("s00", "r.md")

    assert first.text == again.text == "text 0"
    assert (turn.reads, turn.hits) == (1, 1)


@pytest.mark.row("A07")
def test_the_next_turn_reads_anew() -> None:
    source = FakeSource("s", {"a": {"SKILL.md": pack("a"), "references/r.md": "old"}})
    shelf = Satchel(source)
    session = shelf.session()
    with session.turn():
        session.load("a", "r.md")
        source.packs["a"]["references/r.md"] = "new"
        shelf.sync()
        assert session.load("a", "r.md").text == "old"
    with session.turn():
        assert session.load("a", "r.md").text == "new"


@pytest.mark.row("X16")
def test_errors_are_never_cached() -> None:
    source = FakeSource("s", {"a": {"SKILL.md": pack("a"), "references/r.md": "x"}})
    session = Satchel(source).session()
    text = source.packs["a"].pop("references/r.md")
    with session.turn():
        with pytest.raises(ReferenceNotFoundError):
            session.load("a", "r.md")
        source.packs["a"]["references/r.md"] = text
        assert session.load("a", "r.md").text == "x"


@pytest.mark.row("R35")
def test_the_find_tool_is_offered_where_the_catalog_is_long_or_cut() -> None:
    few, many = skills(3).session(), skills(30).session()

    assert "find_skills" not in [tool.name for tool in few.tools()]
    assert "find_skills" in [tool.name for tool in many.tools()]
    assert "s07" in str(many.call("find_skills", {"query": "s07"}))


@pytest.mark.parametrize(
    ("style", "names"),
    [
        ("agent-skills", ["load_skill", "read_skill_file"]),
        ("packs", ["load_skill"]),
        ("references", ["list_skills", "search_skills", "load_skill_instructions"]),
    ],
)
def test_each_style_has_its_own_tools(style: str, names: list[str]) -> None:
    session = skills().session(style=style)  # type: ignore[arg-type]

    assert [tool.name for tool in session.tools()] == names


def test_an_edit_is_seen_by_the_tools_after_a_sync(tmp_path: Path) -> None:
    home = tmp_path / "a"
    home.mkdir()
    (home / "SKILL.md").write_text(pack("a"))
    shelf = Satchel(tmp_path)
    session = shelf.session()
    (home / "SKILL.md").write_text(pack("a", body="# New\n"))
    shelf.sync()

    assert "# New" in str(session.call("load_skill", {"skill_id": "a"}))


def test_the_section_names_the_tool_of_the_session_not_of_the_shelf() -> None:
    shelf = skills()

    assert "load_skill_instructions" in shelf.session(style="references").instructions()
    assert "load_skill_instructions" not in shelf.session().instructions()


def test_a_conflict_that_comes_later_is_a_result() -> None:
    """It costs the skills of that name, where there is no good catalog before it."""
    source = FakeSource("s", {})
    shelf = Satchel(source)
    session = shelf.session()
    source.packs = {
        "x": {"SKILL.md": pack("a")},
        "y": {"SKILL.md": pack("a", body="# Other\n")},
        "b": {"SKILL.md": pack("b")},
    }
    shelf.sync()

    result = str(session.call("load_skill", {"skill_id": "a"}))

    assert "several packs claim the skill" in result
    assert "s/x" not in result
    assert "# Do" in str(session.call("load_skill", {"skill_id": "b"}))
