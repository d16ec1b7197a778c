"""Each adapter's how-to has one form: the whole program first, then how to change it.

That the program prints what the page shows is tried next to its framework, in
`make adapters`: tests/adapters/test_page.py.
"""

import ast
import re
from typing import Final

import pytest

from tools.adapters.frameworks import NAMES, ROOT, Adapter

HEADINGS: Final = (
    "With your own model",
    "Users and options",
    "Streaming",
    "Approvals",
    "Resume a conversation",
    "Limits",
    "How it is tested",
)
OURS: Final = {"Satchel", "attach"}
LINES: Final = 2
"""What skills may cost in the framework's own example, imports apart (issue 12)."""

_PROGRAM: Final = re.compile(
    r"```python\n(# agent\.py\n.*?)```\n\n"
    r"```console\n\$ (?:[A-Z_]+=\w+ )*python agent\.py\n(.*?)```\n\n"
    r"(.*?)\n## With your own model\n",
    re.DOTALL,
)


def page_of(name: str) -> str:
    return Adapter(name).page.read_text("utf-8")


def own_lines(program: str) -> list[ast.stmt]:
    """Return the statements that name what comes from Satchel, imports apart."""
    return [
        statement
        for statement in ast.parse(program).body
        if not isinstance(statement, ast.ImportFrom)
        and OURS
        & {each.id for each in ast.walk(statement) if isinstance(each, ast.Name)}
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_begins_with_a_whole_program(name: str) -> None:
    page = page_of(name)
    found = _PROGRAM.search(page)

    assert found is not None, "a block `# agent.py`, what it prints, and a few words"
    program, printed, words = found.groups()
    assert page.index("```python") == found.start(), "nothing is shown before it"
    assert f"from satchel.adapters.{name} import attach\n" in program
    assert 'Satchel("./skills")' in program
    assert "load_skill" in printed
    assert "Two lines are for Satchel" in words
    assert len(own_lines(program)) <= LINES


@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_the_same_things_in_the_same_order(name: str) -> None:
    page = page_of(name)
    headings = re.findall(r"^## (.*)", page, re.MULTILINE)

    assert [each for each in headings if each in HEADINGS] == [*HEADINGS]
    assert headings[0] == HEADINGS[0]
    assert headings[-1] == HEADINGS[-1]
    tested = page[page.index(f"## {HEADINGS[-1]}") :]
    assert f"`make adapters ARGS={name}`" in tested
    assert "(../../reference/adapters.md)" in tested


@pytest.mark.parametrize("name", NAMES)
def test_a_page_installs_from_a_clone(name: str) -> None:
    assert f'pip install ".[{Adapter(name).extra}]"\ncd examples\n' in page_of(name)


def test_what_is_ours_in_a_program_is_counted() -> None:
    program = """
from satchel import Satchel
skills = Satchel("./skills")
agent = make(middleware=[attach(skills)])
agent.run()
"""

    assert [each.lineno for each in own_lines(program)] == [3, 4]


def test_pages_of_adapters_are_those_of_the_adapters() -> None:
    folder = ROOT / "docs" / "how-to" / "adapters"

    assert {path.name for path in folder.glob("*.md")} == {
        "index.md",
        *(Adapter(name).page.name for name in NAMES),
    }
