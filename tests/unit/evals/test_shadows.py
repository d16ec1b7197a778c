"""Which skills are hidden by another: on libraries where that is known."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from satchel.model import Descriptor, Origin
from satchel_lab.checking import run_evals
from satchel_lab.evals import EvalLibrary, hidden_skills
from satchel_lab.evals._shadows import Competition, claims_of
from tests.unit.evals.planted import MadeUpSkill, PlantedLibrary, planted_library

if TYPE_CHECKING:
    from pathlib import Path

    from satchel_lab.checking import EvalRun
    from satchel_lab.evals import EvalReport


def write_library(folder: Path, library: PlantedLibrary) -> Path:
    """Write the packs of a library, each with its evals."""
    for skill in library.skills:
        pack = folder / skill.name
        (pack / "evals").mkdir(parents=True)
        head = f"name: {skill.name}\ndescription: {json.dumps(skill.description)}"
        (pack / "SKILL.md").write_text(f"---\n{head}\n---\n# {skill.name}\n", "utf-8")
        rows = [{"query": query, "should_trigger": True} for query in skill.queries]
        file = pack / "evals" / "trigger-evals.json"
        file.write_text(json.dumps(rows), "utf-8")
    return folder


def hidden_in(folder: Path) -> set[str]:
    """Return the skills that the evaluation of a folder says are hidden."""
    report = run_evals([str(folder)]).report
    codes = [one for one in report.findings if one.code == "shadowed-skill"]
    assert len(codes) == len(report.shadows)
    assert report.duplicates == ()
    return {shadow.rival.skill for shadow in report.shadows}


@pytest.mark.parametrize(
    "libraries", [range(8), pytest.param(range(40), marks=pytest.mark.hostile)], ids=len
)
def test_hidden_skills_are_found_and_others_are_not(
    tmp_path: Path, libraries: range
) -> None:
    right = wrong = missed = 0
    for seed in libraries:
        library = planted_library(seed)
        found = hidden_in(write_library(tmp_path / str(seed), library))
        right += len(found & library.hidden)
        wrong += len(found - library.hidden)
        missed += len(library.hidden - found)

    assert right / (right + wrong) >= 0.9, (right, wrong)
    assert right / (right + missed) >= 0.9, (right, missed)


def pack_of(name: str, description: str, digest: str) -> Descriptor:
    """Return what a scan says of a pack."""
    origins = (Origin("skills", digest, f"skills/{digest}"),)
    return Descriptor(name, description, name, digest=digest, origins=origins)


def _library(skills: list[MadeUpSkill]) -> EvalLibrary:
    return EvalLibrary((pack_of(s.name, s.description, s.name) for s in skills), {})


@pytest.mark.parametrize("seed", range(0, 40, 20))
def test_a_skill_without_a_word_of_any_query_changes_nothing(
    tmp_path: Path, seed: int
) -> None:
    library = planted_library(seed)
    before = run_evals([str(write_library(tmp_path / "a", library))]).report
    library.skills.append(MadeUpSkill("qqxy", "Wwvu xxyz qqrs yyzz."))
    after = run_evals([str(write_library(tmp_path / "b", library))]).report

    assert [s.rival for s in after.shadows] == [s.rival for s in before.shadows]
    assert [one.verdict for one in after.routed] == [
        one.verdict for one in before.routed
    ]
    assert [one.rank for one in after.routed] == [one.rank for one in before.routed]


@pytest.mark.parametrize("seed", range(0, 40, 20))
def test_names_and_order_change_no_verdict(tmp_path: Path, seed: int) -> None:
    library = planted_library(seed)
    hidden = hidden_in(write_library(tmp_path / "a", library))
    renamed = {skill.name: f"n{n:03}" for n, skill in enumerate(library.skills)}
    skills = [
        replace(skill, name=renamed[skill.name]) for skill in reversed(library.skills)
    ]
    for skill in skills:
        for name, new in renamed.items():
            skill.description = skill.description.replace(name, new)
    random.Random(seed).shuffle(skills)  # noqa: S311
    other = hidden_in(write_library(tmp_path / "b", PlantedLibrary(skills, set())))

    assert other == {renamed[name] for name in hidden}


def test_packs_of_one_name_are_no_rivals() -> None:
    text = "Extract tables from documents."
    packs = (pack_of("same", text, digest) for digest in "ab")

    assert Competition(EvalLibrary(packs, {})).rivals([]) == ()


BOUNDARIES: list[tuple[str, str, list[tuple[str, ...]]]] = [
    ("Fills PDF forms.", "Fills PDF forms.", []),
    ("Fills forms. Do not use for images.", "Fills forms.", [()]),
    ("Fills forms, not for images.", "Fills forms", [()]),
    ("Fills forms. For images use image-tools.", "Fills forms.", [("image-tools",)]),
    (
        "Fills forms. Do not use for images; use image-tools instead.",
        "Fills forms.",
        [("image-tools",)],
    ),
    (
        "Fills forms. NOT for images. Use `image-tools` instead.",
        "Fills forms.",
        [("image-tools",)],
    ),
    ("Fills forms. Don\u2019t use this for images.", "Fills forms.", [()]),
    ("Fills forms rather than images.", "Fills forms", [()]),
    ("Forms. For images see other-tools.", "Forms. For images see other-tools.", []),
    ("Use it for forms, e.g. tax forms.", "Use it for forms, e.g. tax forms.", []),
    (
        "\u8868\u683c\u3002\u4e0d\u8981\u7528\u4e8e\u56fe\u7247",
        "\u8868\u683c\u3002",
        [()],
    ),
]


@pytest.mark.parametrize(("text", "claim", "instead"), BOUNDARIES)
def test_a_boundary_is_no_claim(
    text: str, claim: str, instead: list[tuple[str, ...]]
) -> None:
    claims = claims_of(
        text, lambda name: ("image-tools",) if name == "image-tools" else ()
    )

    assert claims.text == claim
    assert [boundary.instead for boundary in claims.boundaries] == instead


TEXT = "Extract tables and figures from scanned documents."
ONE_TWO = {"one": {"two"}, "two": {"one"}}
# Descriptions by the names a, b, c, and who is a duplicate of whom.
DUPLICATES: dict[str, tuple[dict[str, str], dict[str, set[str]]]] = {
    "equal": ({"one": TEXT, "two": TEXT}, ONE_TWO),
    "equal but for order and form": (
        {"one": TEXT, "two": "From a scanned document extract the figures and tables!"},
        ONE_TWO,
    ),
    "nearly equal": ({"one": TEXT, "two": f"{TEXT} Use it for reports."}, ONE_TWO),
    "equal, and each hands over to the other": (
        {
            "one": f"{TEXT} Do not use it for tables of scanned documents; use `two`.",
            "two": f"{TEXT} Do not use it for tables of scanned documents; use `one`.",
        },
        ONE_TWO,
    ),
    "three": (
        {"one": TEXT, "two": TEXT, "three": TEXT, "mail": "Send letters by post."},
        {
            "one": {"two", "three"},
            "two": {"one", "three"},
            "three": {"one", "two"},
        },
    ),
    "siblings that each say what only they do": (
        {
            "one": "Deploy a Python function to the cloud with logs and alerts.",
            "two": "Deploy a Ruby function to the cloud with logs and alerts.",
        },
        {},
    ),
    "nothing said": ({"one": "", "two": ""}, {}),
}


@pytest.mark.row("F86")
@pytest.mark.parametrize("title", DUPLICATES)
def test_equal_skills_are_duplicates_and_get_no_advice(
    tmp_path: Path, title: str
) -> None:
    texts, expected = DUPLICATES[title]
    queries = ["tables of scanned documents", "figures of documents"]
    skills = [MadeUpSkill(name, text, queries) for name, text in texts.items()]

    run = run_evals(
        [str(write_library(tmp_path, PlantedLibrary(skills, set())))], suggestions=True
    )

    assert {one.skill: {*one.of} for one in run.report.duplicates} == expected
    told = [one for one in run.report.findings if one.message.startswith("duplicates")]
    assert len(told) == len(expected)
    assert {one.fix for one in told} <= {"merge them, or say what only one does"}
    assert not {one.skill for one in run.suggestions} & expected.keys()


# A skill whose queries another one takes, its queries, and words of a good proposal.
FORM = "Fill in a tax form, a customs form or a visa form."
ADVISED: dict[str, tuple[dict[str, str], list[str], set[str]]] = {
    "its queries have a word of their own": (
        {"paper": "Paper work.", "office": FORM},
        [
            "claim an invoice refund with a tax form",
            "invoice refund claim: a visa form",
        ],
        {"claim", "invoice"},
    ),
    "only words of everyday requests": (
        {"paper": "Paper work.", "office": FORM},
        ["got a tax form days ago", "got that visa form com ago"],
        set(),
    ),
    "every word is the winner's own": (
        {"paper": "Paper work.", "office": FORM},
        ["a tax form", "fill in the visa form"],
        set(),
    ),
    "words of one query alone": (
        {"paper": "Paper work.", "office": FORM},
        ["zebra tax form", "giraffe visa form"],
        set(),
    ),
    "what would win its queries takes those of a third": (
        {
            "paper": "Paper work.",
            "office": FORM,
            "books": "Refund.",
        },
        [
            "claim an invoice refund with a tax form",
            "invoice refund claim: a visa form",
        ],
        set(),
    ),
}


@pytest.mark.row("F86")
@pytest.mark.parametrize("title", ADVISED)
def test_advice_is_tried_in_the_whole_library(tmp_path: Path, title: str) -> None:
    texts, queries, words = ADVISED[title]
    skills = [MadeUpSkill(name, text) for name, text in texts.items()]
    skills[0].queries = queries
    skills[1].queries = ["fill in a visa form", "a customs form"]
    if len(skills) > 2:
        skills[2].queries = ["claim refund"]

    run = run_evals(
        [str(write_library(tmp_path / "a", PlantedLibrary(skills, set())))],
        suggestions=True,
    )

    assert [one.rival.skill for one in run.report.shadows] == ["paper"]
    said = {
        word for one in run.suggestions for word in one.after[len(one.before) :].split()
    }
    assert words <= {word.strip(".,;") for word in said}
    assert bool(run.suggestions) is bool(words)
    assert_harmless(tmp_path, skills, run)


def assert_harmless(tmp_path: Path, skills: list[MadeUpSkill], run: EvalRun) -> None:
    """Write each proposal, and compare what was found before and after."""
    before = {one.key: one.good for one in run.report.routed}
    hidden = {one.rival.skill for one in run.report.shadows}
    taken = {one.rival.skill: {*one.rival.queries} for one in run.report.shadows}
    for number, one in enumerate(run.suggestions):
        texts = {one.skill: one.after}
        changed = [
            replace(s, description=texts.get(s.name, s.description)) for s in skills
        ]
        library = PlantedLibrary(changed, set())
        after = run_evals([str(write_library(tmp_path / f"{number}", library))]).report
        now = {shadow.rival.skill for shadow in after.shadows}
        lost = [key for key in before if before[key] and not routed(after)[key]]
        [back] = hidden - now or [""]
        assert (lost, now < hidden, after.duplicates) == ([], True, ())
        assert all(
            good
            for (query, expected, _), good in routed(after).items()
            if query in taken[back] and back in expected
        )


def routed(
    report: EvalReport,
) -> dict[tuple[str, tuple[str, ...], tuple[str, ...]], bool]:
    """Return of each case whether it went well."""
    return {one.key: one.good for one in report.routed}


@pytest.mark.row("F86")
@pytest.mark.parametrize("seed", range(3))
def test_a_proposal_harms_nobody_and_changes_no_file(tmp_path: Path, seed: int) -> None:
    library = planted_library(seed)
    folder = write_library(tmp_path / "a", library)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    run = run_evals([str(folder)], suggestions=True)

    assert {path: path.read_bytes() for path in before} == before
    assert all(one.back == one.taken for one in run.suggestions)
    assert all(one.after.startswith(one.before) for one in run.suggestions)
    assert_harmless(tmp_path, library.skills, run)


def test_a_library_without_shadows_has_none() -> None:
    library = _library([MadeUpSkill("one", "Extract tables from documents.")])

    assert hidden_skills([], library) == ((), (), ())
