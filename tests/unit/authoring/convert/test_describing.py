"""A description is the text's own, never made up."""

from __future__ import annotations

import pytest

from satchel.authoring._convert._builder import describe


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
        ("1. Do this.\n2. Do that.", ""),
        ("", ""),
        ("你是后端工程师。你写的服务经得起失败，也经得起时间的考验。", None),
        ("word " * 200, ("word " * 100).strip()),
        ("x" * 600, "x" * 500),
        ("One is " + "long " * 20 + "now. " + "b" * 600, None),
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


def test_short_sentences_are_cut_at_the_last_that_fits() -> None:
    assert describe("Do it. " + "b" * 600) == "Do it."
