"""What has a value is rendered, no command stays one, and texts are described."""

import re
from collections import Counter

import pytest
from hypothesis import example, given, strategies as st

from satchel_compat import render_template
from satchel_lab.authoring._convert._builder import describe
from satchel_lab.authoring._convert._markup import as_text_only, render_known

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
    """But a command is in a code span, whatever it came from."""
    values = {"A": a, "B": b}
    settled = render_known(text, values, "p")

    rendered = render_template(text, values)
    assert settled.text == render_known(rendered, {}, "p").text
    reported = {finding.code for finding in settled.findings}
    assert reported <= {"command-left"} or "{{x}}" in text


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
    assert [(f.code, f.line) for f in settled.findings] == (
        [] if text == made else [("command-left", 5)]
    )


@pytest.mark.property
@given(TEMPLATES)
def test_without_values_only_commands_change(text: str) -> None:
    settled = render_known(text, {}, "p").text

    assert re.sub("[ `]", "", settled) == re.sub("[ `]", "", text)
    assert settled == text or "!`" in text or "```!" in text


def test_what_stays_is_reported_with_every_line() -> None:
    text = "{{A}}\n\n{{B}}{{A}}{{A}}\n" + "{{A}}\n" * 5 + "!`id`\n"

    found = render_known(text, {}, "p").findings

    assert [(finding.code, finding.line) for finding in found] == [
        ("placeholder-left", 1),
        ("command-left", 9),
    ]
    (long,) = render_known(f"!`{'x' * 200}`", {}, "p").findings
    assert len(long.message) < 150
    assert found[0].message.endswith(
        ": {{A}} (line 1, 3, 4, 5, 6, ...), {{B}} (line 3)"
    )


def test_what_went_with_its_condition_is_not_reported() -> None:
    settled = render_known("{{#IF A}}{{B}} !`id`{{/IF}}", {"A": ""}, "p")

    assert settled == ("", ())


def test_a_condition_without_a_value_keeps_what_it_holds() -> None:
    settled = render_known("{{#IF B}}{{A}}{{/IF}}", {"A": "v"}, "p")

    assert settled.text == "{{#IF B}}v{{/IF}}"
    assert [finding.code for finding in settled.findings] == ["condition-left"]


LINES = st.sampled_from(
    [
        *(
            "# Title",
            "## When to use it",
            "Use when:",
            "Fix **all** bugs.",
            "- an item",
        ),
        *("  1. one thing", "```", "> quoted", "[a link](b.md) is here. And more.", ""),
        *(
            "{{NAME}} is set later.",
            "Use this rule if a `test` fails.",
            "    code",
            "a:",
        ),
    ]
)


@pytest.mark.property
@given(st.lists(LINES, max_size=12))
def test_a_description_has_only_words_of_the_text(lines: list[str]) -> None:
    text = "\n".join(lines)
    description = describe(text)

    assert not Counter(re.findall(r"\w+", description)) - Counter(
        re.findall(r"\w+", text) * 3  # of two sentences, and of the heading, too
    )
    assert "{{" not in description
    assert "\n" not in description
    assert len(description) <= 500


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("You are a backend engineer. You care.", "You are a backend engineer."),
        ("You are S. You keep secrets.", "You are S. You keep secrets."),
        ("# Title\n\n- a list\n\nThen a sentence\nover two lines.", None),
        ("# Title\nBelow it, with no blank line.", "Below it, with no blank line."),
        ("You serve {{TEAM}}. You write the code of the team.", None),
        ("<!-- note -->\n```\ncode.\n```\n> quoted.\n\n| a | b |\n", ""),
        ("{{#IF A}}\nYou do what A says, always.\n{{/IF}}", None),
        ("Title\n=====\n\nUnder the title it goes on.", "Under the title it goes on."),
        ("## Only a heading ##", "Only a heading"),
        ("1. Do this.\n2. Do that.", "Do this, Do that."),
        ("Please fix the GitHub issue: $ARGUMENTS.", "Please fix the GitHub issue."),
        ("Sum up `$1`", "Sum up"),
        ("Merge $1 into $2 when all of it is green.", ""),
        ("Use:\n\n1. `make`\n2. {{NAME}}\n3. git\n", "Use: `make`, git."),
        ("", ""),
        ("你是后端工程师。你写的服务经得起失败，也经得起时间的考验。", None),
        ("word " * 200, ("word " * 100).strip()),
        ("x" * 600, "x" * 500),
        ("Do it. " + "b" * 600, "Do it."),
        ("One is " + "long " * 20 + "now. " + "b" * 600, None),
        (
            "  ```sh\n  make it.\n  ```\nBuild **all** of [it](a.md).",
            "Build all of it.",
        ),
        ("Serve `${TEAM}` well today.\n\nWrite </b> it.", ""),
        (
            "Use it:\n- **One**: first\n  thing. More.\n- two",
            "Use it: One: first thing, two.",
        ),
    ],
)
def test_description(text: str, description: str | None) -> None:
    expected = {
        "# T": "Then a sentence over two lines.",
        "You": "You write the code of the team.",
        "{{#": "You do what A says, always.",
        "你是后": "你是后端工程师。 你写的服务经得起失败，也经得起时间的考验。",
        "One": "One is " + "long " * 20 + "now.",
    }
    wanted = expected[text[:3]] if description is None else description

    assert describe(text) == wanted


FIXES = "Fix bugs in Python code."


@pytest.mark.parametrize(
    ("more", "when"),
    [
        ("\n\n## When to use\n\n- A test fails.", "When to use: A test fails."),
        ("\n\n# When to use\n\nUse it when red.\n# B\nNo.", "Use it when red."),
        ("\n\n### When should I use\n\n## B\n\n- No.", ""),
        (
            " Use pip for it. Always use this rule when red.",
            "Always use this rule when red.",
        ),
        (" Use standard tools for others.", ""),
        ("\n\n## When to use\n\n- " + "long " * 120, ""),
    ],
)
def test_a_description_says_when_where_the_text_does(more: str, when: str) -> None:
    assert describe(FIXES + more) == f"{FIXES} {when}".strip()
