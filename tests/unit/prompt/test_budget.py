"""The stages of a budget, told in the text and in the value."""

from __future__ import annotations

from typing import get_args

import pytest

from satchel.model import Catalog, Descriptor
from satchel.prompt import Format, render

LONG = "Use when words are to be counted, one after another, until none is left. " * 4
MANY = Catalog(tuple(Descriptor(f"skill-{n:03}", f"{n} {LONG}") for n in range(100)))


class Words:
    """Counts words: another tokenizer than ours."""

    name = "words"

    def count(self, text: str) -> int:
        return len(text.split())


@pytest.mark.row("R15", "E30")
@pytest.mark.parametrize("shape", get_args(Format))
@pytest.mark.parametrize("budget", [8000, 6000, 2500, 1000, 300])
def test_every_stage_is_within_the_budget_and_says_so(
    shape: Format, budget: int
) -> None:
    rendered = render(MANY, format=shape, budget_tokens=budget)

    assert rendered.tokens <= budget
    if not rendered.complete:
        assert "call find_skills" in str(rendered)
        assert [finding.code for finding in rendered.findings] == ["over-budget"]


@pytest.mark.row("R15")
def test_the_stages_come_in_order() -> None:
    """In full, shortened, names, then a count; each keeps the section."""
    stages = []
    for budget in (None, 9500, 5000, 2000, 800, 40):
        rendered = render(MANY, budget_tokens=budget)
        sizes = map(len, (rendered.shortened, rendered.names_only, rendered.left_out))
        stages.append(tuple(sizes))

    assert stages[:4] == [(0, 0, 0), (0, 0, 0), (100, 0, 0), (0, 100, 0)]
    assert stages[4][1] + stages[4][2] == 100
    assert stages[5] == (0, 0, 100)


@pytest.mark.row("R15", "D02")
@pytest.mark.parametrize("budget", [5000, 2000, 800])
def test_every_listed_skill_keeps_its_element(budget: int) -> None:
    rendered = render(MANY, budget_tokens=budget)
    text = str(rendered)

    assert text.startswith("## Agent Skills\n")
    assert text.count("<skill>") == text.count("<id>") == 100 - len(rendered.left_out)


@pytest.mark.row("R15", "D04")
def test_no_budget_lists_everything_in_full() -> None:
    assert render(MANY, budget_tokens=None).complete


@pytest.mark.row("E30")
def test_a_description_is_cut_as_little_as_fits() -> None:
    rendered = render(MANY, budget_tokens=5000)

    assert rendered.tokens > 5000 * 0.95


def test_short_descriptions_stay_whole_beside_long_ones() -> None:
    catalog = Catalog((Descriptor("long", LONG * 9), Descriptor("short", "Use it.")))

    rendered = render(catalog, budget_tokens=200)

    assert rendered.shortened == ("long",)
    assert "<description>Use it.</description>" in str(rendered)
    assert "1 description is cut short" in str(rendered)


def test_the_count_is_that_of_the_counter() -> None:
    rendered = render(MANY, budget_tokens=700, counter=Words())

    assert rendered.counted_by == "words"
    assert rendered.tokens == len(str(rendered).split()) <= 700


def test_by_default_the_count_says_that_it_is_an_estimate() -> None:
    assert "estimate" in render(MANY).counted_by


def test_no_find_tool_no_pointer() -> None:
    text = str(render(MANY, budget_tokens=800, find_tool=None))

    assert text.endswith("more skills are not listed.")


def test_equal_budgets_give_equal_bytes() -> None:
    assert render(MANY, budget_tokens=3000) == render(MANY, budget_tokens=3000)
