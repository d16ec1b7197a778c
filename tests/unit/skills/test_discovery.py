"""find-skills: discover, then load."""

import json
from collections.abc import Sequence

import pytest

from satchel import Satchel, SkillDiscoverySkill
from satchel.agent import Agent, Call, Message
from satchel.policy import Policy, deny
from satchel.tools import Toolbox
from tests.fakes import FakeSource, pack

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
SHELF = Satchel(
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


@pytest.mark.row("A36", "A37", "A02")
def test_the_instructions_state_two_steps_and_what_references_are_for() -> None:
    text = SkillDiscoverySkill(SHELF).instructions

    assert text.index("discover") < text.index("Then load")
    for kind in ("guidance", "recover from an error", "environment variables"):
        assert kind in text
    assert len(text) <= 800


@pytest.mark.row("A11", "A03")
def test_the_tools_and_their_parameters() -> None:
    tools = {tool.name: tool for tool in SkillDiscoverySkill(SHELF).tools}

    assert list(tools) == ["list_skills", "search_skills", "load_skill_instructions"]
    properties = tools["load_skill_instructions"].parameters["properties"]
    assert list(properties) == ["skill_name", "reference"]  # type: ignore[arg-type]


@pytest.mark.row("A24", "A03", "A40", "E18")
def test_the_payload_names_the_references() -> None:
    listed = SkillDiscoverySkill(SHELF).tools.call("list_skills", {})

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
    found = SkillDiscoverySkill(SHELF).tools.call("search_skills", {"query": query})

    assert [m["name"] for m in found["matches"]] == ["agentic-rag"]  # type: ignore[index]


@pytest.mark.row("A14", "A18", "X19", "A12", "A05")
def test_both_behaviours_of_the_loading_tool() -> None:
    """Without a reference the descriptor, with one the file, byte for byte."""
    tools = SkillDiscoverySkill(SHELF).tools
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


@pytest.mark.row("X19")
def test_a_descriptor_names_the_tools_of_the_skill() -> None:
    name = "load_skill_instructions"
    told = SkillDiscoverySkill(SHELF).tools.call(name, {"skill_name": "weather"})

    assert told["tools"] == ["forecast", "now"]  # type: ignore[index]


def test_what_may_not_be_listed_or_loaded_is_not() -> None:
    """For this ``who``; a second skill on the same shelf has another."""
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
    shelf = Satchel(source, policy=policy)
    ground = SkillDiscoverySkill(shelf, who={"groups": "ground"}).tools
    sky = SkillDiscoverySkill(shelf, who={"groups": "sky"}).tools

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


class Reader:
    """A model that discovers, loads, reads a reference, and answers."""

    steps = (
        ("search_skills", {"query": "azure"}),
        ("load_skill_instructions", {"skill_name": "agentic-rag"}),
        (
            "load_skill_instructions",
            {"skill_name": "agentic-rag", "reference": "azure_search_config.md"},
        ),
    )

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
def test_an_agent_that_wears_it_discovers_and_then_loads() -> None:
    result = Agent(Reader(), skills=[SkillDiscoverySkill(SHELF)]).run("Go on.")

    assert result.text == "# Azure\nset AZURE_SEARCH_KEY\n"
    assert [json.loads(each.text)["name"] for each in result.messages[4:5]] == [
        "agentic-rag"
    ]
