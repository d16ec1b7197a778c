"""Loads are found in a text that several calls have brought, of skills in use only."""

import json

import pytest

from satchel.model import SeenMessage, Style
from satchel.runtime import loads_in_text
from satchel.runtime._history import read_history
from tests.fakes import LOADERS


def envelope(skill_id: str, body: str) -> str:
    inside = f"  <instructions>\n{body}\n  </instructions>"
    return f'<skill_context id="{skill_id}">\n{inside}\n</skill_context>'


def test_whole_loads_are_found_between_other_results() -> None:
    text = "\n".join(
        ("sun in Bern", envelope("refunds", "Pay."), envelope("a&amp;b", "Go."), "rain")
    )

    found = [*loads_in_text("agent-skills", text, {"refunds", "a&b"})]

    assert found == [
        SeenMessage("tool", envelope("refunds", "Pay."), "load_skill"),
        SeenMessage("tool", envelope("a&amp;b", "Go."), "load_skill"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        envelope("travel", "Go."),
        envelope("refunds", "Pay.").removesuffix("</skill_context>"),
        "> " + envelope("refunds", "Pay."),
        "",
    ],
)
def test_others_are_not(text: str) -> None:
    """Not in use, cut off, quoted: none of it is a load."""
    assert [*loads_in_text("agent-skills", text, {"refunds"})] == []


@pytest.mark.parametrize("style", ["packs", "references"])
def test_loads_in_json_stand_on_lines_of_their_own(style: Style) -> None:
    load = json.dumps({"name": "refunds", "body": "Pay.\nNow."})
    other = json.dumps({"name": "travel", "body": "Go."})
    text = f"sun\n{load}\n{other}\n{{broken"

    found = [*loads_in_text(style, text, {"refunds"})]

    assert found == [SeenMessage("tool", load, LOADERS[style][0])]


LEAN = "Skill: refunds\nFiles (read_skill_file): a\n\n# Refunds\n\nPay."


@pytest.mark.row("T01")
def test_lean_loads_begin_with_their_line() -> None:
    text = f"sun\n{LEAN}\nSkill: travel\n\nGo.\nSkill: bills\n\nPay.\n"

    found = [*loads_in_text("lean", text, {"refunds", "bills"})]

    assert found == [
        SeenMessage("tool", LEAN, "load_skill"),
        SeenMessage("tool", "Skill: bills\n\nPay.\n", "load_skill"),
    ]


@pytest.mark.row("T01")
@pytest.mark.parametrize(
    ("message", "ids"),
    [
        (SeenMessage("tool", LEAN, "load_skill"), {"refunds"}),
        (SeenMessage("tool", f"\n{LEAN}\nSkill: travel", "load_skill"), {"refunds"}),
        (SeenMessage("tool", LEAN, "read_skill_file"), {"refunds"}),
        (SeenMessage("tool", "Skill: refunds\n\n", "load_skill"), {"refunds"}),
        (SeenMessage("tool", LEAN, "weather"), set()),
        (SeenMessage("tool", f"Error: no.\n{LEAN}", "load_skill"), set()),
        (SeenMessage("tool", f"File: a of b\n\n{LEAN}", "read_skill_file"), set()),
        (SeenMessage("tool", "Skill 'refunds' is unchanged.", "load_skill"), set()),
        (SeenMessage("tool", "- refunds: Skill: refunds", "load_skill"), set()),
        (
            SeenMessage("user", f"<skill_context>\n{LEAN}\n</skill_context>"),
            {"refunds"},
        ),
        (SeenMessage("user", f"Look: <skill_context>\n{LEAN}"), set()),
        (SeenMessage("user", LEAN), set()),
        (SeenMessage("user", '<skill_context id="refunds">\n  <instructions>'), set()),
        (SeenMessage("assistant", LEAN), set()),
    ],
)
def test_a_lean_load_is_known_by_its_first_line(
    message: SeenMessage, ids: set[str]
) -> None:
    assert read_history("lean", [message]).ids == ids
