"""Every code has a page, every page a use, and all pages one shape."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import satchel
from satchel import errors
from satchel.model import UnknownCodeError, codes, read_page, title_of

SOURCE = Path(satchel.__file__).parent
ROOMS = (
    *("authoring", "catalog", "files", "lint", "load", "prompt"),
    *("release", "roles", "runtime", "sources", "spec", "text"),
)
"""Where findings are made; every kebab-case literal there is a code, but for these:"""

NO_CODES = frozenset(
    """
    agent-skills agents-md allowed-tools argument-hint breaks-neighbours cat-file
    command-arg-mode command-dispatch command-tool disable-model-invocation
    disallowed-tools dot-file ls-tree merge-base no-model-invocation
    not-user-invocable replaced-by rev-parse satchel-release satchel-site
    satchel-resync satchel-watch short-description skill-md user-invocable
    user-invokable xml-id xml-spec
    """.split()  # noqa: SIM905 - a list would be a column of words
)

_KEBAB = re.compile(r"[a-z]+(-[a-z0-9]+)+")
_ENCODINGS = re.compile(r"utf-\d+(-sig)?|windows-\d+|cp\d+|latin-\d+")


def literals(path: Path) -> set[str]:
    """Return every string in kebab-case that is no encoding."""
    return {
        node.value
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and _KEBAB.fullmatch(node.value)
        and not _ENCODINGS.fullmatch(node.value)
    }


TOLD = {
    code
    for path in (
        *(path for room in ROOMS for path in (SOURCE / room).rglob("*.py")),
        SOURCE / "policy.py",
    )
    for code in literals(path)
} - NO_CODES
RAISED = {
    getattr(errors, name).code
    for name in errors.__all__
    if name.endswith(("Error", "Sources"))
}
# One word, or said by the edges.
OTHERS = {"indentation", "internal-error", "skill-withheld", "unknown-loader"}


def test_every_code_has_a_page() -> None:
    assert sorted((TOLD | RAISED) - set(codes())) == []


def test_every_page_has_a_use() -> None:
    assert sorted(set(codes()) - TOLD - RAISED - OTHERS) == []


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
