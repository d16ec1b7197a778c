"""What has a value is rendered, what has none stays, and no command is one any more."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, strategies as st

from satchel.authoring._convert._markup import as_text_only, render_known
from satchel.compat import render_template

_PIECES = st.sampled_from(
    [
        *("{{A}}", "{{B}}", "{{#IF A}}", "{{#IF B}}", "{{#IF_NOT A}}", "{{/IF}}"),
        *("{{/IF_NOT}}", "!", "`", "!`id`", " ", "\n", "x", "{{", "}}"),
    ]
)
TEMPLATES = st.lists(_PIECES, max_size=14).map("".join)
VALUES = st.sampled_from(["", "v", "!`id`", "`id`", "{{A}}", "{{/IF}}"])
RUN_BY_A_CLIENT = re.compile(r"(?:^|\s)!`[^`]+`|^ {0,3}```!", re.MULTILINE)


@pytest.mark.property
@pytest.mark.row("E17")
@given(TEMPLATES, VALUES, VALUES)
@example("!{{A}}", "`id`", "")
@example("{{#IF A}}{{B}}{{/IF}}", "v", "!`id`")
def test_with_every_value_it_is_the_legacy_renderer(text: str, a: str, b: str) -> None:
    """But that a command stands in a code span, whoever wrote it."""
    values = {"A": a, "B": b}
    settled = render_known(text, values, "p")

    rendered = render_template(text, values)
    assert settled.text == render_known(rendered, {}, "p").text
    told = {each.code for each in settled.findings}
    assert told <= {"command-left"} or "{{x}}" in text


@pytest.mark.property
@pytest.mark.row("E17")
@given(TEMPLATES, VALUES)
@example("!` !`id`", "")
@example("`!`id`", "")
@example("{{A}}{{A}}", "!`id`")
@example("```!\nid\n```", "")
def test_no_client_takes_anything_for_a_command(text: str, a: str) -> None:
    for settled in (render_known(text, {"A": a}, "p"), as_text_only(text, "p")):
        assert not RUN_BY_A_CLIENT.search(settled.text)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("a!`id` stays", "a!`id` stays"),
        ("`!`id`` stays", "`!`id`` stays"),
        ("!`id`", "``!`id` ``"),
        ("run\t!`a\nb`.", "run\t``!`a\nb` ``."),
        ("```!\nid\n```", "``` !\nid\n```"),
    ],
)
def test_what_was_text_to_another_program_stays_text(text: str, made: str) -> None:
    settled = as_text_only(f"1\n{text}", "p", 3)

    assert settled.text == f"1\n{made}"
    assert [(each.code, each.line) for each in settled.findings] == (
        [] if text == made else [("command-left", 5)]
    )


@pytest.mark.property
@given(TEMPLATES)
def test_without_values_only_commands_change(text: str) -> None:
    settled = render_known(text, {}, "p").text

    assert re.sub("[ `]", "", settled) == re.sub("[ `]", "", text)
    assert settled == text or "!`" in text or "```!" in text


def test_what_stays_is_told_with_every_line() -> None:
    text = "{{A}}\n\n{{B}}{{A}}{{A}}\n" + "{{A}}\n" * 5 + "!`id`\n"

    found = render_known(text, {}, "p").findings

    assert [(each.code, each.line) for each in found] == [
        ("placeholder-left", 1),
        ("command-left", 9),
    ]
    assert found[0].message.endswith(
        ": {{A}} (line 1, 3, 4, 5, 6, ...), {{B}} (line 3)"
    )


def test_a_long_command_is_told_in_short() -> None:
    (found,) = render_known(f"!`{'x' * 200}`", {}, "p").findings

    assert len(found.message) < 150


def test_what_went_with_its_condition_is_not_told() -> None:
    settled = render_known("{{#IF A}}{{B}} !`id`{{/IF}}", {"A": ""}, "p")

    assert settled == ("", ())


def test_a_condition_without_a_value_keeps_what_it_holds() -> None:
    settled = render_known("{{#IF B}}{{A}}{{/IF}}", {"A": "v"}, "p")

    assert settled.text == "{{#IF B}}v{{/IF}}"
    assert [each.code for each in settled.findings] == ["condition-left"]
