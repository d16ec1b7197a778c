"""Packs in memory, and skills written in code."""

import pytest

from satchel import sources
from satchel.agent import Skill
from satchel.errors import (
    DuplicateSkillError,
    LimitExceededError,
    SkillManifestError,
    SkillNotFoundError,
)
from satchel.model import Json, Limits
from satchel.tools import Tool
from tests.unit.sources.trees import keys, told

TEXT = "---\nname: a\ndescription: About a.\n---\n"


@pytest.mark.row("R11")
def test_a_skill_in_a_library_needs_a_description() -> None:
    with pytest.raises(
        SkillManifestError, match=r"Skill\('a'\): .* needs a description"
    ):
        sources.memory(Skill("a", instructions="Do it.", description=" \n"))


def test_a_skill_becomes_a_skill_file() -> None:
    """Whatever stands in its name and description is still one value each."""
    skill = Skill("a: b", description='x\n"y": # é', instructions="Do\r\nit.")

    assert sources.memory(skill).manifest("a: b").decode() == (
        '---\nname: "a: b"\ndescription: "x\\n\\"y\\": # é"\n---\nDo\r\nit.'
    )


def test_later_changes_do_not_come_through() -> None:
    """Text is UTF-8, and each name is taken once."""
    packs = {"a": {"SKILL.md": TEXT, "x.md": "é", "y": "\ud800"}}
    source = sources.memory(packs)
    skill = Skill("a", description="About a.")
    for given in ((packs, skill), (skill, skill)):
        with pytest.raises(DuplicateSkillError):
            sources.memory(*given)
    packs["a"]["SKILL.md"] = "changed"
    packs["b"] = {"SKILL.md": TEXT}

    assert keys(source) == ["a"]
    assert source.manifest("a") == TEXT.encode()
    assert source.read("a", "x.md", 9) == b"\xc3\xa9"
    assert source.read("a", "y", 9) == b"\xed\xa0\x80"
    assert repr(sources.memory({})) == "MemorySource(0 packs, label='memory')"


def test_what_is_wrong_with_a_pack_is_told() -> None:
    source = sources.memory(
        {
            "a": {"SKILL.md": TEXT, "../x": "", ".env": "", "con.md": ""},
            "deep": {"SKILL.md": TEXT, "x/y/z": ""},
            "none": {"readme.md": ""},
        },
        label="mine",
        limits=Limits(pack_depth=1, skill_md_bytes=10),
    )

    assert keys(source) == ["a"]
    assert told(source) == [
        ("note", "files-left-out", "mine/a"),
        ("warning", "unsafe-file-name", "mine/a/../x"),
        ("error", "limit-exceeded", "mine/deep"),
        ("error", "missing-skill-file", "mine/none"),
    ]
    with pytest.raises(SkillNotFoundError):
        source.manifest("none")
    with pytest.raises(LimitExceededError):
        source.manifest("a")


@pytest.mark.row("E18")
def test_a_skill_file_names_the_tools_and_the_category_of_the_skill() -> None:
    schema: dict[str, Json] = {"type": "object", "properties": {}}
    tools = [Tool(name, "", schema, print) for name in ("pay", "ask")]
    skill = Skill("a", description="About a.", tools=tools, category="raw")

    assert sources.memory(skill).manifest("a").decode() == (
        '---\nname: "a"\ndescription: "About a."\n'
        'metadata:\n  tools: "pay ask"\n  category: "raw"\n---\n'
    )
