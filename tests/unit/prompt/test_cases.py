"""Every golden text, byte for byte: ``tests/cases/prompt/<case>``.

``case.toml`` holds the options of `render` and the skills, ``expected.txt`` the text.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from satchel.model import Catalog, Descriptor, Rendered
from satchel.prompt import render

CASES = Path(__file__).parents[2] / "cases" / "prompt"


def render_case(case: Path) -> Rendered:
    table = tomllib.loads((case / "case.toml").read_text("utf-8"))
    entries = sorted(table["skills"].items())
    catalog = Catalog(tuple(Descriptor(id, text) for id, text in entries))
    return render(catalog, **table.get("options", {}))


@pytest.mark.row("D01", "D02", "D03", "D04", "A36", "C01", "C07", "X14", "X20", "R17")
@pytest.mark.row("G17", "G18", "G25", "E01", "R15", "D25")
@pytest.mark.parametrize("case", sorted(CASES.iterdir()), ids=lambda case: case.name)
def test_case(case: Path) -> None:
    expected = (case / "expected.txt").read_bytes().decode()

    assert str(render_case(case)) == expected


@pytest.mark.parametrize("case", sorted(CASES.iterdir()), ids=lambda case: case.name)
def test_no_line_ends_in_a_blank(case: Path) -> None:
    lines = str(render_case(case)).split("\n")

    assert [line for line in lines if line != line.rstrip()] == []
