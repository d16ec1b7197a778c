"""find-skills: discover, then load."""

import asyncio
import inspect
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from satchel import (
    Satchel,
    SkillDescriptor,
    SkillDiscoverySkill,
    SkillRegistry,
)
from satchel.agent import Agent, Call, Message
from satchel.errors import (
    ReferenceNotAllowedError,
    ReferenceUnreadableError,
    SkillNotFoundError,
)
from satchel.policy import Policy, deny
from satchel.tools import Run, Toolbox
from satchel.usage import ListSink
from tests.fakes import FakeSource, pack
from tests.functional.library import write_pack

WEATHER = """\
---
name: weather
description: Tell the weather.
metadata:
  category: raw
  tools: forecast now
---
# Do
"""
LIBRARY = Satchel(
    FakeSource(
        "s",
        {
            "agentic_rag": {
                "SKILL.md": pack("agentic-rag", "Answer from documents."),
                "references/azure_search_config.md": "# Azure\nset AZURE_SEARCH_KEY\n",
            },
            "weather": {"SKILL.md": WEATHER},
        },
    )
)


@pytest.mark.row("A36", "A37", "A02", "A11", "A03")
def test_the_instructions_state_two_steps_and_the_tools_their_parameters() -> None:
    text = SkillDiscoverySkill(LIBRARY).instructions

    assert text.index("discover") < text.index("Then load")
    for kind in ("guidance", "recover from an error", "environment variables"):
        assert kind in text
    assert len(text) <= 800

    tools = {tool.name: tool for tool in SkillDiscoverySkill(LIBRARY).tools}

    assert list(tools) == ["list_skills", "search_skills", "load_skill_instructions"]
    properties = tools["load_skill_instructions"].parameters["properties"]
    assert list(properties) == ["skill_name", "reference"]  # type: ignore[arg-type]


@pytest.mark.row("A24", "A03", "A40", "E18")
def test_the_payload_names_the_references() -> None:
    listed = SkillDiscoverySkill(LIBRARY).tools.call("list_skills", {})

    assert listed == {
        "skills": [
            {
                "name": "agentic-rag",
                "description": "Answer from documents.",
                "category": "standard",
                "references": ["references/azure_search_config.md"],
            },
            {
                "name": "weather",
                "description": "Tell the weather.",
                "category": "raw",
                "references": [],
            },
        ]
    }


@pytest.mark.row("A25", "A40")
@pytest.mark.parametrize("query", ["AZURE_search", "documents", "Agentic"])
def test_a_search_looks_at_names_descriptions_and_reference_paths(query: str) -> None:
    found = SkillDiscoverySkill(LIBRARY).tools.call("search_skills", {"query": query})

    assert [m["name"] for m in found["matches"]] == ["agentic-rag"]  # type: ignore[index]


@pytest.mark.row("A14", "A18", "X19", "A12", "A05")
def test_both_behaviours_of_the_loading_tool() -> None:
    """Without a reference the descriptor, with one the file, byte for byte."""
    tools = SkillDiscoverySkill(LIBRARY).tools
    name = "load_skill_instructions"

    descriptor = tools.call(name, {"skill_name": "agentic-rag"})
    file = tools.call(
        name, {"skill_name": "agentic-rag", "reference": "azure_search_config.md"}
    )

    assert descriptor == {
        "name": "agentic-rag",
        "instructions": "# Do\n",
        "tools": [],
        "references": ["references/azure_search_config.md"],
    }
    assert file == "# Azure\nset AZURE_SEARCH_KEY\n"
    assert tools.call(name, {"skill_name": "nope"}) == {
        "error": "unknown_skill",
        "skill_name": "nope",
    }

    name = "load_skill_instructions"
    told = SkillDiscoverySkill(LIBRARY).tools.call(name, {"skill_name": "weather"})

    assert told["tools"] == ["forecast", "now"]  # type: ignore[index]


def test_what_may_not_be_listed_or_loaded_is_not() -> None:
    """For this ``who``; a second skill of the same Satchel has another."""
    policy = Policy(
        deny("weather", action="list", unless=lambda who: "sky" in who["groups"]),
        deny("agentic-rag", action="load", when=lambda who: who["groups"] == "sky"),
    )
    source = FakeSource(
        "s",
        {
            "rag": {"SKILL.md": pack("agentic-rag", "Answer.")},
            "weather": {"SKILL.md": pack("weather", "Tell the weather.")},
        },
    )
    open_skills = Satchel(source, policy=policy)
    ground = SkillDiscoverySkill(open_skills, who={"groups": "ground"}).tools
    sky = SkillDiscoverySkill(open_skills, who={"groups": "sky"}).tools

    def names(box: Toolbox) -> list[str]:
        listed = box.call("list_skills", {})
        return [each["name"] for each in listed["skills"]]  # type: ignore[index]

    assert names(ground) == ["agentic-rag"]
    assert names(sky) == ["agentic-rag", "weather"]
    load = {"skill_name": "agentic-rag"}
    assert "instructions" in ground.call("load_skill_instructions", load)  # type: ignore[operator]
    assert "error" in sky.call("load_skill_instructions", load)  # type: ignore[operator]


def test_a_skill_that_only_a_user_may_invoke_is_not_loaded() -> None:
    hidden = "---\nname: h\ndescription: Do it.\ndisable-model-invocation: true\n---\n"
    source = FakeSource(
        "s", {"h": {"SKILL.md": hidden}, "open": {"SKILL.md": pack("open")}}
    )
    box = SkillDiscoverySkill(Satchel(source)).tools

    told = box.call("load_skill_instructions", {"skill_name": "h"})

    assert told["error"]["code"] == "skill-withheld"  # type: ignore[index]


WEATHER_ARGS = {"skill_name": "weather"}
RAG = {"skill_name": "agentic-rag"}
AZURE = {**RAG, "reference": "azure_search_config.md"}


class Counting(FakeSource):
    """Counts how often a reference is read."""

    def __init__(self) -> None:
        packs: dict[str, dict[str, str | bytes]] = {
            "agentic_rag": {
                "SKILL.md": pack("agentic-rag", "Answer from documents."),
                "references/azure_search_config.md": "# Azure\n",
            }
        }
        super().__init__("s", packs)
        self.reads = 0

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        self.reads += path != "SKILL.md"
        return super().read(key, path, limit_bytes)


def counted() -> tuple[Counting, Satchel]:
    """Return a source that counts its reads, and a Satchel with it."""
    source = Counting()
    return source, Satchel(source)


@pytest.mark.row("F31", "T12", "A11", "A12", "A14", "A18", "A27", "A40")
def test_the_methods_give_what_the_tools_give_and_raise() -> None:
    """The parameters are those of the tool; ``get_tools`` is how a class has tools."""
    skill = SkillDiscoverySkill(LIBRARY)
    tools = skill.tools
    method = skill.load_skill_instructions

    assert list(inspect.signature(method).parameters) == ["skill_name", "reference"]
    assert method("agentic-rag", "references/azure_search_config.md") == (
        "# Azure\nset AZURE_SEARCH_KEY\n"
    )
    assert method(**AZURE) == "# Azure\nset AZURE_SEARCH_KEY\n"
    assert method("weather") == tools.call("load_skill_instructions", WEATHER_ARGS)
    assert skill.list_skills() == tools.call("list_skills", {})
    query = {"query": "AZURE"}
    assert skill.search_skills("AZURE") == tools.call("search_skills", query)
    assert list(skill.get_tools()) == list(tools)
    for name, reference, error in (
        ("nope", None, SkillNotFoundError),
        ("nope", "a.md", SkillNotFoundError),
        ("agentic-rag", "hidden.md", ReferenceNotAllowedError),
        ("agentic-rag", "../weather/SKILL.md", ReferenceNotAllowedError),
    ):
        with pytest.raises(error):
            method(name, reference)


@pytest.mark.row("A10", "A12")
@pytest.mark.parametrize("wrong", [3, None, ["agentic-rag"], b"agentic-rag", {}])
def test_what_is_no_text_is_a_typed_error_too(wrong: object) -> None:
    """A model may write any JSON, and a program hand it on."""
    method: Any = SkillDiscoverySkill(LIBRARY).load_skill_instructions
    load: Any = Satchel(FakeSource("s", {}), sinks=[ListSink()]).load

    with pytest.raises(SkillNotFoundError):
        method(wrong)
    if wrong is not None:
        with pytest.raises(ReferenceNotAllowedError):
            method("agentic-rag", wrong)
    with pytest.raises(SkillNotFoundError):
        load(wrong)


def test_what_has_no_skills_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="expected a Satchel or a SkillRegistry; got"):
        SkillDiscoverySkill("./skills")  # type: ignore[arg-type]


@pytest.mark.row("A11", "A38", "A40")
def test_a_registry_is_enough() -> None:
    registry = SkillRegistry([SkillDescriptor("a", "Use when a is needed.", "Do a.")])

    listed = SkillDiscoverySkill(registry).list_skills()

    assert [skill["name"] for skill in cast("Any", listed)["skills"]] == ["a"]


@pytest.mark.row("A11", "A38", "D30", "F96")
def test_without_an_argument_it_finds_what_the_process_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is read when it is made, so that it can be made at import."""
    monkeypatch.chdir(tmp_path)
    write_pack(tmp_path / "skills" / "late", pack("late"))
    code = (
        "from satchel import SkillDiscoverySkill\n"
        "skill = SkillDiscoverySkill()\n"
        "open('satchel.toml', 'w').write('skills = [\"skills\"]')\n"
        "print([one['name'] for one in skill.list_skills()['skills']])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout == "['late']\n", done.stderr


@pytest.mark.row("A05", "F31")
def test_a_reference_that_is_no_text_is_told_as_one() -> None:
    packs: dict[str, dict[str, str | bytes]] = {
        "a": {"SKILL.md": pack("a"), "references/b.bin": b"\0\1\2"}
    }
    skill = SkillDiscoverySkill(Satchel(FakeSource("s", packs)))

    with pytest.raises(ReferenceUnreadableError, match="it is not text: 3 bytes"):
        skill.load_skill_instructions("a", "b.bin")


@pytest.mark.row("F23", "A06", "A07", "A15")
def test_one_run_of_an_agent_reads_a_reference_once() -> None:
    """Three calls of one run are one read; the next run reads again, and sees edits."""
    source, open_skills = counted()
    skill = SkillDiscoverySkill(open_skills)

    def run() -> str:
        steps = [("load_skill_instructions", AZURE)] * 3
        return Agent(Caller(steps), skills=[skill]).run("Go.").text

    assert (run(), source.reads) == ("# Azure\n", 1)
    changed = "# Azure, revised\n"
    source.packs["agentic_rag"]["references/azure_search_config.md"] = changed
    open_skills.sync()
    source.reads = 0
    assert (run(), source.reads) == (changed, 1)


@pytest.mark.row("F23", "A06", "A07")
def test_a_context_that_is_handed_in_twice_is_two_turns() -> None:
    source, open_skills = counted()
    agent = Agent(
        Caller([("load_skill_instructions", AZURE)] * 2),
        skills=[SkillDiscoverySkill(open_skills)],
    )
    context = Run(agent="one")

    for _ in range(2):
        agent.run("Go.", context=context)

    assert source.reads == 2


@pytest.mark.row("F23", "A06", "A15")
def test_a_turn_of_a_session_that_has_it_reads_once() -> None:
    source, open_skills = counted()
    session = open_skills.session(always=[SkillDiscoverySkill(open_skills)])

    for _ in range(2):
        with session.turn():
            for _ in range(3):
                assert session.call("load_skill_instructions", AZURE) == "# Azure\n"

    assert source.reads == 2
    session.call("load_skill_instructions", AZURE)
    session.call("load_skill_instructions", AZURE)
    assert source.reads == 4, "outside of a turn nothing is kept"


@pytest.mark.row("F23", "A06", "A07", "A15")
def test_a_turn_can_be_bounded_by_hand_and_counts() -> None:
    source, open_skills = counted()
    skill = SkillDiscoverySkill(open_skills)

    async def loads() -> None:
        tools = skill.tools
        await asyncio.gather(
            *(tools.acall("load_skill_instructions", AZURE) for _ in range(3))
        )

    with skill.turn() as turn:
        skill.load_skill_instructions("agentic-rag", "azure_search_config.md")
        asyncio.run(loads())

    assert (turn.reads, turn.hits, source.reads) == (1, 3, 1)
    skill.load_skill_instructions("agentic-rag", "azure_search_config.md")
    assert source.reads == 2


@pytest.mark.row("F23", "A06")
def test_errors_are_not_kept_and_two_skills_share_nothing() -> None:
    """One turn may see two libraries that have different files of one name."""
    _, first = counted()
    source, second = counted()
    source.packs["agentic_rag"]["references/azure_search_config.md"] = "# Other\n"
    second.sync()
    one, two = SkillDiscoverySkill(first), SkillDiscoverySkill(second)

    with one.turn():
        for _ in range(2):
            with pytest.raises(ReferenceNotAllowedError):
                one.load_skill_instructions("agentic-rag", "nope.md")
        assert one.load_skill_instructions(**AZURE) == "# Azure\n"
        assert two.load_skill_instructions(**AZURE) == "# Other\n"


class Caller:
    """A model that makes calls, one a step, and answers with the last result."""

    def __init__(self, steps: Sequence[tuple[str, Mapping[str, object]]]) -> None:
        self.steps = steps

    async def complete(
        self, system: str, messages: Sequence[Message], tools: Toolbox
    ) -> Message:
        assert system == SkillDiscoverySkill.instructions
        assert len(tools) == 3
        done = [each for each in messages if each.role == "tool"]
        if len(done) == len(self.steps):
            return Message("assistant", done[-1].text)
        name, arguments = self.steps[len(done)]
        return Message("assistant", calls=(Call(str(len(done)), name, arguments),))


@pytest.mark.row("A36", "G27")
def test_an_agent_that_has_it_discovers_and_then_loads() -> None:
    load = "load_skill_instructions"
    reader = Caller([("search_skills", {"query": "azure"}), (load, RAG), (load, AZURE)])
    result = Agent(reader, skills=[SkillDiscoverySkill(LIBRARY)]).run("Go on.")

    assert result.text == "# Azure\nset AZURE_SEARCH_KEY\n"
    assert [json.loads(each.text)["name"] for each in result.messages[4:5]] == [
        "agentic-rag"
    ]
