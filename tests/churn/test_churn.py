"""Skills that change cost only themselves: a short run of ``python -m tests.churn``."""

from pathlib import Path

import pytest

from tests.churn.packs import is_whole, text
from tests.churn.running import SURFACES, run

pytestmark = pytest.mark.hostile

LOADS = 15
MOST_S = 60
"""A machine that is busy makes fewer loads, and none of them is judged by the clock."""


@pytest.mark.row("F03", "F04", "F41", "T02", "T05", "D12")
@pytest.mark.parametrize("surface", SURFACES)
def test_what_changes_costs_only_itself(surface: str, tmp_path: Path) -> None:
    outcome = run(surface, tmp_path, MOST_S, LOADS)

    assert outcome.wrong == []
    assert outcome.loads["stable"] > 0
    assert 2 * outcome.errors["in place"] <= outcome.loads["in place"]


def test_a_torn_body_is_told_from_a_whole_one() -> None:
    one, two = (text("a", n).split("---\n", 2)[2] for n in (1, 2))

    assert is_whole(one)
    assert not is_whole(one[:900])
    assert not is_whole(one[:900] + two[900:])
