"""find-skills: discover, then load."""

import pytest

from satchel import Satchel, SkillDiscoverySkill
from tests.fakes import FakeSource, pack

SHELF = Satchel(
    FakeSource(
        "s",
        {
            "agentic_rag": {
                "SKILL.md": pack("agentic-rag", "Answer from documents."),
                "references/azure_search_config.md": "# Azure\nset AZURE_SEARCH_KEY\n",
            },
            "weather": {"SKILL.md": pack("weather", "Tell the weather.")},
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


@pytest.mark.row("A24", "A03", "A40")
def test_the_payload_names_the_references() -> None:
    listed = SkillDiscoverySkill(SHELF).tools.call("list_skills", {})

    assert listed == {
        "skills": [
            {
                "name": "agentic-rag",
                "description": "Answer from documents.",
                "references": ["references/azure_search_config.md"],
            },
            {"name": "weather", "description": "Tell the weather.", "references": []},
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
