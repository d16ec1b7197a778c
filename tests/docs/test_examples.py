"""Every example of the README and the docs runs, and prints what it shows.

The examples of one page run in order, in one folder, in which ``./skills`` is a copy of
``examples/skills``, ``./legacy/roles`` one of ``examples/templates/roles``. To leave
one out, say why, on the line before it::

    <!--- skip: next "asks for an account" -->
"""

import re
import shutil
from collections.abc import Iterable
from doctest import ELLIPSIS
from pathlib import Path
from textwrap import dedent
from typing import Final
from unittest import SkipTest

import pytest
from sybil import Document, Example, Region, Sybil
from sybil.example import SybilFailure
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

from tests.docs.console import check_script, matches, read_json, read_toml, run_session

ROOT: Final = Path(__file__).parents[2]
# Pages of adapters run next to their frameworks: tests/adapters/test_page.py.
PAGES: Final = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *sorted(
        page
        for page in ROOT.glob("docs/**/*.md")
        if page.parent != ROOT / "docs" / "how-to" / "adapters"
    ),
]

EVALUATORS: Final = {
    "console": run_session,
    "sh": check_script,
    "json": read_json,
    "toml": read_toml,
}
# Shown, not run: output, packs, and other people's languages.
SHOWN: Final = {"", "diff", "markdown", "text", "typescript", "xml", "yaml"}


def parse_fences(document: Document) -> Iterable[Region]:
    """Yield every fenced block but those of Python, with what is done with it."""
    fences = RawFencedCodeBlockLexer(re.compile(r"(?P<info>[^\n]*)\n"))
    for region in fences(document):
        info = region.lexemes["info"].strip()
        if info == "python" or info in SHOWN:
            continue
        region.parsed = region.lexemes["source"]
        region.evaluator = EVALUATORS.get(info, refuse_language)
        yield region


def refuse_language(example: Example) -> str:
    """Fail: a block that nothing looks at would go stale unseen."""
    names = sorted({"python", *EVALUATORS, *SHOWN} - {""})
    return f"the language of a block is one of {', '.join(names)}"


def parse_skips(document: Document) -> Iterable[Region]:
    """Yield the skip directives.

    Raises:
        ValueError: One gives no reason.
    """
    for region in SkipParser()(document):
        action, reason = region.parsed
        if action != "end" and not reason:
            raise ValueError(f"{document.path}: a skip gives its reason")
        yield region


def run_page(page: Path) -> None:
    """Run the examples of one page in the current folder.

    Raises:
        SybilFailure: One printed something else than it shows.
    """
    python = PythonCodeBlockParser(doctest_optionflags=ELLIPSIS)
    document = Sybil([parse_skips, python, parse_fences]).parse(page)
    for example in document.examples():
        try:
            example.evaluate()
        except SkipTest:
            continue


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "examples" / "skills", tmp_path / "skills")
    roles = ROOT / "examples" / "templates" / "roles"
    shutil.copytree(roles, tmp_path / "legacy" / "roles")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page: Path, folder: Path) -> None:
    run_page(page)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("```python\nassert 1 == 2\n```\n", AssertionError),
        ("```python\n>>> 1 + 1\n3\n```\n", SybilFailure),
        ("```console\n$ echo one\ntwo\n```\n", SybilFailure),
        ("```console\n$ false\n```\n", SybilFailure),
        ("```sh\nsatchel list\n```\n", SybilFailure),
        ("```sh\nmake coffee\n```\n", SybilFailure),
        ("```json\n{\n```\n", ValueError),
        ("```bash\nls\n```\n", SybilFailure),
        ("<!--- skip: next -->\n\n```python\n1 / 0\n```\n", ValueError),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_example_fails(text: str, wrong: type[Exception], folder: Path) -> None:
    page = folder / "page.md"
    page.write_text(text, "utf-8")

    with pytest.raises(wrong):
        run_page(page)


def test_right_examples_pass(folder: Path) -> None:
    page = folder / "page.md"
    page.write_text(
        dedent("""\
            ```toml
            # satchel.toml
            sources = ["skills"]
            ```

            ```console
            $ cat satchel.toml
            # satchel...
            ...
            $ cat \\
            > nowhere
            ...nowhere...
            $ echo $?
            1
            ```

            ```python
            from pathlib import Path
            ```

            ```python
            >>> Path("skills").is_dir()
            True
            ```

            <!--- skip: next "it never ends" -->

            ```python
            1 / 0
            ```
        """),
        "utf-8",
    )

    run_page(page)


@pytest.mark.parametrize(
    ("shown", "actual", "same"),
    [
        ("a\nb", "a \nb\n\n", True),
        ("a...z", "abcz", True),
        ("a...z", "a\nz", False),
        ("a\n...\nz", "a\nb\nc\nz", True),
        ("a\n...", "a", True),
        ("a.c", "abc", False),
        ("a", "a\nb", False),
    ],
)
def test_output_matches(shown: str, actual: str, same: bool) -> None:
    assert matches(shown, actual) is same
