"""``tools.listings``: libraries, how lists are read, and what changed."""

import pytest

from tools.listings.changing import changes_table
from tools.listings.clients import CLIENTS, Rows
from tools.listings.frameworks import FRAMEWORKS
from tools.listings.libraries import KINDS, Library, MadePack, made, named
from tools.listings.recording import FITTED, OTHERS
from tools.loaders.clients import reading

TWO = Library(
    "two",
    (
        MadePack("one", "---\nname: one\ndescription: First.\n---\n"),
        MadePack("two", "---\nname: two\ndescription: Second.\n---\n"),
    ),
)
BOTH: Rows = (("one", "First."), ("two", "Second - it."))


@pytest.mark.parametrize("kind", KINDS)
def test_a_made_up_library_is_the_same_each_time(kind: str) -> None:
    """What was recorded of it can be compared at any time."""
    library = made(kind, 20, 7)

    assert named(library.name) == library
    assert len({pack.folder for pack in library.packs}) == 20


def test_rules_are_not_compared_with_what_they_were_made_from() -> None:
    """No library is in both lists."""
    assert not {*FITTED} & {*OTHERS}


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("agent-framework", "<skill>\n<name>{}</name>\n<description>{}</description>"),
        ("agno", "<skill>\n<name>{}</name>\n<description>{}</description>"),
        ("crewai", '<skill name="{}">\n{}\n</skill>\n'),
        ("deepagents", "- **{}**: {}\n  -> Read `/a/SKILL.md` for full instructions\n"),
        ("haystack", "- {}: {}\n"),
    ],
)
def test_the_text_of_a_framework_is_read(key: str, text: str) -> None:
    """Names and descriptions, in the order of the text."""
    told = "".join(text.format(name, shown) for name, shown in BOTH)

    assert FRAMEWORKS[key].read(told, TWO) == BOTH


def test_the_list_of_goose_is_read_without_its_own_skills() -> None:
    """An item ends where the next one begins."""
    items = ("goose-doc-guide - Own.", "one - First.", "two - Second - it.")
    text = "".join(f"\n• {item}" for item in items)

    assert reading.goose(f"{reading.GOOSE}:{text}\n## summon\n") == BOTH


def test_what_changed_is_a_table() -> None:
    """A row for each library at each window whose list is another one."""
    before = {"version": "1", "windows": {"200000": {"a-5": [5, 0, 0, "aaaaaaaa"]}}}
    after = {
        "version": "2",
        "windows": {"200000": {"a-5": [2, 0, 3, "b"], "b-5": [5, 0, 0, "c"]}},
    }

    assert [*changes_table("codex", before, after)] == [
        "| client | version | library | window | was | is |",
        "|---|---|---|---|---|---|",
        "| codex | 1 -> 2 | a-5 | 200,000 | 5 whole (aaaa) | 2 whole, 3 left out (b) |",
        "| codex | 1 -> 2 | b-5 | 200,000 | not measured | 5 whole (c) |",
    ]
    assert [*changes_table("codex", after, after)] == ["codex 2: it shows the same."]


def test_every_client_is_a_loader() -> None:
    """They are installed and predicted under the same key."""
    assert all(client.client.key == key for key, client in CLIENTS.items())
