"""The house keeps its doors, its words and its routes: see tools/figures.py."""

import re
import subprocess
import sys

import pytest

from tools.figures import (
    BUDGETS,
    ROOT,
    house_figures,
    long_functions,
    repeated_classes,
    verb_homes,
)

ADVICE = {
    "lines of tests/api.txt": "export it `as` itself instead of naming it in __all__",
    "keywords of Satchel": "make it a field of satchel.Options",
    **{
        f"code of {product}": "take something out, or write a decision page"
        for product in BUDGETS
    },
}


@pytest.mark.slow
def test_figures_are_within_their_bars() -> None:
    """`make figures` shows them all."""
    over = [
        f"{figure.name}: {figure.value} over {figure.bar}: "
        + ADVICE.get(figure.name, "run `make figures`")
        for figure in house_figures()
        if not figure.holds
    ]

    assert over == []


def test_a_class_name_is_defined_once() -> None:
    """Say in the name what it is of: `LintRule`, `PolicyRule`."""
    assert repeated_classes() == {}


def test_no_function_is_too_long() -> None:
    """Take out a step that has a name of its own."""
    assert long_functions() == []


def test_pages_for_users_import_doors_alone() -> None:
    """Import from the room, or promise the name there."""
    pages = [ROOT / "README.md", *(ROOT / "docs" / "how-to").rglob("*.md")]
    pages += [*(ROOT / "docs" / "tutorial").rglob("*.md"), *ROOT.glob("examples/*.py")]
    inner = re.compile(r"(?:from|import) satchel\w*(?:\.\w+)*\._\w+.*")

    found = {page.name: inner.findall(page.read_text("utf-8")) for page in pages}

    assert {page: lines for page, lines in found.items() if lines} == {}


@pytest.mark.slow
def test_each_route_is_counted() -> None:
    """In a process of its own, since it profiles every thread."""
    done = subprocess.run(
        [sys.executable, "-m", "tools.figures"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "load_skill: functions" in done.stdout


# Verbs that more than two classes of a product share, and why.
SHARED_VERBS = {
    **dict.fromkeys(
        ("close", "files", "manifest", "read", "scan"),
        "of a source and what wraps one, as the protocol has it",
    ),
    **dict.fromkeys(
        ("add", "get", "of", "open", "save", "use", "write"),
        "of containers, files and stores, as in Python itself",
    ),
    **dict.fromkeys(
        ("find", "instructions", "load", "resources", "sync", "tools"),
        "words of users: of a Satchel, its conversations and its views",
    ),
    **dict.fromkeys(
        ("acall", "call", "question", "see", "begin_turn"),
        "one conversation: of a session, and of the loop of a framework",
    ),
    **dict.fromkeys(
        (
            *("begin", "count", "forget", "load_for"),
            *("packs", "problem_of", "rank", "recall", "run", "stage", "verify"),
        ),
        "a protocol or base, and those who have what it asks for",
    ),
    "apply_late_answers": "goes with sync",
    "as_dict": "values for JSON",
    "decide": "the policy, who asks it, and the session that is asked",
    "resolve": "the two kinds of a role's prompt, and who tells them apart",
}


def test_a_verb_has_one_home() -> None:
    """Name a method after what its class alone does, or say why it is shared."""
    shared = {
        verb: sorted(homes)
        for product in BUDGETS
        for verb, homes in verb_homes(product).items()
        if len(homes) > 2
    }

    assert {
        verb: homes for verb, homes in shared.items() if verb not in SHARED_VERBS
    } == {}
    assert SHARED_VERBS.keys() - shared.keys() == set()
