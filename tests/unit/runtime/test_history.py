"""Loads are found in a text that several calls have brought, of skills in use only."""

import json

import pytest

from satchel.model import SeenMessage, Style
from satchel.runtime import loads_in_text
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
