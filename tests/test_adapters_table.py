"""The page about the adapters says what the data says, and the data what was found."""

import ast
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tools.adapters.frameworks import NAMES, ROOT, TITLES, Adapter
from tools.adapters.private_names import private_names
from tools.adapters.table import (
    INDEX,
    PAGE,
    minor_releases,
    read_data,
    render_page,
    tell,
    titles,
    with_sentence,
    with_versions,
)


def results(version: str, **rows: dict[str, tuple[str, str]]) -> dict[str, Any]:
    return {
        "adapter": "langchain",
        "distribution": "langchain",
        "version": version,
        "python": "3.11.7",
        "rows": {
            row: {
                case: {"outcome": outcome, "reason": reason}
                for case, (outcome, reason) in cases.items()
            }
            for row, cases in rows.items()
        },
    }


PASSED = ("passed", "")
LIMIT = ("limit", "it has no such thing")


def test_the_page_is_that_of_the_data() -> None:
    assert PAGE.read_text("utf-8") == render_page(read_data()), (
        "run `python -m tools.adapters table`"
    )


@pytest.mark.row("B25")
def test_the_readme_and_its_table_say_what_is_supported() -> None:
    """The table names each adapter; the README counts them and leads to it."""
    readme = (ROOT / "README.md").read_text("utf-8")
    index = INDEX.read_text("utf-8")
    files = (ROOT / "src" / "satchel" / "adapters").glob("*.py")
    modules = {path.stem for path in files if not path.stem.startswith("_")}

    assert index == with_versions(index, read_data()), (
        "run `python -m tools.adapters table`"
    )
    assert readme == with_sentence(readme, read_data()), (
        "run `python -m tools.adapters table`"
    )
    assert modules == set(TITLES) == set(read_data())
    assert f"works with {len(modules)} agent frameworks" in readme
    assert f"[{len(titles())} contracts](" in readme
    assert "](docs/how-to/adapters/index.md)" in readme
    with pytest.raises(ValueError, match="the page has no"):
        with_versions("# Connect your framework\n", {})


def test_no_mistake_is_on_record_and_every_row_has_a_sentence() -> None:
    """What is committed was green, but for the frameworks' own limits."""
    assert [name for name, message in read_data().items() if message["failed"]] == []
    assert [title for title in titles().values() if not title.endswith(".")] == []
    assert [name for name in NAMES if not Adapter(name).distribution] == []


def test_a_row_that_passes_is_not_in_the_data() -> None:
    run = results("1.4.0", load_answers={"sync": PASSED, "async": PASSED})

    assert tell(run, run) == {
        "extra": "langchain",
        "distribution": "langchain",
        "lowest": "1.4.0",
        "newest": "1.4.0",
        "python": "3.11",
        "missing": {},
        "failed": [],
    }


BOTH = {"sync": LIMIT, "async": LIMIT}
ONE = {"sync": LIMIT, "async": PASSED}
NONE = {"sync": PASSED, "async": PASSED}


@pytest.mark.parametrize(
    ("lowest", "newest", "where"),
    [
        ({"": LIMIT}, {"": LIMIT}, ""),
        ({"": LIMIT}, {"": PASSED}, "1.0: "),
        ({"": PASSED}, {"": LIMIT}, "2.0: "),
        (BOTH, BOTH, ""),
        (ONE, ONE, "sync: "),
        (ONE, NONE, "1.0, sync: "),
    ],
)
def test_a_reason_says_where_it_holds(
    lowest: dict[str, tuple[str, str]], newest: dict[str, tuple[str, str]], where: str
) -> None:
    message = tell(results("1.0", a_hand_off=lowest), results("2.0", a_hand_off=newest))

    missing = {"a_hand_off": [f"{where}it has no such thing"]}
    assert (message["missing"], message["failed"]) == (missing, [])


def test_a_mistake_is_no_limit() -> None:
    run = results("1.0", a_hand_off={"": ("failed", "AssertionError")})
    page = render_page({"langchain": tell(run, run)})

    assert "| fails 1 |" in page
    assert "1. `langchain`: AssertionError\n" in page


@pytest.mark.parametrize(
    ("lowest", "newest", "count"),
    [
        ("1.15.29", "1.15.30", 1),
        ("0.23.1", "0.24.0", 2),
        ("3.2.0", "3.4.0", 3),
        ("2.5.14", "3.1.10", 3),
        ("1.20.0", "2.13.0", 15),
    ],
)
def test_minor_releases_are_counted(lowest: str, newest: str, count: int) -> None:
    assert minor_releases(lowest, newest) == count


MODULE = """
class Mine(Theirs):
    _field: int = 1

    def _asked_for(self):
        return self._field + self._inherited + own(self)._field

    def _own(self):
        return super()._theirs() + self._own() + getattr(run, "_named", 0)

    def __init__(self):
        self._set = 3
        self.public = other._private + other.public
"""


def test_private_names_of_others_are_found() -> None:
    assert private_names(MODULE) == [
        *("_asked_for", "_inherited", "_named", "_private", "_set", "_theirs")
    ]


def test_what_an_adapter_touches_is_in_the_page() -> None:
    page = render_page(read_data())

    assert "`_get_declaration`, `_invocation_context`, `_use_invocation_cache`" in page
    assert "| experimental | `_tool_invocations` |" in page


# What drivers set for the suite alone: two agents at once, and where things are kept.
PLUMBING = {
    "anthropic": {"headers"},
    "claude_agent_sdk": {"cwd"},
    "google_adk": {"actions", "author", "partial"},
    "haystack": {"response_fn"},
    "langchain": {"goto", "tool_call_id"},
    "llama_index": {"context_window", "is_chat_model", "token_limit"},
    "openai": {"api_key", "headers", "http_client", "json", "transport"},
    "openai_agents": {"handoffs"},
    "smolagents": {"step_callbacks"},
}


@pytest.mark.row("B25", "F75")
@pytest.mark.parametrize("name", NAMES)
def test_a_driver_sets_nothing_that_the_page_does_not(name: str) -> None:
    """So the table tells what the documented program does."""
    adapter = Adapter(name)
    page = adapter.page.read_text("utf-8")
    shown = {
        word
        for block in re.findall(r"```\w+\n(.*?)```", page, re.DOTALL)
        for word in re.findall(r"\w+", block)
    }
    said = set(re.findall(r"\w+", page)) | PLUMBING.get(name, set())

    unsaid = {
        f"{function}({keyword.arg}=)"
        for function, call in _calls(adapter.driver.read_text("utf-8"))
        # Of what the page makes: models and stores of the suite are its own.
        if function in shown
        for keyword in call.keywords
        if keyword.arg and keyword.arg not in said
    }

    assert unsaid == set(), f"{adapter.page.name} does not say so"


def _calls(source: str) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            made = node.func
            name = made.id if isinstance(made, ast.Name) else getattr(made, "attr", "")
            yield name, node
