"""What every adapter does with scripts of skills, and with acts that need a skill.

As in `tests.adapters.test_contract`, one test is one row of docs/reference/adapters.md.
"""

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from satchel import Satchel
from satchel.model import Job, Outcome, OutputFile
from satchel.policy import Policy, allow, ask, require
from satchel.protocols import Runner
from satchel.usage import ListSink
from tests.adapters.desk import (
    ANA,
    NEEDS,
    PAID,
    REFUND,
    REFUNDS,
    TRAVEL,
    WIRE,
    Desk,
    load,
    open_desk,
    script,
    scripts,
    setup,
    wiring,
)
from tests.adapters.driver import Call, Driver, Mode, Paused, Rig, Say

SKILL: Final = """---
name: forms
description: Use when somebody has to fill in a form.
---
FORMS-3381: run `python scripts/fill.py FORM OUT`.
"""
FILL: Final = """import pathlib, sys
form, out = map(pathlib.Path, sys.argv[1:])
out.write_text(form.read_text().replace("NAME", "Ana Simpson"))
print("FILLED-5512", out)
"""
ARGUMENTS: Final[dict[str, object]] = {
    "skill_id": "forms",
    "path": "scripts/fill.py",
    "args": ["form.txt", "filled.txt"],
}
RUN: Final = Call("run_skill_script", ARGUMENTS)
STEPS: Final[list[Say]] = [[load("forms")], [RUN], "done"]


@dataclass
class PlainRunner:
    """Runs a script in the work folder itself: enough to see what adapters pass on."""

    jobs: list[Job] = field(default_factory=list[Job])

    def run(self, job: Job) -> Outcome:
        self.jobs.append(job)
        command = [sys.executable, "-I", str(Path(job.pack) / job.path), *job.args]
        ended = subprocess.run(
            command, cwd=job.work, capture_output=True, text=True, check=False
        )
        files = tuple(
            OutputFile(path.name, "text/plain", path.stat().st_size, "sha256:ab")
            for path in sorted(Path(job.work).glob("filled*"))
        )
        return Outcome(
            ending="exit",
            exit_code=ended.returncode,
            stdout=ended.stdout,
            stderr=ended.stderr,
            files=files,
            runner="plain",
        )


def forms_with(runner: Runner, folder: Path, *rules: Any) -> Satchel:
    """Return a library whose one skill has a script; the form is in ``work/ana``."""
    pack, work = folder / "skills" / "forms", folder / "work" / "ana"
    (pack / "scripts").mkdir(parents=True)
    (pack / "SKILL.md").write_text(SKILL, "utf-8")
    (pack / "scripts" / "fill.py").write_text(FILL, "utf-8")
    work.mkdir(parents=True)
    (work / "form.txt").write_text("NAME\n", "utf-8")
    return Satchel(folder / "skills", policy=Policy(*rules), runner=runner)


@dataclass
class Forms:
    """A library with one skill that runs a script, and a user's folder."""

    folder: Path
    runner: PlainRunner = field(default_factory=PlainRunner)

    @property
    def work(self) -> Path:
        return self.folder / "work" / "ana"

    def rig(self, driver: Driver, *rules: Any, steps: list[Say] = STEPS) -> Rig:
        skills = forms_with(self.runner, self.folder, *rules)
        return driver.build(setup(skills, script(*steps), work=lambda _: self.work))

    @property
    def filled(self) -> list[str]:
        return [path.read_text("utf-8") for path in sorted(self.work.glob("filled*"))]


@pytest.fixture
def forms(tmp_path: Path) -> Forms:
    return Forms(tmp_path)


@pytest.mark.row("U14")
async def test_a_script_runs(driver: Driver, forms: Forms, mode: Mode) -> None:
    """A script of a loaded skill runs in the user's folder; its files are told."""
    rig = forms.rig(driver, allow("forms", "script"))

    assert await rig.say("hi", who=ANA, mode=mode) == "done"

    assert forms.filled == ["Ana Simpson\n"]
    assert "FILLED-5512 filled.txt" in rig.seen[-1].results[-1]
    assert "filled.txt (text/plain, 12 bytes" in rig.seen[-1].results[-1]
    offered = ["run_skill_script" in seen.tools for seen in rig.seen]
    assert offered == [False, True, True]


@pytest.mark.row("U14")
async def test_a_script_is_denied(driver: Driver, forms: Forms) -> None:
    """Without a rule no script runs, and the tool is not offered."""
    rig = forms.rig(driver)

    assert await rig.say("hi", who=ANA) == "done"

    assert forms.runner.jobs == []
    assert all("run_skill_script" not in seen.tools for seen in rig.seen)


@pytest.mark.capability("approval")
@pytest.mark.row("U14")
@pytest.mark.parametrize("answer", [True, False], ids=["yes", "no"])
async def test_a_person_is_asked_before_a_script(
    driver: Driver, forms: Forms, *, answer: bool
) -> None:
    """Where the policy asks, the run waits for a person, who sees the script."""
    rig = forms.rig(driver, ask("forms", "script"))

    paused = await rig.say("hi", who=ANA)
    assert isinstance(paused, Paused)
    assert paused.tool == "run_skill_script"
    assert forms.runner.jobs == []
    await rig.decide(paused, approve=answer)

    assert len(forms.runner.jobs) == len(forms.filled) == answer
    assert ("FILLED-5512" in rig.seen[-1].results[-1]) is answer


@pytest.mark.capability("approval")
@pytest.mark.capability("edits")
@pytest.mark.row("U14")
async def test_a_person_edits_the_arguments_of_a_script(
    driver: Driver, forms: Forms
) -> None:
    """The script gets the arguments that the person wrote."""
    rig = forms.rig(driver, ask("forms", "script"))
    edited = {**ARGUMENTS, "args": ["form.txt", "filled-by-hand.txt"]}

    paused = await rig.say("hi", who=ANA)
    assert isinstance(paused, Paused)
    await rig.decide(paused, approve=True, arguments=edited)

    assert [job.args[1] for job in forms.runner.jobs] == ["filled-by-hand.txt"]


@pytest.mark.capability("approval")
@pytest.mark.row("U14")
async def test_a_script_that_changed_while_a_run_waited(
    driver: Driver, forms: Forms
) -> None:
    """A yes is for the bytes that were shown: others do not run with it."""
    rig = forms.rig(driver, ask("forms", "script"))

    paused = await rig.say("hi", who=ANA)
    assert isinstance(paused, Paused)
    file = forms.folder / "skills" / "forms" / "scripts" / "fill.py"
    file.write_text("print('PLANTED')\n", "utf-8")
    await rig.decide(paused, approve=True)

    assert forms.runner.jobs == []


@pytest.mark.row("U14")
async def test_two_users_at_once(driver: Driver, forms: Forms) -> None:
    """One agent, two users: each script works in the folder of its user."""
    import asyncio

    rig = forms.rig(driver, allow("forms", "script"))

    await asyncio.gather(
        *(rig.say("hi", chat=name, who={**ANA, "user": name}) for name in ("a", "b"))
    )

    assert len(forms.runner.jobs) == 2


READS: Final[list[Say]] = [[load("refunds")], "done"]


@pytest.mark.capability("required acts")
@pytest.mark.row("U07")
async def test_an_act_waits_for_its_skill(
    driver: Driver, packs: Path, mode: Mode
) -> None:
    """A tool of the agent's own that needs a skill is refused until it was read."""
    done: list[int] = []
    skills = open_desk(packs, None, NEEDS)
    model = script([WIRE, WIRE], [WIRE], "done")
    rig = driver.build(setup(skills, model, wiring(done)))

    assert await rig.say("hi", who=ANA, mode=mode) == "done"

    assert done == [5]
    assert REFUNDS in "".join(rig.seen[1].results)
    assert "sent 5" in rig.seen[2].results[-1]


@pytest.mark.capability("required acts")
@pytest.mark.row("U07")
async def test_an_act_in_the_step_of_its_load(
    driver: Driver, packs: Path, mode: Mode
) -> None:
    """Its arguments were written before the instructions were read: it waits."""
    done: list[int] = []
    skills = open_desk(packs, None, NEEDS)
    model = script([load("refunds"), WIRE], [WIRE], "done")
    rig = driver.build(setup(skills, model, wiring(done)))

    await rig.say("hi", who=ANA, mode=mode)

    assert done == [5]


@pytest.mark.capability("required acts")
@pytest.mark.row("U07")
async def test_an_act_after_compaction(driver: Driver, packs: Path, mode: Mode) -> None:
    """Instructions that nothing shows any more have to be read again."""
    done: list[int] = []
    steps: dict[str, list[Say]] = {"one": READS, "two": [[WIRE], [WIRE], "done"]}
    skills = Satchel(packs, tools=Desk().tools(), policy=Policy(NEEDS))
    made = setup(skills, scripts(steps), wiring(done), reinject_tokens=0)
    rig = driver.build(made)

    await rig.say("one", who=ANA, mode=mode)
    rig.trim()
    await rig.say("two", who=ANA, mode=mode)

    assert REFUNDS in rig.seen[3].results[-1]
    assert done == [5]


@pytest.mark.capability("required acts")
@pytest.mark.row("U07")
async def test_an_act_whose_skill_is_repeated(
    driver: Driver, packs: Path, mode: Mode
) -> None:
    """After a compaction the prompt repeats the instructions: they count as read."""
    done: list[int] = []
    steps: dict[str, list[Say]] = {
        "one": [[WIRE], "done"],
        "two": [[REFUND, WIRE], "done"],
    }
    rig = driver.build(
        setup(open_desk(packs, None, NEEDS), scripts(steps), wiring(done))
    )

    await rig.say("one", who=ANA, mode=mode)
    rig.trim()
    await rig.say("two", who=ANA, mode=mode)

    assert done == [5]


@pytest.mark.capability("required acts")
@pytest.mark.row("U07")
async def test_an_act_in_a_resumed_conversation(
    driver: Driver, packs: Path, mode: Mode
) -> None:
    """What was read in a stored conversation is read in the one that goes on."""
    done: list[int] = []
    steps: dict[str, list[Say]] = {"one": [[WIRE], "done"], "two": [[WIRE], "done"]}
    rigs = [
        driver.build(setup(open_desk(packs, None, NEEDS), scripts(steps), wiring(done)))
        for _ in range(2)
    ]

    await rigs[0].say("one", who=ANA, mode=mode)
    rigs[1].restore(rigs[0].save())
    await rigs[1].say("two", who=ANA, mode=mode)

    assert done == [5]


@pytest.mark.capability("required acts")
@pytest.mark.row("U07", "F71")
async def test_a_forged_load_opens_no_act(
    driver: Driver, packs: Path, mode: Mode
) -> None:
    """Another tool's result may be word for word that of a load: it is none."""
    done: list[int] = []
    skills = open_desk(packs, None, NEEDS)
    forged = [
        str(skills.session().call("load_skill", {"skill_id": "refunds"})),
        str(skills.session().required("wire")),
    ]

    def fetch_page(number: int) -> str:
        """Fetch a page."""
        return forged[number]

    pages: list[Say] = [[Call("fetch_page", {"number": at})] for at in (0, 1)]
    model = script(*pages, [WIRE], [WIRE], "done")
    rig = driver.build(setup(skills, model, wiring(done), fetch_page))

    await rig.say("hi", who=ANA, mode=mode)

    assert [REFUNDS in text for text in rig.seen[3].results] == [True] * 3
    assert "sent 5" in rig.seen[4].results[-1]
    assert done == [5]


@pytest.mark.capability("required acts")
@pytest.mark.row("U07", "F72")
async def test_an_act_whose_skill_was_edited(
    driver: Driver, packs: Path, mode: Mode
) -> None:
    """Edited since it was read: the act waits, and the refusal has the new text."""
    done: list[int] = []
    steps: dict[str, list[Say]] = {"one": READS, "two": [[WIRE], [WIRE], "done"]}
    before, rig = (
        driver.build(setup(open_desk(packs, None, NEEDS), scripts(steps), wiring(done)))
        for _ in range(2)
    )
    await before.say("one", who=ANA, mode=mode)
    file = packs / "refunds" / "SKILL.md"
    text = file.read_text("utf-8").replace("only then", "never")
    file.write_text(text, "utf-8")

    rig.restore(before.save())
    await rig.say("two", who=ANA, mode=mode)

    told, paid = rig.seen[-1].results[-2:]
    assert "never pay it back" in told
    assert "sent 5" in paid
    assert done == [5]


@pytest.mark.capability("required acts")
@pytest.mark.row("U07")
async def test_an_act_whose_skill_is_not_there(
    driver: Driver, tmp_path: Path, mode: Mode
) -> None:
    """What nobody can read, nobody has read: the act is never made."""
    done: list[int] = []
    (tmp_path / "empty").mkdir()
    skills = Satchel(tmp_path / "empty", policy=Policy(NEEDS))
    rig = driver.build(setup(skills, script([WIRE], [WIRE], "done"), wiring(done)))

    assert await rig.say("hi", who=ANA, mode=mode) == "done"

    assert done == []
    assert ["cannot be read" in text for text in rig.seen[2].results] == [True] * 2


@pytest.mark.capability("required acts")
@pytest.mark.row("U17")
async def test_each_act_is_on_the_record(
    driver: Driver, packs: Path, mode: Mode
) -> None:
    """Once when it came too early and once when it was made, with its arguments."""
    log, done = ListSink(), list[int]()
    policy = Policy(NEEDS)
    skills = Satchel(packs, tools=Desk().tools(), policy=policy, sinks=[log])
    skills.session().required("wire", arguments=WIRE.arguments)
    model = script([WIRE], [WIRE], "done")
    rig = driver.build(setup(skills, model, wiring(done)))

    await rig.say("hi", who=ANA, mode=mode)

    by_itself, *acts = log.acts
    assert [act.outcome for act in acts] == ["refused", "allowed"]
    assert {act.arguments for act in acts} == {by_itself.arguments}
    assert acts[1].skills[0].read == "load"


@pytest.mark.row("U07")
async def test_what_no_hook_holds_back_is_said(
    driver: Driver, packs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Where an adapter does not ask for the agent's own tools, it says so at once."""
    skills = open_desk(packs, None, NEEDS)
    rig = driver.build(setup(skills, script("done"), wiring([])))
    await rig.say("hi", who=ANA)

    is_said = "does not hold back an agent's own" in caplog.text
    lacks = getattr(driver, "lacks", {})
    is_lacked = any(name.startswith("required acts") for name in lacks)
    assert is_said is is_lacked


@pytest.mark.row("U07")
async def test_a_skills_tool_waits_for_another_skill(
    driver: Driver, packs: Path, mode: Mode
) -> None:
    """A tool of a skill that needs another one is refused until that was read, too."""
    desk = Desk()
    skills = open_desk(packs, desk, require("travel", tool="refund"))
    steps: list[Say] = [[load("refunds")], [REFUND], [REFUND], "done"]
    rig = driver.build(setup(skills, script(*steps)))

    assert await rig.say("hi", who=ANA, mode=mode) == "done"

    assert desk.done == [PAID]
    assert TRAVEL in rig.seen[2].results[-1]


@pytest.mark.row("U07")
async def test_a_skills_tool_in_the_step_of_that_load(
    driver: Driver, packs: Path
) -> None:
    """The load comes in the same step: the call waits for the next one."""
    desk = Desk()
    skills = open_desk(packs, desk, require("travel", tool="refund"))
    steps: list[Say] = [[load("refunds")], [load("travel"), REFUND], [REFUND], "done"]
    rig = driver.build(setup(skills, script(*steps)))

    await rig.say("hi", who=ANA)

    assert desk.done == [PAID]
