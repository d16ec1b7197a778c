"""Which skills are hidden by another: on libraries where that is known."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from satchel.checking import run_evals
from satchel.evals import EvalLibrary, suggest
from satchel.evals._boundaries import claims_of
from satchel.evals._shadows import Competition, shadows
from satchel.model import Descriptor, Origin
from tests.unit.evals.planted import MadeUpSkill, PlantedLibrary, planted_library

if TYPE_CHECKING:
    from pathlib import Path


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


def test_descriptions_that_are_equal_hide_each_other() -> None:
    text = "Extract tables and figures from scanned documents."
    library = _library([MadeUpSkill("one", text), MadeUpSkill("two", text)])

    hidden = shadows(library, Competition(library).rivals([]))

    assert [(s.rival.skill, s.rival.taken_by) for s in hidden] == [
        ("one", "two"),
        ("two", "one"),
    ]


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


def test_a_proposal_is_tried_and_changes_no_file(tmp_path: Path) -> None:
    library = planted_library(3)
    folder = write_library(tmp_path / "a", library)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    run = run_evals([str(folder)], suggestions=True)

    assert {path: path.read_bytes() for path in before} == before
    assert len(run.suggestions) == len(run.report.shadows) > 0
    for proposal in run.suggestions:
        assert proposal.after.startswith(proposal.before)
        assert 0 < proposal.back <= proposal.taken
        # What it says of itself is so: written, the skill is hidden no more.
        if proposal.back == proposal.taken:
            skills = [
                replace(s, description=proposal.after)
                if s.name == proposal.skill
                else s
                for s in library.skills
            ]
            again = write_library(
                tmp_path / proposal.skill, PlantedLibrary(skills, set())
            )
            shadow = next(
                s
                for s in run.report.shadows
                if proposal.skill in (s.rival.skill, s.rival.taken_by)
            )
            assert shadow.rival.skill not in hidden_in(again)


def test_no_proposal_for_a_library_without_shadows() -> None:
    library = _library([MadeUpSkill("one", "Extract tables from documents.")])

    assert (
        list(suggest(shadows(library, Competition(library).rivals([])), library)) == []
    )
