"""Most planted faults are reported, and nothing is said of a sound twin."""

from collections import Counter

import pytest

from benchmarks.faults.planted import PLANTED
from benchmarks.faults.planted.__main__ import Outcome, measure

LEAST = 120
SHARE = 0.85


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    """Every fault, checked next to its twin."""
    return measure()


@pytest.mark.slow
@pytest.mark.row("F50", "F51", "F52", "F55", "F56", "F57")
def test_most_faults_are_reported(outcomes: list[Outcome]) -> None:
    reported = sum(outcome.is_reported for outcome in outcomes)

    assert len(outcomes) >= LEAST
    assert reported >= SHARE * len(outcomes)


@pytest.mark.row("F50", "F51", "F52", "F55", "F56", "F57")
def test_nothing_is_reported_of_a_sound_twin(outcomes: list[Outcome]) -> None:
    assert [
        (outcome.fault.id, outcome.wrong) for outcome in outcomes if outcome.wrong
    ] == []


def test_every_fault_has_a_name_of_its_own() -> None:
    names = Counter(item.id for item in PLANTED)

    assert [name for name, count in names.items() if count > 1] == []
