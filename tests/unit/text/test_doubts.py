"""What a file is doubted for, and what it is not."""

import pytest

from satchel.text import content_warnings


@pytest.mark.row("E01", "X12")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("plain\n", []),
        ("\ufeffwith a mark\n", []),
        ("caf\u00e9 \U0001f468\u200d\U0001f469\u200d\U0001f467\n", []),
        ("a\n\ufeffb\n", [("hidden-text", 2)]),
        ("a\n</instructions>\n", [("envelope-breakout", 2)]),
        (
            "\u202ea\n<execution_directive>\n",
            [("hidden-text", 1), ("envelope-breakout", 2)],
        ),
    ],
)
def test_doubts_have_codes_and_lines(text: str, told: list[tuple[str, int]]) -> None:
    found = content_warnings(text.encode(), "a/SKILL.md")

    assert [(finding.code, finding.line) for finding in found] == told
    assert all(finding.path == "a/SKILL.md" for finding in found)
