"""Satchel uses the words that a reader searches for; tests/words.toml has the rest."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[1]
FOLDERS: Final = ("src", "tests", "tools", "docs", "examples")
OTHERS: Final = ("README.md", "CONTRIBUTING.md", "Makefile")
LEFT_OUT: Final = (
    "docs/contributing/requirements-coverage.md",  # made from names of tests
    "docs/reference/clients.md",  # made from runs of the clients
    "docs/reference/adapters.md",  # made from runs of the adapters' suites
    "src/satchel/packs",  # data: what other people would write
    "tests/cases",
    "tests/formats",  # files that earlier versions wrote
    "tests/record",  # answers on record, and the map of the words that they had
    "tests/words.toml",
)


@cache
def banned() -> dict[str, Any]:
    return tomllib.loads((ROOT / "tests/words.toml").read_text("utf-8"))


@cache
def pattern() -> re.Pattern[str]:
    words = "|".join(banned()["words"])
    return re.compile(rf"(?<![A-Za-z])(?:{words})(?![A-Za-z])", re.IGNORECASE)


def pages() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in {".py", ".md", ".toml"} and not name.startswith(LEFT_OUT):
                yield path
    yield from (ROOT / name for name in OTHERS)


def split_camel(text: str) -> str:
    """Return text with ``PromptSection`` as two words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)


@pytest.mark.row("F60")
def test_no_page_uses_a_banned_word() -> None:
    words, stable = banned()["words"], banned()["stable"]["texts"]
    uses: list[str] = []
    for path in pages():
        page = path.read_text("utf-8")
        if not pattern().search(split_camel(page)):
            continue
        for number, line in enumerate(page.splitlines(), 1):
            text = line
            for promised in stable:
                text = text.replace(promised, "")
            for match in pattern().finditer(split_camel(text)):
                word = match[0].lower()
                where = f"{path.relative_to(ROOT)}:{number}"
                uses.append(
                    f"{where}: {word}: say {words[word]!r}: {line.strip()[:80]}"
                )

    assert not uses, "\n" + "\n".join(uses)


def stored_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the names of variables and parameters; a field has its class with it."""
    nodes = list(ast.walk(tree))
    fields = {
        node.target
        for owner in nodes
        if isinstance(owner, ast.ClassDef)
        for node in owner.body
        if isinstance(node, ast.AnnAssign)
    }
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            if node not in fields:
                yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def test_variables_name_the_thing_and_classes_say_what_they_hold() -> None:
    """Both from one look at each module, which takes a second for all."""
    advice, names = banned()["names"], set(banned()["classes"]["names"])
    uses: list[str] = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        place = path.relative_to(ROOT)
        uses += [
            f"{place}:{line}: {name!r}: name the thing: {advice[name]}"
            for line, name in stored_names(tree)
            if name in advice
        ]
        uses += [
            f"{place}:{node.lineno}: class {node.name}: say what it is of"
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef) and node.name in names
        ]

    assert not uses, "\n" + "\n".join(uses)


def test_src_names_no_requirement() -> None:
    number = re.compile(r"(?<![\w#-])[A-HRSTX]\d{2}(?![\w-])")
    uses = [
        f"{path.relative_to(ROOT)}:{at}: {match[0]}: write the sentence instead"
        for path in sorted((ROOT / "src").rglob("*.py"))
        if path.parent.name != "hostile"  # they have the numbers of their threats
        for at, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        for match in number.finditer(line)
    ]

    assert not uses, "\n" + "\n".join(uses)


def test_the_glossary_is_short() -> None:
    page = (ROOT / "docs/explanation/glossary.md").read_text("utf-8")
    terms = [line for line in page.splitlines() if line.startswith("| ")][1:]

    assert 10 <= len(terms) <= 20
