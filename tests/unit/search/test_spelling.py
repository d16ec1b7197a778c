"""Words that no skill has are read as the nearest ones of the library."""

import pytest

from satchel import Satchel
from tests.fakes import FakeSource, pack
from tests.unit.search.test_ranker import described

SKILLS = {
    "grids": "Extract tables from a scan.",
    "boxes": "Deploy a Kubernetes cluster.",
    "notes": "Write the minutes of a meeting.",
    "birds": "Draw a feather, a move, a plan and a store.",
    "tests": "Authentication for a service.",
}


@pytest.mark.row("F01", "F88")
@pytest.mark.parametrize(
    ("query", "best", "read"),
    [
        ("extrakt tabels", "grids", {"extrakt": "extract", "tabels": "tables"}),
        ("kuberentes", "boxes", {"kuberentes": "kubernetes"}),
        ("deplooy a clustre", "boxes", {"deplooy": "deploy", "clustre": "cluster"}),
        ("minuets of the meetting", "notes", {"minuets": "minutes"}),
        ("authentification", "tests", {"authentification": "authentication"}),
        ("tables of a clusterr", "grids", {}),
        ("jion the documentt of a servcie", "tests", {"servcie": "service"}),
    ],
)
def test_a_misspelled_word_is_read_as_its_nearest(
    query: str, best: str, read: dict[str, str]
) -> None:
    first = described(**SKILLS).find(query)[0]

    assert first.id == best
    assert dict(first.read_as) == read


@pytest.mark.parametrize(
    "query", ["weather", "zoology", "tab", "qubernetes", "tble", "kubr", "x1y2z3", "c#"]
)
def test_a_word_that_is_far_from_all_others_finds_nothing(query: str) -> None:
    assert described(**SKILLS).find(query) == []


@pytest.mark.row("F88")
@pytest.mark.parametrize("query", ["movie", "a plant", "tell a story"])
def test_a_real_word_that_is_near_another_is_weak_at_most(query: str) -> None:
    assert all(hit.weak for hit in described(**SKILLS).find(query))


def test_a_word_that_a_skill_has_is_read_as_it_is() -> None:
    skills = described(a="Extract tables.", b="Extrakt of herbs.")

    hits = skills.find("extrakt")

    assert [(hit.id, hit.read_as) for hit in hits] == [("b", ())]


@pytest.mark.row("F88")
def test_exact_words_go_first() -> None:
    skills = described(a="Review contracts.", b="Review forms.", c="Sign contracts.")

    hits = skills.find("reviev forms")

    assert [(hit.id, hit.read_as) for hit in hits] == [
        ("b", (("reviev", "review"),)),
        ("a", (("reviev", "review"),)),
    ]
    assert hits[0].terms == ("forms", "review")


def test_a_word_of_the_instructions_alone_is_a_word_of_the_library() -> None:
    text = pack("a", "About apples.", "Count the mitochondria.\n")
    skills = Satchel(FakeSource("s", {"a": {"SKILL.md": text}}))

    (hit,) = skills.find("mitochondira")

    assert hit.read_as == (("mitochondira", "mitochondria"),)
