"""The table of codes: every code has a page, every page a head, all pages one shape."""

import ast
import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import satchel
from satchel import errors
from satchel.model import Finding, codes
from satchel.model._finding import code_entry
from satchel.skill_md import FENCE_REPAIRS, YAML_REPAIRS
from satchel_lab._pages import UnknownCodeError, read_page, title_of

SOURCE = Path(satchel.__file__).parents[1]
ROOMS = (
    *("satchel/catalog", "satchel/files", "satchel/load", "satchel/policy.py"),
    *("satchel/prompt", "satchel/runtime", "satchel/skill_md", "satchel/sources"),
    *("satchel/text", "satchel_store/archives", "satchel_store/http"),
    *("satchel_store/release", "satchel_server/mcp_source", "satchel_compat/_"),
    *("satchel_lab/authoring", "satchel_lab/checking", "satchel_lab/evals"),
    *("satchel_lab/lint", "satchel_install/_verifiers"),
)
"""Where findings are made; every kebab-case literal there is a code, but for these:"""

NO_CODES = frozenset(
    """
    agent-skills agents-md allowed-tools argument-hint breaks-neighbours cat-file
    command-arg-mode command-dispatch command-tool deeply-nested
    disable-model-invocation disallowed-tools dot-file f-string find-skills
    linked-folder
    lower-case-file
    ls-tree merge-base no-model-invocation not-user-invocable replaced-by rev-parse
    satchel-release satchel-site satchel-resync satchel-watch short-description
    skill-evals skill-md test-cases test-prompts tools-commas tools-list
    tools-mapping tools-text tools-underscore
    tools-underscore-list tools-underscore-text user-invocable user-invokable xml-id
    xml-spec
    """.split()  # noqa: SIM905 - a list would be a column of words
)
YAML_PROBLEMS = {
    *("complex-key", "empty-frontmatter", "frontmatter-not-mapping", "invalid-yaml"),
    *("limit-exceeded", "yaml-alias", "yaml-anchor", "yaml-tag"),
}
_KEBAB = re.compile(r"[a-z]+(-[a-z0-9]+)+")
_ENCODINGS = re.compile(r"utf-\d+(-sig)?|windows-\d+|cp\d+|latin-\d+")
SEVERITIES = {"error", "warning", "note"}
MAKERS = {"Finding.of", "Violation.of", "pack.finding_at"}


class Call(NamedTuple):
    """One call with a literal code: its sentences, severities and values."""

    place: str
    code: str
    sentences: frozenset[str]
    severities: frozenset[str]
    values: frozenset[str]


def choices(value: ast.expr | None) -> frozenset[str] | None:
    """Return the texts that an argument may be: a literal, or `A if x else B`."""
    if isinstance(value, ast.IfExp):
        sides = choices(value.body), choices(value.orelse)
        return None if None in sides else frozenset().union(*filter(None, sides))
    if value is None or isinstance(value, ast.Constant):
        return frozenset([str(value.value or "") if value else ""])
    return None


class Uses(NamedTuple):
    """What the modules say of codes, found in one walk over each."""

    calls: list[Call]
    sentences: set[str]
    """The texts that are given, or assigned, as the name of a sentence."""
    literals: set[str]
    """Every string in kebab-case where findings are made, but encodings."""
    classes: set[str]
    """The codes of error classes, wherever they are defined."""


@cache
def uses() -> Uses:
    found = Uses([], set(), set(), set())
    for path in sorted(SOURCE.rglob("*.py")):
        if "packs" in path.parts:
            continue
        place = path.relative_to(SOURCE).as_posix()
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        sentences = list(named_sentences(nodes))
        found.sentences.update(str(node.value) for node in sentences)
        found.calls.extend(calls_in(nodes, place))
        found.classes.update(class_codes(nodes))
        if place.startswith(ROOMS):
            found.literals.update(literals(nodes, {id(node) for node in sentences}))
    return found


def calls_in(nodes: list[ast.AST], place: str) -> Iterator[Call]:
    for node in nodes:
        if (
            not isinstance(node, ast.Call)
            or not isinstance(node.func, ast.Attribute)
            or node.func.attr not in {"of", "finding_at"}  # soon seen, of most calls
            or ast.unparse(node.func) not in MAKERS
        ):
            continue
        given = {key.arg or "": key.value for key in node.keywords}
        code, sentences = node.args[0], choices(given.get("sentence"))
        severities = choices(given.get("severity")) or frozenset()
        named = {*("sentence", "severity", "before", "after", "refuses")}
        # What `**values` holds is not known here.
        if isinstance(code, ast.Constant) and sentences is not None and "" not in given:
            line, values = f"{place}:{node.lineno}", frozenset(given.keys() - named)
            yield Call(line, str(code.value), sentences, severities, values)


def named_sentences(nodes: list[ast.AST]) -> Iterator[ast.Constant]:
    for node in nodes:
        if (isinstance(node, ast.keyword) and node.arg == "sentence") or (
            isinstance(node, ast.Assign) and is_called(node.targets[0], "sentence")
        ):
            yield from (n for n in ast.walk(node.value) if isinstance(n, ast.Constant))


def class_codes(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            value = node.value.value if isinstance(node.value, ast.Constant) else None
            if value and isinstance(value, str) and is_called(target, "code"):
                yield value


def is_called(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Name) and target.id == name


def literals(nodes: list[ast.AST], sentences: set[int]) -> Iterator[str]:
    for node in nodes:
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in sentences
            and _KEBAB.fullmatch(node.value)
            and not _ENCODINGS.fullmatch(node.value)
        ):
            yield node.value


RAISED = {
    getattr(errors, name).code
    for name in errors.__all__
    if name.endswith(("Error", "Sources"))
}
COMPUTED = FENCE_REPAIRS | YAML_REPAIRS | YAML_PROBLEMS
COMPUTED |= {"client-cuts", "dead-link", "link-leaves-root", "program-not-checked"}
COMPUTED |= {"unsafe-declared-file", "unsafe-file-name"}
"""Codes whose sentence, or that themselves, are given by a variable."""
# One word, or made by the edges.
OTHERS = {"indentation", "internal-error", "skill-withheld", "unknown-loader"}


@pytest.mark.slow
def test_every_code_has_a_page_and_every_page_a_use() -> None:
    used = (uses().literals - NO_CODES) | RAISED | uses().classes

    assert sorted(used - set(codes())) == []
    assert sorted(set(codes()) - used - OTHERS) == []


def test_a_finding_fills_in_its_sentence() -> None:
    """Every placeholder of the message and the fix is given, and nothing else."""
    assert len(uses().calls) > 100
    assert [call.place for call in uses().calls if not is_whole(call)] == []


def is_whole(call: Call) -> bool:
    entry = code_entry(call.code)
    texts = "".join(
        entry.messages[sentence] + entry.fixes.get(sentence, "")
        for sentence in call.sentences
    )
    fields = {field for _, field, _, _ in string.Formatter().parse(texts) if field}

    known_severities = call.severities - {""} <= set(entry.severities)
    return call.values == fields and known_severities


def test_heads_are_whole_and_every_sentence_has_a_use() -> None:
    for code in codes():
        check_head(code)


def check_head(code: str) -> None:
    entry = code_entry(code)
    used = {
        sentence
        for call in uses().calls
        if call.code == code
        for sentence in call.sentences
    }
    if not used or code in COMPUTED:
        used = set(entry.messages)

    assert entry.severities
    assert SEVERITIES.issuperset(entry.severities)
    assert entry.messages.keys() >= entry.fixes.keys()
    assert sorted(entry.messages.keys() - used - uses().sentences) == []


def test_pages_have_one_shape() -> None:
    for code in codes():
        check_page(code)


def check_page(code: str) -> None:
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


def test_a_finding_comes_from_the_table_and_shows_control_characters() -> None:
    assert Finding.of("undefined-link", "a.md", 3, label="{x}") == Finding(
        "undefined-link",
        "warning",
        "the link label '{x}' is not defined",
        "a.md",
        3,
        "add a line `[{x}]: PATH`, or write `[text](PATH)`",
    )

    made = Finding.of("client-envelope", "a", 1, text="a\x1b[2J\r\nb\x9b")
    caught = Finding.of_error(errors.SkillManifestError("a", "b\x1b[2J\n"))

    assert made.message.count("a<U+001B>[2J<U+000D><U+000A>b<U+009B>") == 1
    assert caught.message == "a: b<U+001B>[2J<U+000A>"


def test_a_page_has_a_title_and_an_unknown_code_offers_close_ones() -> None:
    title = title_of("envelope-breakout")

    assert title.startswith("The text contains a tag")
    assert title.endswith("`<execution_directive>`.")
    assert "\n" not in title

    with pytest.raises(
        UnknownCodeError, match="did you mean unlisted-reference"
    ) as got:
        read_page("unlisted-refrence")

    assert got.value.close[0] == "unlisted-reference"


@pytest.mark.parametrize("code", ["", "../__init__", "pages", "unlisted-reference.md"])
def test_only_a_code_is_a_code(code: str) -> None:
    with pytest.raises(UnknownCodeError):
        read_page(code)
