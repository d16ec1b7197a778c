"""The README begins with what works anywhere, and shows the best of its rivals."""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BENCHMARKS, HOSTILE = "docs/benchmarks.md", "docs/reference/hostile-packs.md"
OURS = ("satchel", "floor", "by hand", "**satchel")


def rows_of(page: str, after: str) -> Iterator[list[str]]:
    """Yield the cells of each row with a figure in the first table after a text."""
    text = (ROOT / page).read_text("utf-8").partition(after)[2]
    table = re.search(r"(?m)(?:^\|.*\n)+", text)
    assert table is not None, f"{page}: no table after {after!r}"
    for line in table[0].splitlines()[2:]:
        yield [cell.strip() for cell in line.strip("|").split("|")]


def measured(page: str, after: str, column: int) -> dict[str, float]:
    """Return the figure of each of the others, by its name."""
    figures: dict[str, float] = {}
    for cells in rows_of(page, after):
        figure = re.match(r"[\d,.]+", cells[column])
        if figure and cells[0] and not cells[0].startswith(OURS):
            name = re.split(r"[ ,]", cells[0])[0]
            value = float(figure[0].replace(",", ""))
            figures.setdefault(name, value)
    return figures


@pytest.mark.row("F103")
@pytest.mark.parametrize(
    ("row", "page", "after", "column", "best"),
    [
        ("that it lists", BENCHMARKS, "## Discovery of 11,785 packs", 3, max),
        ("until they are listed", BENCHMARKS, "## Discovery of 11,785 packs", 6, min),
        ("still served", HOSTILE, "# Hostile packs", 2, max),
        ("tokens for 12", BENCHMARKS, "### 12 of the role packs", 6, min),
        ("add to a model call", BENCHMARKS, "## What 100 skills add", 3, max),
    ],
)
def test_the_best_of_the_others_is_shown(
    row: str,
    page: str,
    after: str,
    column: int,
    best: Callable[[Iterable[float]], float],
) -> None:
    """Also where it is better than Satchel."""
    figures = measured(page, after, column)
    figure = best(figures.values())
    holders = {name for name, value in figures.items() if value == figure}
    # That table has Satchel over each of them, and the README each over Satchel.
    expected = 1 / figure if "model call" in row else figure
    (cells,) = (each for each in rows_of("README.md", "## Why not") if row in each[0])
    shown = re.fullmatch(r"\[([\d,.]+)\]\[\w\], (.+)", cells[2])

    assert shown is not None, cells[2]
    assert float(shown[1].replace(",", "")) == pytest.approx(expected, abs=0.0501)
    names = {name.lower().replace(" ", "_") for name in shown[2].split(", ")}
    assert names == holders


@pytest.mark.row("F60")
@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/tutorial/first-agent.md",
        "docs/tutorial/first-skill.md",
        "docs/tutorial/team-library.md",
    ],
)
def test_what_is_installed_first_goes_into_an_environment(page: str) -> None:
    """Debian 12 and others let pip install nothing next to the system's packages."""
    text = (ROOT / page).read_text("utf-8")
    before, install, _ = text.partition("pip install ")

    assert install
    assert re.search(r"-m venv|in a virtual environment", before)
