"""What every adapter does with scripts of skills, and with acts that need a skill.

As in `tests.adapters.test_contract`, one test is one row of docs/reference/adapters.md.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from satchel import Satchel
from satchel.model import Job, Outcome, OutputFile
from satchel.policy import Policy, allow, ask, require
from satchel.protocols import Runner
from satchel.usage import ListSink
from satchel_scripts import Subprocess
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
    transfer,
    wiring,
)
from tests.adapters.driver import Call, Driver, Mode, Paused, Rig, Say, Seen

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


def forms_with(runner: Runner, folder: Path, *rules: Any, code: str = FILL) -> Satchel:
    """Return a library in ``skills``, whose one skill has a script."""
    pack = folder / "skills" / "forms"
    (pack / "scripts").mkdir(parents=True, exist_ok=True)
    (pack / "SKILL.md").write_text(SKILL, "utf-8")
    (pack / "scripts" / "fill.py").write_text(code, "utf-8")
    return Satchel(pack.parent, policy=Policy(*rules), runner=runner)


def work_of(folder: Path, user: str = "ana") -> Path:
    """Return the folder of a user, with the form in it."""
    work = folder / "work" / user
    work.mkdir(parents=True, exist_ok=True)
    (work / "form.txt").write_text("NAME\n", "utf-8")
    return work


@dataclass
class Forms:
    """A library with one skill that runs a script, and a folder for each user."""

    folder: Path
    runner: PlainRunner = field(default_factory=PlainRunner)

    def work(self, who: Mapping[str, Any]) -> Path:
        return work_of(self.folder, who.get("user", "nobody"))

    def rig(
        self,
        driver: Driver,
        *rules: Any,
        steps: list[Say] = STEPS,
        code: str = FILL,
        runner: Runner | None = None,
    ) -> Rig:
        """Return an agent; ``code`` is the script of its skill."""
        skills = forms_with(runner or self.runner, self.folder, *rules, code=code)
        return driver.build(setup(skills, script(*steps), work=self.work))

    def filled_of(self, user: str) -> list[str]:
        files = (self.folder / "work" / user).glob("filled*")
        return [path.read_text("utf-8") for path in sorted(files)]

    @property
    def filled(self) -> list[str]:
        return self.filled_of("ana")


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
    rig = forms.rig(driver, allow("forms", "script"))
    users = ("ben", "eva")

    await asyncio.gather(
        *(rig.say("hi", chat=name, who={**ANA, "user": name}) for name in users)
    )

    assert [forms.filled_of(name) for name in users] == [["Ana Simpson\n"]] * 2


@pytest.mark.row("U14")
async def test_a_script_in_a_resumed_conversation(
    driver: Driver, forms: Forms, mode: Mode
) -> None:
    """What was loaded in a stored conversation runs in the one that goes on."""
    rule = allow("forms", "script")
    before = forms.rig(driver, rule, steps=STEPS[:1])
    await before.say("one", who=ANA, mode=mode)
    after = forms.rig(driver, rule, steps=STEPS[1:])

    after.restore(before.save())
    await after.say("two", who=ANA, mode=mode)

    assert forms.filled == ["Ana Simpson\n"]


@pytest.mark.row("U14")
async def test_a_script_that_takes_too_long(
    driver: Driver, forms: Forms, mode: Mode
) -> None:
    """It is ended; the model is told so, and the run goes on."""
    code, runner = "import time\ntime.sleep(60)\n", Subprocess(timeout_s=0.5)
    rule = allow("forms", "script")
    rig = forms.rig(driver, rule, code=code, runner=runner)

    assert await rig.say("hi", who=ANA, mode=mode) == "done"

    assert "scripts/fill.py was ended, time-out" in rig.seen[-1].results[-1]


@pytest.mark.row("U14")
async def test_a_script_that_prints_much(driver: Driver, forms: Forms) -> None:
    """The model gets the end of it."""
    code = "print('x' * 3_000_000)\nprint('END-8841')\n"
    rig = forms.rig(driver, allow("forms", "script"), code=code, runner=Subprocess())

    assert await rig.say("hi", who=ANA) == "done"

    text = rig.seen[-1].results[-1]
    assert len(text) < 100_000
    assert "END-8841" in text


@pytest.mark.row("U14")
async def test_what_a_script_lacks(driver: Driver, forms: Forms) -> None:
    """It is said when the skill is loaded, before anything has run."""
    code, rule = "import reportlab8841\n", allow("forms", "script")
    rig = forms.rig(driver, rule, code=code, runner=Subprocess())

    await rig.say("hi", who=ANA)

    loaded, ran = rig.seen[-1].results[-2:]
    assert "reportlab8841" in loaded
    assert "No module named 'reportlab8841'" in ran


@pytest.mark.capability("cancelled tools")
@pytest.mark.row("U14")
async def test_a_cancelled_run_ends_its_script(driver: Driver, forms: Forms) -> None:
    """Nobody waits for it any more: its process ends."""
    note = forms.folder / "process"
    code = f"""import os, pathlib, time
pathlib.Path({str(note)!r}).write_text(str(os.getpid()))
time.sleep(60)
"""
    rule = allow("forms", "script")
    rig = forms.rig(driver, rule, code=code, runner=Subprocess())

    run = asyncio.create_task(rig.say("hi", who=ANA))
    try:
        await _until(lambda: note.exists() and bool(note.read_text("utf-8")))
        run.cancel()
        await asyncio.wait([run], timeout=10)
        process = int(note.read_text("utf-8"))
        await _until(lambda: not _is_there(process))
    finally:
        if note.exists() and _is_there(process := int(note.read_text("utf-8"))):
            os.kill(process, 9)
            raise AssertionError("the script goes on")


async def _until(holds: Callable[[], bool]) -> None:
    """Wait until something holds, for some ten seconds at most."""
    for _ in range(500):
        if holds():
            return
        await asyncio.sleep(0.02)


def _is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


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
@pytest.mark.row("U07")
async def test_an_act_after_a_quoted_skill(
    driver: Driver, packs: Path, mode: Mode
) -> None:
    """A user may write anything: what a message of theirs quotes was not loaded."""
    done: list[int] = []
    skills = open_desk(packs, None, NEEDS)
    quoted = str(skills.session().call("load_skill", {"skill_id": "refunds"}))
    model = script([WIRE], [WIRE], "done")
    rig = driver.build(setup(skills, model, wiring(done)))

    await rig.say(quoted, who=ANA, mode=mode)

    assert REFUNDS in rig.seen[1].results[-1]
    assert done == [5]


@pytest.mark.capability("required acts")
@pytest.mark.row("U07")
async def test_an_act_under_another_name(
    driver: Driver, packs: Path, mode: Mode
) -> None:
    """The name of a server before that of the tool makes it no other tool."""
    done: list[int] = []
    wire = wiring(done)
    wire.__name__ = "mcp__bank__wire"
    call = Call("mcp__bank__wire", WIRE.arguments)
    skills = open_desk(packs, None, NEEDS)
    rig = driver.build(setup(skills, script([call], [call], "done"), wire))

    await rig.say("hi", who=ANA, mode=mode)

    assert REFUNDS in rig.seen[1].results[-1]
    assert done == [5]


@pytest.mark.capability("required acts")
@pytest.mark.row("U07")
async def test_an_act_after_a_hand_over(
    driver: Driver, packs: Path, mode: Mode
) -> None:
    """Who takes over has read what its own messages show, and acts on nothing else."""
    for is_read in (False, True):
        done: list[int] = []
        skills = open_desk(packs, None, NEEDS)
        first = partial(_hands_over, is_read=is_read)
        rig = driver.build_pair(
            setup(skills, first, base="First desk."),
            setup(skills, _takes_over, wiring(done), base="Second desk."),
        )
        await rig.say("hi", who=ANA, mode=mode)

        theirs = [seen for seen in rig.seen if "Second desk." in seen.system]
        shown = [REFUNDS in "".join([seen.system, *seen.results]) for seen in theirs]
        assert done == [5]
        assert shown[-2]
        assert len(theirs) == 3 or (len(theirs) == 2 and shown[0])


def _hands_over(seen: Seen, *, is_read: bool) -> Say:
    if is_read and REFUNDS not in "".join(seen.results):
        return [load("refunds")]
    return [transfer(seen)] if seen.since_user == is_read else "handed over"


def _takes_over(seen: Seen) -> Say:
    return "over" if "sent 5" in "".join(seen.results) else [WIRE]


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
