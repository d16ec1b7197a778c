"""The house keeps its doors, its words and its routes: see tools/figures.py."""

import re
import subprocess
import sys

from tools.figures import (
    BUDGETS,
    ROOT,
    house_figures,
    long_functions,
    repeated_classes,
)

ADVICE = {
    "lines of tests/api.txt": "export it `as` itself instead of naming it in __all__",
    "keywords of Satchel": "make it a field of satchel.Options",
    **{
        f"code of {product}": "take something out, or write a decision page"
        for product in BUDGETS
    },
}


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
