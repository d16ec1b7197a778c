"""Which lines to fix first, and that fixing just these gives what was promised."""

from collections import Counter
from pathlib import Path

import pytest

from satchel_lab.checking import LibraryPrediction, plan_repairs, predict_library
from tests.functional.library import write_pack
from tools.loaders.repairing import fix, write_packs

PACK = "---\nname: {}\ndescription: Use when words are counted.{}\n---\nCount.\n"


def listed(library: LibraryPrediction) -> Counter[str]:
    """Return how many skills each loader lists, by its key."""
    return Counter(
        outcome.loader.key
        for pack in library.packs
        for outcome in pack.outcomes
        if outcome.verdict in {"loaded", "cut", "wrong"} and not pack.is_lost(outcome)
    )


def test_fixing_the_lines_gives_what_was_promised(tmp_path: Path) -> None:
    """The real loaders are asked the same by `tools.loaders repair`."""
    write_packs(tmp_path)
    before = predict_library([str(tmp_path)], ["all"])
    plan = plan_repairs(before)

    for line in plan.lines:
        fix(line)
    after = predict_library([str(tmp_path)], ["all"])

    assert len(plan.lines) > 1
    assert listed(after) - listed(before) == Counter(plan.back)


@pytest.mark.parametrize(
    ("tools", "plans"),
    [
        ("allowed-tools: Read Write", 0),
        ("allowed-tools:\n  - Read", 0),
        ("license: ", 1),
    ],
)
def test_no_line_is_promised_that_another_loader_minds(
    tmp_path: Path, tools: str, plans: int
) -> None:
    """Tools in a list break some loaders, and in a text others."""
    write_pack(tmp_path / "good", PACK.format("good", ""))
    write_pack(tmp_path / "other", PACK.format("other", f"\n{tools}"))

    plan = plan_repairs(predict_library([str(tmp_path)], ["all"]))

    assert len(plan.lines) == plans
    assert bool(plan.back) is bool(plans)


def test_equal_packs_give_equal_plans(tmp_path: Path) -> None:
    write_packs(tmp_path)
    library = predict_library([str(tmp_path)], ["frameworks"])

    assert plan_repairs(library) == plan_repairs(library)
