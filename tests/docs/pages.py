"""How the examples of a page are run, in order, in the current folder.

No test framework is needed: `tools.readme` runs README.md this way where nothing but a
wheel is installed.
"""

import re
from collections.abc import Iterable
from doctest import ELLIPSIS
from pathlib import Path
from typing import Final
from unittest import SkipTest

from sybil import Document, Example, Region, Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

from tests.docs.console import (
    check_script,
    keep_file,
    read_json,
    read_toml,
    run_session,
)

EVALUATORS: Final = {
    "console": run_session,
    "sh": check_script,
    "json": read_json,
    "toml": read_toml,
}
# Shown, not run: output, packs, and other people's languages.
SHOWN: Final = {"", "diff", "markdown", "text", "typescript", "xml", "yaml"}


def parse_python(document: Document) -> Iterable[Region]:
    """Yield the blocks of Python."""
    for region in PythonCodeBlockParser(doctest_optionflags=ELLIPSIS)(document):
        if isinstance(region.evaluator, PythonEvaluator):
            region.evaluator = run_python
        yield region


def run_python(example: Example) -> None:
    """Run a block of Python without prompts.

    One that begins with the name of a file is put in that file too, for a console
    block to run; what follows on the page goes on from it.
    """
    keep_file(example.parsed, "py")
    PythonEvaluator()(example)


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
    document = Sybil([parse_skips, parse_python, parse_fences]).parse(page)
    for example in document.examples():
        try:
            example.evaluate()
        except SkipTest:
            continue
