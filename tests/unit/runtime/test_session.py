"""A session: instructions, tools and turns."""

import asyncio
from collections.abc import Callable
from typing import Annotated, cast

import pytest
from pydantic import BeforeValidator

from satchel import Satchel, Skill
from satchel.errors import (
    DuplicateToolError,
    SkillNotFoundError,
)
from satchel.model import Question, SeenMessage, Style
from satchel.policy import Policy, PolicyRule, ask, deny
from satchel.tools import Tool
from tests.fakes import LOADERS, FakeSource, pack


def skills(count: int = 1, budget: int = 4_000) -> Satchel:
    packs = {
        f"s{i:02}": {"SKILL.md": pack(f"s{i:02}"), "references/r.md": f"text {i}"}
        for i in range(count)
    }
    source = FakeSource("s", packs)  # type: ignore[arg-type]
    return Satchel(source, budget_tokens=budget)


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
    assert "error" in str(skills().session().call(name, arguments)).casefold()


@pytest.mark.row("A07", "A06", "A15", "X16")
def test_the_next_turn_reads_again() -> None:
    source = FakeSource("s", {"a": {"SKILL.md": pack("a"), "references/r.md": "old"}})
    open_skills = Satchel(source)
    session = open_skills.session()
    with session.turn() as turn:
        session.load("a", "r.md")
        source.packs["a"]["references/r.md"] = "new"
        open_skills.sync()
        assert session.load("a", "r.md").text == "old"
    assert (turn.reads, turn.hits) == (1, 1)
    with session.turn():
        assert session.load("a", "r.md").text == "new"


@pytest.mark.row("T13", "E30")
@pytest.mark.row("A06", "X16", "E27", "F106")
@pytest.mark.parametrize("style", LOADERS)
def test_two_skills_in_one_turn_have_each_its_own_text(style: Style) -> None:
    """Both have a SKILL.md, and a reference of one path: the path alone is no key."""
    packs: dict[str, dict[str, str | bytes]] = {
        name: {"SKILL.md": pack(name, body=f"Do {name}.\n"), "references/a.md": name}
        for name in ("alpha", "beta")
    }
    session = Satchel(FakeSource("s", packs)).session(style=style)
    tool, key = LOADERS[style]
    reader, file = tool, "reference"
    if style in ("lean", "agent-skills"):
        reader, file = "read_skill_file", "path"

    with session.turn():
        for name, other in (("alpha", "beta"), ("beta", "alpha"), ("alpha", "beta")):
            instructions = str(session.call(tool, {key: name}))
            reference = str(session.call(reader, {key: name, file: "references/a.md"}))
            assert (f"Do {name}." in instructions, f"Do {other}." in instructions) == (
                True,
                False,
            )
            assert name in reference
            assert other not in reference


def test_always_on_skills_are_listed_where_few_are_and_loads_change_nothing() -> None:
    """The section follows what every process knows, so that a cached prompt holds."""
    library, small = skills(300, 100_000), skills(300, 300)
    plain, pinned = small.session(), small.session(always=["s07"])

    assert "- s07: " not in plain.instructions()
    section = str(small.prompt(featured=["s07"]))
    assert "\n- s07: " in section
    assert pinned.instructions().endswith(f"\n\n{section}")

    pinned.load("s20")
    pinned.unload("s20")
    assert pinned.instructions().endswith(f"\n\n{section}")
    resumed = skills(300, 300).session(always=["s07"], resume=pinned.dump())
    assert resumed.instructions() == pinned.instructions()
    # Where all have room, it is the section of everybody.
    assert (
        library.session(always=["s07"]).instructions().endswith(str(library.prompt()))
    )


@pytest.mark.row("T13")
@pytest.mark.parametrize(
    "message", ["", "\0\u202e\n- evil: x", "s07", "x " * 500_000, "\ud800"]
)
def test_no_message_changes_the_section_or_breaks_the_budget(message: str) -> None:
    small = skills(300, 300)

    text = small.session().instructions("Base.", message)

    section = str(small.prompt())
    assert text.startswith(f"Base.\n\n{section}")
    assert "evil" not in text
    assert small.prompt(message=message).tokens <= 300


@pytest.mark.row("T13", "A25")
def test_a_session_suggests_what_fits_the_last_message_of_the_user() -> None:
    small = skills(300, 300)
    plain, suggesting = small.session(), small.session(suggest=True)
    before = suggesting.mark
    history = [SeenMessage("user", "s03"), SeenMessage("assistant", "s04")]
    for session in (plain, suggesting):
        session.see([*history, SeenMessage("user", "s07"), SeenMessage("tool", "s09")])

    assert plain.instructions() == plain.instructions("", None) != ""
    assert "- s07: " not in plain.instructions()
    assert suggesting.instructions() == plain.instructions("", "s07")
    assert suggesting.instructions("", "s20") == plain.instructions("", "s20")
    # What a caller keeps for equal marks is not the text of another message.
    assert suggesting.mark is not before
    assert suggesting.reads_files


@pytest.mark.row("R35")
def test_the_find_tool_and_the_section_are_those_of_the_session() -> None:
    few, many = skills(3).session(), skills(30).session()

    assert "find_skills" not in [tool.name for tool in few.tools()]
    assert "find_skills" in [tool.name for tool in many.tools()]
    assert "s07" in str(many.call("find_skills", {"query": "s07"}))

    by_name = skills().session(style="references")
    assert "load_skill_instructions" in by_name.instructions()
    assert "load_skill_instructions" not in few.instructions()


@pytest.mark.row("B26", "E21")
@pytest.mark.parametrize("arguments", [None, [], "text", "[]", 5])
@pytest.mark.parametrize("name", ["load_skill", "go"])
def test_arguments_that_are_no_object_are_a_result(
    name: str, arguments: object
) -> None:
    """A model may write any JSON where arguments are to stand."""
    session = wearing(lambda: "went", ask("*")).session(always=["w"])
    given = cast("dict[str, object]", arguments)

    results = [
        session.call(name, given),
        asyncio.run(session.acall(name, given)),
        session.permit(name, given).refusal,
        asyncio.run(session.apermit(name, given)).refusal,
    ]
    said = "are no valid JSON" if arguments == "text" else "have to be an object"
    assert [said in str(each) for each in results] == [True] * 4
    assert session.decide(name, given).verdict == "allow"


@pytest.mark.row("E20")
def test_what_a_plain_function_returns_is_waited_for() -> None:
    """A lambda around a coroutine is no coroutine function, and returns one."""

    async def later() -> str:
        return "went"

    session = wearing(lambda: later()).session(always=["w"])  # noqa: PLW0108

    assert asyncio.run(session.acall("go", {})) == "went"


@pytest.mark.row("E20")
def test_arguments_are_coerced_once() -> None:
    """So does a call through the toolbox; and a question shows what was sent."""
    asked: list[object] = []

    def label(tags: Annotated[list[str], BeforeValidator(parted)]) -> list[str]:
        """Label it."""
        return tags

    always_on = Skill("w", instructions="W", tools=[label])

    def approve(question: Question) -> bool:
        asked.append(question.arguments)
        return True

    open_skills = Satchel(always_on_source(), policy=Policy(ask("w")))
    session = open_skills.session(always=[always_on], approve=approve)

    assert session.tools().call("label", {"tags": "a,b"}) == ["a", "b"]
    assert asked == [{"tags": "a,b"}]


def test_turns_that_overlap_leave_nothing_behind() -> None:
    """As parallel runs over one session may have it."""
    session = skills().session()
    first, second = session.turn(), session.turn()
    first.__enter__()
    later = second.__enter__()
    first.__exit__(None, None, None)
    session.load("s00", "r.md")
    second.__exit__(None, None, None)
    session.load("s00", "r.md")

    assert (later.reads, later.hits) == (1, 0)


@pytest.mark.parametrize("stage", [False, True])
def test_what_is_always_on_stays_when_its_pack_goes(stage: bool) -> None:
    """In this conversation; a new one that has it always on cannot begin."""
    packs = {"a": {"SKILL.md": pack("a"), "references/r.md": "text"}}
    source = FakeSource("s", packs)  # type: ignore[arg-type]
    with Satchel(source) as open_skills:
        session = open_skills.session(always=["a"], stage=stage)
        before = session.instructions()
        source.packs.clear()
        open_skills.sync()

        assert session.instructions() == before
        with pytest.raises(SkillNotFoundError):
            open_skills.session(always=["a"])


def test_tools_that_the_prompt_names_outlast_the_last_skill() -> None:
    """And tell that the skills are gone."""
    source = FakeSource("s", {"a": {"SKILL.md": pack("a")}})
    open_skills = Satchel(source)
    session = open_skills.session()
    before = session.instructions(), session.tools()
    source.packs.clear()
    open_skills.sync()

    resumed = open_skills.session(resume=session.dump())
    assert (session.instructions(), session.tools()) == before
    assert [tool.name for tool in resumed.tools()] == ["load_skill"]
    assert "Gone: a." in str(resumed.call("load_skill", {"skill_id": "a"}))
    assert len(open_skills.session().tools()) == 0


def test_a_conversation_that_began_without_skills_is_told_of_the_first() -> None:
    """There was no section to keep; from then on it stays."""
    source = FakeSource("s", {})
    open_skills = Satchel(source)
    session = open_skills.session()
    assert (session.instructions("B"), len(session.tools())) == ("B", 0)

    source.packs["a"] = {"SKILL.md": pack("a")}
    open_skills.sync()
    text = session.instructions("B")
    assert "\n- a: " in text
    assert [tool.name for tool in session.tools()] == ["load_skill"]

    source.packs["b"] = {"SKILL.md": pack("b")}
    open_skills.sync()
    assert session.instructions("B") == text
    resumed = open_skills.session(resume=session.dump())
    assert resumed.instructions("B") == text


def carrying(*names: str) -> Satchel:
    """Return skills that each carry the tool ``go``; nobody offers it yet."""
    packs = {
        name: {
            "SKILL.md": pack(name).replace("---\n", "---\nmetadata: {tools: go}\n", 1)
        }
        for name in names
    }
    return Satchel(FakeSource("s", packs), policy=Policy(deny("a", tool="go")))  # type: ignore[arg-type]


def test_a_tool_that_one_skill_may_not_call_another_may() -> None:
    """What is offered can be called, though a skill before it is denied it."""
    open_skills = carrying("a", "b")
    open_skills.offer({"go": lambda: "went"})
    session = open_skills.session()
    session.call("load_skill", {"skill_id": "a"})
    assert "denied-by-policy" in str(session.call("go", {}))
    session.call("load_skill", {"skill_id": "b"})

    assert [tool.name for tool in session.tools()] == ["load_skill", "go"]
    assert session.call("go", {}) == "went"


def test_no_tool_that_is_offered_later_takes_the_place_of_ours() -> None:
    """The next session is refused; this one goes on."""
    named = "---\nmetadata: {tools: load_skill}\n"
    text = pack("a").replace("---\n", named, 1)
    open_skills = Satchel(FakeSource("s", {"a": {"SKILL.md": text}}))
    session = open_skills.session()
    session.call("load_skill", {"skill_id": "a"})
    open_skills.offer({"load_skill": lambda skill_id: f"no {skill_id}"})

    assert "Skill: a\n" in str(session.call("load_skill", {"skill_id": "a"}))
    with pytest.raises(DuplicateToolError):
        open_skills.session()


def test_the_reader_comes_with_files_that_it_gives() -> None:
    """In the style packs load_skill itself gives references and scripts."""
    hidden = pack("h").replace("---\n", "---\ndisable-model-invocation: true\n", 1)
    packs = {"a": {"SKILL.md": pack("a")}, "h": {"SKILL.md": hidden}}
    packs["h"]["references/r.md"] = "text"
    open_skills = Satchel(FakeSource("s", packs))  # type: ignore[arg-type]

    names: dict[str, list[str]] = {}
    for style in ("agent-skills", "packs"):
        session = open_skills.session(style=style)
        session.invoke("h")
        names[style] = [tool.name for tool in session.tools()]

    assert names == {
        "agent-skills": ["load_skill", "read_skill_file"],
        "packs": ["load_skill"],
    }


def test_one_text_is_one_pattern_and_one_id() -> None:
    """And no list of letters, of which ``*`` would let everything in."""
    open_skills = skills(3)
    narrow = open_skills.session(only="s01*")

    assert [each.id for each in narrow.catalog] == ["s01"]
    wide = open_skills.session().derive(only="s02*")
    assert [each.id for each in wide.catalog] == ["s02"]
    assert len(narrow.derive(only="s02*").catalog) == 0
    assert "\nSkill: s00\n" in open_skills.session(always="s00").instructions()
    assert "\nSkill: s00\n" in open_skills.session().derive(always="s00").instructions()


def always_on_source() -> FakeSource:
    return FakeSource("s", {"a": {"SKILL.md": pack("a")}})


def wearing(handler: Callable[..., object], *rules: PolicyRule) -> Satchel:
    go = Tool("go", "Go.", {"type": "object", "properties": {}}, handler)
    always_on = Skill("w", description="Use it.", instructions="W", tools=[go])
    return Satchel(always_on_source(), always_on, policy=Policy(*rules))


def parted(text: object) -> list[str]:
    if not isinstance(text, str):
        raise ValueError("want text")  # noqa: TRY004 - as pydantic has it
    return text.split(",")


def test_the_mark_is_the_same_while_nothing_new_is_to_be_said() -> None:
    """Rules and always-on skills may have something else to say at any time."""
    session = skills().session()
    session.see([])
    session.instructions()

    first = session.mark
    session.see([])
    assert session.mark is first

    session.call("load_skill", {"skill_id": "s00"})
    assert session.mark is not first

    ruled = Satchel(always_on_source(), policy=Policy(deny("b*"))).session()
    session_with_it = skills().session(always=["s00"])

    assert ruled.mark is not ruled.mark
    assert session_with_it.mark is not session_with_it.mark
