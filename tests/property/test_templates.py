"""Whatever a value holds, it is text: no condition, no command, no placeholder."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from satchel.compat import render_template

pytestmark = pytest.mark.property

NAMES = ("A", "B", "C_1")
PIECES = (
    *(f"{{{{{name}}}}}" for name in NAMES),
    *(f"{{{{#IF {name}}}}}" for name in NAMES),
    *(f"{{{{#IF_NOT {name}}}}}" for name in NAMES),
    *("{{/IF}}", "{{/IF_NOT}}", "{{", "}}", "!`", "`", "!`echo`", "\n", "x", "#", "$1"),
)
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3)).map("".join)
values = st.dictionaries(st.sampled_from(NAMES), texts)


def commands(template: str, given_values: dict[str, str]) -> list[str]:
    """Return the commands that rendering runs."""
    ran: list[str] = []

    def run(command: str) -> str:
        ran.append(command)
        return "!`{{A}}`"

    render_template(template, given_values, run=run)
    return ran


@pytest.mark.row("E17", "G24")
@given(texts, values)
def test_no_value_reaches_a_command(
    template: str, given_values: dict[str, str]
) -> None:
    """Only whether it is empty counts, for conditions: the commands are the same."""
    plain = {name: "x" if value else "" for name, value in given_values.items()}

    assert commands(template, given_values) == commands(template, plain)


@pytest.mark.row("E17")
@given(texts)
def test_what_is_unknown_stays_as_it_is(template: str) -> None:
    text = template.replace("{{#IF", "")

    assert render_template(text, {}) == text


@given(texts, texts)
def test_a_value_stands_in_the_text_as_it_is(before: str, value: str) -> None:
    head = before.replace("{", "(")

    assert render_template(head + "{{A}}", {"A": value, "B": "b"}) == head + value


@given(texts, values)
def test_rendering_twice_gives_the_same(
    template: str, given_values: dict[str, str]
) -> None:
    first = render_template(template, given_values, run=str.upper)

    assert render_template(template, given_values, run=str.upper) == first
