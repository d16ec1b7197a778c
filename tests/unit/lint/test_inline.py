"""What a pack asks not to be told, and what it cannot ask."""

from __future__ import annotations

import pytest

from satchel.lint import NEVER_IGNORED, read_inline_ignores
from satchel.model import Finding


def page(head: str = "", body: str = "") -> str:
    return f"---\nname: x\n{head}description: d\n---\n{body}"


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (page(), set[str]()),
        (page("# satchel: ignore missing-h1\n"), {"missing-h1"}),
        (page("  #satchel:ignore  dead-link,\n"), {"dead-link"}),
        (page("#satchel: ignore dead-link,missing-h1\n"), {"dead-link", "missing-h1"}),
        (page("# satchel: ignore\n"), set[str]()),
        (page("", "<!-- satchel: ignore missing-h1 -->\n"), {"missing-h1"}),
        (page("", "a\n\n<!--satchel:ignore\n missing-h1\n dead-link\n-->"), {
            "missing-h1",
            "dead-link",
        }),
        (page("# satchel: ignore extra-key\n"), {"unknown-field"}),
        # A heading is no comment, nor is a comment inside a line.
        (page("", "# satchel: ignore missing-h1\n"), set[str]()),
        (page("", "write <!-- satchel: ignore missing-h1 -->\n"), set[str]()),
        (page("", "<!-- satchel: ignored missing-h1 -->\n"), set[str]()),
        (page("license: satchel: ignore x\n"), set[str]()),
        ("no frontmatter\n<!-- satchel: ignore missing-h1 -->\n", {"missing-h1"}),
    ],
)  # fmt: skip
def test_comments_name_codes(text: str, codes: set[str]) -> None:
    inline = read_inline_ignores(text)

    assert inline.codes == codes
    assert inline.findings == ()


@pytest.mark.row("E02")
@pytest.mark.parametrize("code", sorted(NEVER_IGNORED))
def test_nothing_that_deceives_is_hidden(code: str) -> None:
    """A pack may be anybody's; whoever reviews it has to see this."""
    inline = read_inline_ignores(page(f"# satchel: ignore {code}\n"))
    [said] = inline.findings

    assert not inline.hides(Finding(code, "warning", "m"))
    assert (said.code, said.severity, said.line) == ("unheeded-ignore", "note", 3)
    assert code in said.message


def test_no_error_is_hidden() -> None:
    inline = read_inline_ignores(page("# satchel: ignore unknown-field missing-h1\n"))

    assert not inline.hides(Finding("unknown-field", "error", "m"))
    assert inline.hides(Finding("unknown-field", "warning", "m"))
    assert inline.hides(Finding("missing-h1", "note", "m"))
    assert not inline.hides(Finding("dead-link", "note", "m"))


def test_a_misspelt_code_is_told() -> None:
    inline = read_inline_ignores(page("", "a\n<!-- satchel: ignore hiden-text -->\n"))
    [said] = inline.findings

    assert inline.codes == frozenset()
    assert said.line == 6
    assert "did you mean hidden-text" in said.message


def test_many_comments_that_never_end_cost_little() -> None:
    """Each start is looked at for a bounded distance."""
    text = page("", "<!-- satchel: ignore " * 20_000)

    assert read_inline_ignores(text).codes == frozenset()
