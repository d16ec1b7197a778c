"""Every code has a page, every page a use, and all pages one shape."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import satchel
from satchel import errors
from satchel.lint import UnknownCodeError, codes, read_page, title_of

SOURCE = Path(satchel.__file__).parent
_KEBAB = re.compile(r"[a-z]+(-[a-z]+)+")


def finding_codes(tree: ast.Module) -> set[str]:
    """Return the literals that are the code in a call of ``Finding``."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name == "Finding":
            given = [
                *node.args[:1],
                *(k.value for k in node.keywords if k.arg == "code"),
            ]
            found |= {str(c.value) for c in given if isinstance(c, ast.Constant)}
    return found


def literals(tree: ast.Module) -> set[str]:
    """Return every string in kebab-case: a code may reach its finding by a table."""
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and _KEBAB.fullmatch(node.value)
    }


TREES = [ast.parse(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")]
EMITTED = set().union(*map(finding_codes, TREES))
MENTIONED = set().union(*map(literals, TREES))
RAISED = {getattr(errors, name).code for name in errors.__all__ if name[0].isupper()}


def test_every_code_has_a_page() -> None:
    assert sorted((EMITTED | RAISED) - set(codes())) == []


def test_every_page_has_a_use() -> None:
    assert [code for code in codes() if code not in MENTIONED | RAISED] == []


@pytest.mark.parametrize("code", codes())
def test_pages_have_one_shape(code: str) -> None:
    """A title, what it means, why it matters, what to do, an example."""
    page = read_page(code)
    heads = re.findall(r"^(?:# .*|\*\*[^*]+\*\*)", page, re.MULTILINE)

    assert heads == [
        f"# {code}",
        "**Why it matters.**",
        "**What to do.**",
        "**Example.**",
    ]
    assert page.endswith("\n")
    assert not page.endswith("\n\n")
    assert max(map(len, page.splitlines())) <= 80


def test_a_title_is_the_first_paragraph_on_one_line() -> None:
    title = title_of("envelope-breakout")

    assert title.startswith("The text contains a tag")
    assert title.endswith("`<execution_directive>`.")
    assert "\n" not in title


def test_an_unknown_code_offers_close_ones() -> None:
    with pytest.raises(
        UnknownCodeError, match="did you mean unlisted-reference"
    ) as got:
        read_page("unlisted-refrence")

    assert got.value.close[0] == "unlisted-reference"


@pytest.mark.parametrize("code", ["", "../__init__", "pages", "unlisted-reference.md"])
def test_only_a_code_is_a_code(code: str) -> None:
    with pytest.raises(UnknownCodeError):
        read_page(code)
