"""Why a skill is not there: the first reason, in order, with its fix."""

from pathlib import Path

import pytest

from satchel import Options, Satchel, sources
from satchel.runtime._why import Stage
from tests.fakes import FakeSource, away, pack

LONG = "Use when " + "there is much to tell about the one thing at hand, " * 12


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "SKILL.md").write_text(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "fine", pack("fine"))
    write(tmp_path, "no-description", "---\nname: no-description\n---\nBody.\n")
    write(tmp_path, "off", pack("off"))
    retired = "metadata:\n  status: retired\n"
    write(tmp_path, "old", f"---\nname: old\ndescription: d\n{retired}---\n")
    hidden = "disable-model-invocation: true\n"
    write(tmp_path, "quiet", f"---\nname: quiet\ndescription: d\n{hidden}---\n")
    (tmp_path / "wrong-case").mkdir()
    (tmp_path / "wrong-case/skill.md").write_text(pack("wrong-case"))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "stage", "fix"),
    [
        ("fine", "listed", ""),
        ("no-description", "parse", "description"),
        ("off", "disabled", "disabled"),
        ("old", "deprecated", ""),
        ("quiet", "hidden", "disable-model-invocation"),
        ("wrong-case", "path", "SKILL.md"),
        ("fime", "path", "did you mean fine?"),
        ("nothing-like-it", "path", "add its folder"),
    ],
)
def test_the_first_reason_and_its_fix(
    folder: Path, name: str, stage: Stage, fix: str
) -> None:
    answer = Satchel(folder, disabled=["off"]).why(name)

    assert answer.stage == stage, str(answer)
    assert fix in answer.fix


def test_a_profile_that_was_chosen_is_named(tmp_path: Path) -> None:
    write(tmp_path, "fine", "---\nname: fine\ndescription: d\nextra: 1\n---\n")

    assert Satchel(tmp_path).why("fine").stage == "listed"
    assert Satchel(tmp_path, profile="strict").why("fine").stage == "profile"


def test_trust_and_filter_and_shadow(tmp_path: Path) -> None:
    project = tmp_path / "project"
    write(project / ".agents/skills", "theirs", pack("theirs"))
    write(tmp_path / "mine", "web-a", pack("web-a"))
    write(tmp_path / "mine", "other", pack("other"))
    write(tmp_path / "yours", "web-a", pack("web-a", body="# Other\n"))
    skills = Satchel(
        sources.usual(project=project, home=tmp_path / "home"),
        sources.only(sources.folder(tmp_path / "mine"), include=["web-*"]),
        tmp_path / "yours",
        options=Options(on_conflict="precedence"),
    )

    assert skills.why("theirs").stage == "trust"
    assert skills.why("other").stage == "filtered"
    assert skills.why("web-a").stage == "listed"
    shadowed = [w for w in skills.catalog.excluded if w.reason == "shadowed"]
    assert [w.descriptor.id for w in shadowed] == ["web-a"]


def test_a_conflict_names_both_owners_and_a_source_that_is_away_comes_first(
    tmp_path: Path,
) -> None:
    write(tmp_path / "x", "a", pack("a"))
    write(tmp_path / "y", "a", pack("a", body="# Other\n"))

    answer = Satchel(tmp_path).why("a")

    assert answer.stage == "conflict"
    assert "x/a" in answer.message
    assert "y/a" in answer.message

    source = FakeSource("s", {})
    source.failure = away("s")

    answer = Satchel(source).why("a")

    assert answer.stage == "source"
    assert "the line is dead" in answer.message


@pytest.mark.parametrize(
    ("budget", "says"),
    [(300, "shortened"), (90, "only its name"), (70, "this one is cut")],
)
def test_what_a_budget_cut_is_said(tmp_path: Path, budget: int, says: str) -> None:
    for i in range(9):
        write(tmp_path, f"skill-{i}", pack(f"skill-{i}", LONG))

    answer = Satchel(tmp_path, budget_tokens=budget).why("skill-8")

    assert answer.stage == "budget", str(answer)
    assert says in answer.message
