"""What every adapter does where each load is verified: a model reads what is locked.

As in `tests.adapters.test_contract`, one test is one row of docs/reference/adapters.md.
"""

from pathlib import Path

import pytest

from satchel.policy import Policy, allow
from satchel.runtime import Satchel
from tests.adapters.desk import ANA, load, read, script, setup, write_packs
from tests.adapters.driver import Driver, Mode, Rig, Say
from tests.adapters.test_contract_scripts import (
    FILL,
    RUN,
    SKILL,
    PlainRunner,
    work_of,
)
from tests.functional.library import run, write_pack

pytestmark = pytest.mark.row("U16", "N10")

GUIDE = "Each field of FORM-7719 takes one line.\n"
STEPS: list[Say] = [
    [load("forms")],
    [read("forms", "references/guide.md")],
    [RUN],
    "done",
]
MARKS = {"SKILL.md": "FORMS-3381", "references/guide.md": "FORM-7719"}


class Locked:
    """A project with one skill, added by its user, whose every load is verified."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pack = folder / "project" / "skills" / "forms"
        self.runner = PlainRunner()
        self.saw: list[str] = []

    async def play(self, driver: Driver, mode: Mode, steps: list[Say] = STEPS) -> Rig:
        """Let a new agent load the skill, read its file, and run its script."""
        work = work_of(self.folder)
        rules = Policy(allow("forms", "script"))
        skills = Satchel(self.pack.parent, policy=rules, runner=self.runner)
        rig = driver.build(setup(skills, script(*steps), work=lambda _: work))
        assert await rig.say("hi", who=ANA, mode=mode) == "done"
        self.saw = rig.seen[-1].results
        return rig

    def flip(self, path: str) -> None:
        """Change one bit of a letter of a file, which has its size as before."""
        file = self.pack / path
        data = file.read_bytes()
        last = data.rindex(b"e")
        file.write_bytes(data[:last] + bytes([data[last] ^ 1]) + data[last + 1 :])


@pytest.fixture
def locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Locked:
    """What a user's own settings, and ``satchel add``, make of a folder of skills."""
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.setenv("SATCHEL_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("SATCHEL_CONFIG", raising=False)
    own = tmp_path / "xdg_config_home" / "satchel" / "satchel.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[trust]\nverify = "locked"\n')
    files = {"references/guide.md": GUIDE, "scripts/fill.py": FILL}
    write_pack(tmp_path / "shared" / "forms", SKILL, files)
    # Without any skill there would be no tools.
    write_packs(tmp_path / "shared")
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    result = run("add", "../shared")
    assert result.exit_code == 0, result.stderr
    return Locked(tmp_path)


async def test_what_is_locked_is_read(
    driver: Driver, locked: Locked, mode: Mode
) -> None:
    """With `verify = "locked"` a skill, its file and its script are as without it."""
    rig = await locked.play(driver, mode)

    assert "FORMS-3381" in locked.saw[0]
    assert "FORM-7719" in locked.saw[1]
    assert "FILLED-5512" in locked.saw[2]
    assert "forms" in rig.seen[0].system


async def test_a_skill_that_is_not_as_locked(
    driver: Driver, locked: Locked, mode: Mode
) -> None:
    """One bit of SKILL.md is another: the skill is not listed, and loads nothing."""
    locked.flip("SKILL.md")

    # No script either: the tool for it comes with a load.
    rig = await locked.play(driver, mode, [*STEPS[:2], "done"])

    assert "unverified" in locked.saw[0]
    seen = "".join(f"{step}" for step in rig.seen)
    assert [mark in seen for mark in ("FORMS-3381", "FORM-7719")] == [False, False]
    assert "fill in a form" not in rig.seen[0].system
    assert "run_skill_script" not in rig.seen[-1].tools


async def test_a_file_that_is_not_as_locked(
    driver: Driver, locked: Locked, mode: Mode
) -> None:
    """One bit of a file is another: it is not read, and no script next to it runs."""
    locked.flip("references/guide.md")

    await locked.play(driver, mode)

    assert "FORMS-3381" in locked.saw[0]
    assert "FORM-7719" not in locked.saw[1]
    assert "satchel.lock has sha256:" in locked.saw[1]
    # A script gets all of its pack.
    assert locked.runner.jobs == []


@pytest.mark.row("U14")
async def test_a_script_that_is_not_as_locked(
    driver: Driver, locked: Locked, mode: Mode
) -> None:
    """One bit of a script is another: it does not run; the rest of its skill loads."""
    locked.flip("scripts/fill.py")

    await locked.play(driver, mode)

    assert "FORMS-3381" in locked.saw[0]
    assert "satchel.lock has sha256:" in locked.saw[2]
    assert locked.runner.jobs == []


async def test_a_skill_that_changes_while_a_program_runs(
    driver: Driver, locked: Locked, mode: Mode
) -> None:
    """One bit is another after the agent was made: what comes next is refused."""
    work = work_of(locked.folder)
    skills = Satchel(locked.pack.parent)
    steps = script(*STEPS[:2], "done")
    rig = driver.build(setup(skills, steps, work=lambda _: work))
    for path in MARKS:
        locked.flip(path)

    assert await rig.say("hi", who=ANA, mode=mode) == "done"

    seen = "".join("".join(step.results) for step in rig.seen)
    assert [mark in seen for mark in MARKS.values()] == [False, False]
    assert "unverified" in seen
