"""``[trust] verify``: no byte reaches a model that is not in an approved lock."""

import shutil
import time
from pathlib import Path

import pytest

from satchel import Options, Policy, Satchel, allow
from satchel.errors import DigestMismatchError, SkillExcludedError
from satchel.model import Job, Outcome
from satchel_install._lock import parse_lock
from satchel_install.verification import LOOK_S
from tests.functional.library import run
from tests.install.conftest import Upstream

pytestmark = [
    pytest.mark.usefixtures("verifying"),
    pytest.mark.row("U16", "N10"),
]


@pytest.fixture(autouse=True)
def added(upstream: Upstream) -> None:
    """The skill pdf, with what it needs, added by the user."""
    assert run("add", upstream.address, "--skill", "pdf").exit_code == 0


def flip(file: Path) -> None:
    """Change one bit of a file."""
    data = bytearray(file.read_bytes())
    data[-2] ^= 1
    file.write_bytes(data)


def test_what_was_loaded_says_where_it_is_from(upstream: Upstream) -> None:
    commit = upstream.git("rev-parse", "HEAD")
    with Satchel(sinks=[]) as skills:
        vouched = skills.load("pdf").vouched

    assert vouched.startswith(
        f"satchel.lock: {upstream.address}@{commit[:12]}, sha256-"
    )


@pytest.mark.parametrize("named", [(), ("skills",)])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("file", ["SKILL.md", "scripts/fill.py"])
def test_one_flipped_bit_is_refused(
    project: Path, named: tuple[str, ...], when: str, file: str
) -> None:
    if when == "before":
        flip(project / "skills/pdf" / file)
    with Satchel(*named, sinks=[]) as skills:
        if when == "after":
            assert skills.load("pdf", file).vouched
            flip(project / "skills/pdf" / file)
        with pytest.raises((DigestMismatchError, SkillExcludedError)):
            skills.load("pdf", file)
        answer = str(skills.session().call("load_skill", {"skill_id": "pdf"}))
        assert ("Error: skill 'pdf' is unverified" in answer) == (file == "SKILL.md")
        assert "satchel verify" not in answer
        is_listed = "pdf" in str(skills.prompt())
        assert is_listed == (file != "SKILL.md")


def test_a_script_with_other_bytes_does_not_run(project: Path) -> None:
    jobs: list[Job] = []

    class Runner:
        def run(self, job: Job) -> Outcome:
            jobs.append(job)
            raise NotImplementedError

    policy = Policy(allow("pdf", "script"))
    with Satchel(sinks=[], policy=policy, runner=Runner()) as skills:
        chat = skills.session()
        chat.call("load_skill", {"skill_id": "pdf"})
        flip(project / "skills/pdf/scripts/fill.py")
        call = {"skill_id": "pdf", "path": "scripts/fill.py"}
        answer = str(chat.call("run_skill_script", call))

    assert jobs == []
    assert "digest-mismatch" in answer


def test_a_pack_that_no_lock_has_is_refused(project: Path) -> None:
    folder = project / "skills/new"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: new\ndescription: X.\n---\nX\n")

    flip(project / "skills/pdf/SKILL.md")
    line = "to take the locked one, type: satchel sync --discard pdf"
    assert line in run("why", "pdf").stdout
    assert run("sync", "--discard", "pdf").exit_code == 0
    with Satchel(sinks=[]) as skills:
        assert "pdf" in skills
        assert "new" not in skills
        (finding,) = (f for f in skills.findings if f.code == "unvouched-skill")
    assert "no approved satchel.lock has a skill of this name" in finding.message
    assert "new is not in satchel.lock" in run("verify").stdout


def test_a_file_that_no_lock_has_is_refused(project: Path) -> None:
    (project / "skills/pdf/more.md").write_text("More.\n")

    with Satchel(sinks=[]) as skills, pytest.raises(DigestMismatchError):
        skills.load("pdf", "more.md")
    assert "pdf/more.md is not in satchel.lock" in run("verify").stdout


def test_a_cloned_lock_counts_once_it_is_approved(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(project, clone)
    monkeypatch.chdir(clone)
    with Satchel(sinks=[]) as skills:
        assert len(skills) == 0
        assert "is not approved" in skills.findings[0].message
    assert run("verify").exit_code == 1
    assert "nobody is here to ask" in run("trust").stderr

    assert run("trust", "--yes").exit_code == 0

    assert run("verify").exit_code == 0
    with Satchel(sinks=[]) as skills:
        assert len(skills) == 2
        assert run("trust", "--revoke").exit_code == 0
        time.sleep(2 * LOOK_S)
        with pytest.raises(DigestMismatchError, match="is not approved"):
            skills.load("pdf")


def test_a_lock_that_changes_is_asked_for_again(project: Path) -> None:
    lock = project / "satchel.lock"
    lock.write_bytes(lock.read_bytes().replace(b'"entry": "pdf"', b'"entry": "pdg"'))

    with Satchel(sinks=[]) as skills:
        assert len(skills) == 0


def test_in_ci_a_variable_approves(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(project, clone)
    monkeypatch.chdir(clone)
    from satchel.files import digest_bytes

    digest = digest_bytes((clone / "satchel.lock").read_bytes())
    monkeypatch.setenv("SATCHEL_TRUSTED_LOCK", digest)

    assert run("verify").exit_code == 0
    with Satchel(sinks=[]) as skills:
        assert len(skills) == 2


def test_warn_only_observes(project: Path, verifying: Path) -> None:
    verifying.write_text('[trust]\nverify = "warn"\n')
    flip(project / "skills/pdf/SKILL.md")

    with Satchel(sinks=[]) as skills:
        assert skills.load("pdf").vouched == ""
        (finding,) = (f for f in skills.findings if f.code == "unvouched-skill")
    assert finding.severity == "warning"


@pytest.mark.row("U06")
def test_a_project_may_tighten_and_never_loosen(
    project: Path, verifying: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = project / "satchel.toml"
    file.write_text('[trust]\nverify = "warn"\n' + file.read_text())
    assert "no looser" in run("list").stderr

    verifying.unlink()
    file.write_text(file.read_text().replace('"warn"', '"locked"'))
    flip(project / "skills/pdf/SKILL.md")
    with Satchel(sinks=[]) as skills:
        assert "pdf" not in skills


def test_a_hostile_clone_names_no_place_outside(
    project: Path, tmp_path: Path, upstream: Upstream
) -> None:
    clone = tmp_path / "clone"
    clone.mkdir()
    entry = f'x = {{ folder = "{upstream.folder}/skills" }}'
    (clone / "satchel.toml").write_text(f"[skills]\n{entry}\n")

    from _pytest.monkeypatch import MonkeyPatch

    with MonkeyPatch.context() as patch:
        patch.chdir(clone)
        result = run("sync")

    assert result.exit_code == 1
    assert "is outside of this project" in result.stderr
    assert not (clone / "skills").exists()


def test_code_and_a_verifier_of_ones_own(project: Path) -> None:
    from satchel import Skill

    skill = Skill("mine", description="Use when testing.", instructions="# Mine\n")
    with Satchel("skills", skill, sinks=[]) as skills:
        assert skills.load("mine").vouched == "the program's own code"

    class Nobody:
        def problem_of(self, _: object) -> None:
            return None

        def verify(self, _: object, path: str, digest: str) -> str:
            return f"{path}: {digest[:7]}"

    options = Options(verifier=Nobody())
    with Satchel("skills", sinks=[], options=options) as skills:
        assert (
            skills.load("pdf", "scripts/fill.py").vouched == "scripts/fill.py: sha256:"
        )


def test_a_lock_is_read_as_it_is_written(project: Path) -> None:
    data = (project / "satchel.lock").read_bytes()
    assert parse_lock(data, "x").data == data
