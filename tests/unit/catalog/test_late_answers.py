"""Sources elsewhere that take their time keep nobody from the skills that are here."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from satchel import Options, Satchel
from tests.fakes import FakeSource, pack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from satchel.model import Finding, Found, SyncReport


class Gate(FakeSource):
    """Answers when it is let; counts how often that was looked for."""

    def __init__(self, label: str, *names: str, near: bool = False) -> None:
        super().__init__(label, {name: {"SKILL.md": pack(name)} for name in names})
        self.near = near
        self.may_answer = threading.Event()
        self.answered = threading.Event()

    def scan(self) -> Iterable[Found | Finding]:
        self.may_answer.wait()
        found = [*super().scan()]
        self.answered.set()
        return found


@pytest.fixture
def far() -> Iterator[Gate]:
    gate = Gate("far", "b")
    yield gate
    gate.may_answer.set()


def here() -> Gate:
    gate = Gate("here", "a", near=True)
    gate.may_answer.set()
    return gate


@pytest.mark.row("F41", "R08")
def test_what_is_here_is_served_before_what_is_elsewhere_has_answered(
    far: Gate,
) -> None:
    reports: list[SyncReport] = []
    skills = Satchel(here(), far, options=Options(far_s=0.0))
    skills.listen(reports.append)
    assert [entry.id for entry in skills.catalog] == ["a"]
    assert skills.load("a").id == "a"
    skills.apply_late_answers()
    assert not reports
    assert skills.registry.pending

    far.may_answer.set()
    far.answered.wait()
    while not reports:  # its thread has a step to go
        skills.apply_late_answers()

    assert [entry.id for entry in skills.catalog] == ["a", "b"]
    assert reports[0].added == ("b",)
    assert not skills.registry.pending


@pytest.mark.row("F41", "R08")
def test_what_is_here_is_in_use_while_a_sync_waits_for_the_rest(far: Gate) -> None:
    far.may_answer.set()
    near = here()
    skills = Satchel(near, far)
    far.may_answer.clear()
    near.packs["c"] = {"SKILL.md": pack("c")}
    syncing = threading.Thread(target=skills.sync)
    syncing.start()
    while "c" not in skills.catalog:
        assert syncing.is_alive()

    far.may_answer.set()
    syncing.join()


@pytest.mark.row("F41", "T04")
def test_with_nothing_here_the_rest_is_waited_for(far: Gate) -> None:
    made: list[Satchel] = []
    making = threading.Thread(
        target=lambda: made.append(Satchel(far, options=Options(far_s=0.0)))
    )
    making.start()
    while not far.scans:
        far.may_answer.set()
    making.join()

    assert [entry.id for entry in made[0].catalog] == ["b"]
