"""Scripts of loaded skills: when they are offered, what runs, what a yes is for."""

import asyncio
import os
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Final, Unpack

import pytest

from satchel import Options, Policy, Satchel, allow, ask, deny
from satchel.model import (
    Descriptor,
    Job,
    Outcome,
    OutputFile,
    Question,
    Reply,
    ScriptOutput,
)
from satchel.runtime import Session, SessionOptions
from satchel.tools import result_text
from satchel.usage import ListSink
from satchel_scripts._needs import MissingNeeds

pytestmark = pytest.mark.row("U14", "E26")

SKILL: Final = (
    "---\nname: forms\ndescription: Fill in forms.\n---\nRun `scripts/fill.py`.\n"
)
FILL: Final = {"skill_id": "forms", "path": "scripts/fill.py"}
ALLOWED: Final = Policy(allow("forms", "script"))


@dataclass
class FakeRunner:
    """Notes what it is asked to run, and writes a file."""

    kind: str = "fake"
    jobs: list[Job] = field(default_factory=list[Job])
    before: Callable[[Job], object] = lambda _: None

    def run(self, job: Job) -> Outcome:
        self.jobs.append(job)
        self.before(job)
        file = OutputFile("out.pdf", "application/pdf", 1_234, "sha256:ab")
        return Outcome(
            ending="exit", exit_code=0, stdout="done\n", files=(file,), runner="fake"
        )


@pytest.fixture
def library(tmp_path: Path) -> Path:
    pack = tmp_path / "skills" / "forms"
    (pack / "scripts").mkdir(parents=True)
    (pack / "SKILL.md").write_text(SKILL)
    (pack / "scripts" / "fill.py").write_text("print('filled')\n")
    (pack / "fields.md").write_text("Fields.\n")
    return tmp_path / "skills"


def loaded(
    library: Path, policy: Policy = ALLOWED, **options: Unpack[SessionOptions]
) -> tuple[Session, FakeRunner]:
    """Return a session in which the skill is loaded, and its runner."""
    runner = FakeRunner()
    session = Satchel(library, policy=policy, runner=runner).session(**options)
    session.call("load_skill", {"skill_id": "forms"})
    return session, runner


def message(result: object) -> str:
    assert isinstance(result, dict)
    text = result["error"]["message"]
    assert isinstance(text, str)
    return text


def names(session: Session) -> list[str]:
    return [tool.name for tool in session.tools()]


def test_it_is_offered_once_a_skill_with_scripts_is_loaded(library: Path) -> None:
    session = Satchel(library, policy=ALLOWED, runner=FakeRunner()).session()

    assert "run_skill_script" not in names(session)
    session.call("load_skill", {"skill_id": "forms"})
    assert names(session)[-1] == "run_skill_script"


@pytest.mark.parametrize(
    ("policy", "is_offered"),
    [
        (Policy(), False),
        (Policy(deny("forms", "script")), False),
        (ALLOWED, True),
        (Policy(ask("forms", "script")), True),
    ],
    ids=["no rule", "deny", "allow", "ask"],
)
def test_the_policy_decides(library: Path, policy: Policy, *, is_offered: bool) -> None:
    session, runner = loaded(library, policy)

    assert ("run_skill_script" in names(session)) is is_offered
    result = session.call("run_skill_script", FILL)
    assert bool(runner.jobs) is (policy is ALLOWED)
    if not is_offered:
        assert (
            message(result) == "running a script of skill 'forms' is not allowed here"
        )


@pytest.mark.parametrize("in_a_turn", [False, True])
def test_a_skill_that_was_edited_is_loaded_again_first(
    library: Path, *, in_a_turn: bool
) -> None:
    """It may want another script now, or none; the record names what was read."""
    log = ListSink()
    skills = Satchel(library, policy=ALLOWED, runner=FakeRunner(), sinks=[log])
    session = skills.session()
    with session.turn() if in_a_turn else nullcontext():
        session.call("load_skill", {"skill_id": "forms"})
        with (library / "forms" / "SKILL.md").open("a", encoding="utf-8") as file:
            file.write("\nSTOP: never run it.\n")

        early = message(session.call("run_skill_script", FILL))
        assert early == (
            "run_skill_script: the skill 'forms' has changed since it was loaded: load "
            "it again"
        )
        assert "STOP" in str(session.call("load_skill", {"skill_id": "forms"}))
        assert isinstance(session.call("run_skill_script", FILL), ScriptOutput)

    [act] = log.acts
    assert act.skills[0].digest == log.events[-1].digest
    assert act.skills[0].read == "load"


def test_without_a_runner_there_is_no_such_tool(library: Path) -> None:
    session = Satchel(library, policy=ALLOWED).session()
    session.call("load_skill", {"skill_id": "forms"})

    assert "run_skill_script" not in names(session)
    assert "no such tool" in message(session.call("run_skill_script", FILL))


def test_a_skill_without_scripts_opens_nothing(library: Path) -> None:
    (library / "forms" / "scripts" / "fill.py").unlink()
    session, _ = loaded(library)

    assert "run_skill_script" not in names(session)


def test_what_a_model_reads_and_what_an_application_gets(library: Path) -> None:
    session, runner = loaded(library)

    result = session.call("run_skill_script", FILL)

    assert result == (
        "scripts/fill.py ended with status 0 after 0.0 s (fake).\n"
        "Files in the work folder:\n"
        "  out.pdf (application/pdf, 1,234 bytes, sha256:ab)\n"
        "stdout:\ndone"
    )
    assert isinstance(result, ScriptOutput)
    assert result.outcome.is_ok
    job = runner.jobs[0]
    assert (Path(job.pack) / job.path).read_text() == "print('filled')\n"
    assert job.digest.startswith("sha256-tree-v1:")


@pytest.mark.parametrize(
    ("written", "understood"),
    [
        ([], ()),
        (["a b", "--x", ""], ("a b", "--x", "")),
        ("form.pdf 'out file.pdf'", ("form.pdf", "out file.pdf")),
        (
            {"out": "f.pdf", "verbose": True, "dry": False},
            ("--out", "f.pdf", "--verbose"),
        ),
        ({"-n": 3, "page": [1, 2]}, ("-n", "3", "--page", "1", "2")),
        ([1, 2.5], ("1", "2.5")),
        (None, ()),
    ],
)
def test_arguments_as_models_write_them(
    library: Path, written: object, understood: tuple[str, ...]
) -> None:
    session, runner = loaded(library)

    session.call("run_skill_script", {**FILL, "args": written})

    assert runner.jobs[0].args == understood


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"args": [["nested"]]}, "args has to be a list of texts"),
        ({"args": 3}, "args has to be a list of texts"),
        ({"args": "'open"}, "No closing quotation; write a list"),
        ({"args": ["a\0b"]}, "no argument may have a zero byte"),
        ({"stdin": 3}, "argument 'stdin' has to be a text"),
        ({"path": "fields.md"}, "'fields.md' of the skill 'forms' is no script"),
        ({"path": "../../etc/passwd"}, ""),
        ({"path": "scripts/other.py"}, ""),
        ({"skill_id": "other"}, "load the skill 'other' first"),
        ({"shell": True}, "unknown argument 'shell'"),
    ],
)
def test_what_is_no_call_is_refused(
    library: Path, arguments: dict[str, object], said: str
) -> None:
    session, runner = loaded(library)

    assert said in message(session.call("run_skill_script", {**FILL, **arguments}))
    assert runner.jobs == []


def test_the_short_name_of_a_script_is_found(library: Path) -> None:
    session, runner = loaded(library)

    session.call("run_skill_script", {"skill_id": "forms", "path": "fill.py"})

    assert runner.jobs[0].path == "scripts/fill.py"


def test_a_person_sees_the_script_its_arguments_the_bytes_and_the_runner(
    library: Path,
) -> None:
    asked: list[Question] = []

    def approve(question: Question) -> bool:
        asked.append(question)
        return True

    policy = Policy(ask("forms", "script", reason="it writes files"))
    session, runner = loaded(library, policy, approve=approve)
    session.call("run_skill_script", {**FILL, "args": ["in.pdf"]})

    assert len(runner.jobs) == 1
    assert asked[0].action == "script"
    assert asked[0].arguments == {**FILL, "args": ["in.pdf"]}
    assert asked[0].reason == f"it writes files; {runner.jobs[0].digest}, with fake"


def test_a_yes_for_the_session_is_for_these_bytes_arguments_and_runner(
    library: Path,
) -> None:
    asked: list[str] = []

    def approve(question: Question) -> Reply:
        asked.append(question.identity)
        return Reply("yes_in_session")

    session, runner = loaded(library, Policy(ask("forms", "script")), approve=approve)
    call = {**FILL, "args": ["a"]}

    session.call("run_skill_script", call)
    session.call("run_skill_script", call)
    assert len(asked) == 1
    session.call("run_skill_script", {**FILL, "args": ["b"]})
    assert len(asked) == 2
    runner.kind = "other"
    session.call("run_skill_script", call)
    assert len(asked) == 3
    (library / "forms" / "scripts" / "fill.py").write_text("print('other')\n")
    session.call("run_skill_script", call)
    assert len(asked) == len(set(asked)) == 4
    assert len(runner.jobs) == 5


def test_a_person_may_edit_the_arguments(library: Path) -> None:
    edited = {**FILL, "args": ["safe.pdf"]}
    session, runner = loaded(
        library,
        Policy(ask("forms", "script")),
        approve=lambda _: Reply("yes_once", arguments=edited),
    )

    session.call("run_skill_script", {**FILL, "args": ["any.pdf"]})

    assert runner.jobs[0].args == ("safe.pdf",)


def test_a_yes_that_a_framework_kept_is_for_the_bytes_that_were_shown(
    library: Path,
) -> None:
    session, runner = loaded(library, Policy(ask("forms", "script")))
    question = session.question("run_skill_script", FILL, "call-1")
    assert question is not None

    (library / "forms" / "scripts" / "fill.py").write_text("print('other')\n")
    result = session.call("run_skill_script", FILL, approved=True, call_id="call-1")

    assert runner.jobs == []
    assert "have changed since" in message(result)
    session.question("run_skill_script", FILL, "call-2")
    session.call("run_skill_script", FILL, approved=True, call_id="call-2")
    assert len(runner.jobs) == 1
    session.call("run_skill_script", FILL, approved=True, call_id="call-2")
    assert len(runner.jobs) == 1


def test_an_edited_script_is_the_one_that_runs(library: Path) -> None:
    session, runner = loaded(library)
    session.call("run_skill_script", FILL)
    (library / "forms" / "scripts" / "fill.py").write_text("print('new')\n")

    session.call("run_skill_script", FILL)

    first, second = runner.jobs
    assert first.digest != second.digest
    assert (Path(second.pack) / second.path).read_text() == "print('new')\n"


def test_a_copy_that_something_wrote_to_is_made_again(library: Path) -> None:
    session, runner = loaded(library)
    session.call("run_skill_script", FILL)
    copy = Path(runner.jobs[0].pack) / "scripts" / "fill.py"
    copy.chmod(0o644)
    copy.write_text("print('planted')\n")

    session.call("run_skill_script", FILL)

    assert copy.read_text() == "print('filled')\n"


def test_work_is_the_folder_that_is_named(library: Path, tmp_path: Path) -> None:
    session, runner = loaded(library, work=tmp_path / "work" / "ana")

    session.call("run_skill_script", FILL)

    assert runner.jobs[0].work == str(tmp_path / "work" / "ana")


def test_a_private_work_folder_goes_on_with_the_conversation(library: Path) -> None:
    runner = FakeRunner(
        before=lambda job: Path(job.work).mkdir(parents=True, exist_ok=True)
    )
    with Satchel(library, policy=ALLOWED, runner=runner) as skills:
        session, other = skills.session(), skills.session()
        for each in (session, other):
            each.call("load_skill", {"skill_id": "forms"})
            each.call("run_skill_script", FILL)
        skills.session(resume=session.dump()).call("run_skill_script", FILL)

    first, second, resumed = (job.work for job in runner.jobs)
    assert first == resumed != second
    assert not Path(first).exists()


def test_a_runner_that_raises_is_an_error_for_the_model(library: Path) -> None:
    def fail(_: Job) -> None:
        raise OSError("/secret/path")

    session, runner = loaded(library)
    runner.before = fail

    text = message(session.call("run_skill_script", FILL))

    assert text == "run_skill_script failed: OSError"


def test_a_cancelled_call_cancels_its_job(library: Path) -> None:
    session, runner = loaded(library)
    begun, ended = Event(), Event()

    def wait(job: Job) -> None:
        begun.set()
        assert job.cancelled.wait(60)
        ended.set()

    runner.before = wait

    async def cancel() -> None:
        call = asyncio.create_task(session.acall("run_skill_script", FILL))
        await asyncio.to_thread(begun.wait, 60)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.to_thread(ended.wait, 60)

    asyncio.run(cancel())
    assert ended.is_set()


def test_a_result_that_is_cut_keeps_its_outcome(library: Path) -> None:
    runner = FakeRunner()
    skills = Satchel(
        library,
        policy=ALLOWED,
        runner=runner,
        options=Options(max_result_tokens=20),
    )
    session = skills.session()
    session.call("load_skill", {"skill_id": "forms"})

    result = session.call("run_skill_script", FILL)

    assert isinstance(result, ScriptOutput)
    assert len(result) < 300
    assert result.outcome.is_ok


def test_a_work_folder_of_a_session_is_not_empty(library: Path) -> None:
    """An unset variable must not give scripts all that is in the current folder."""
    with pytest.raises(TypeError, match="name a folder or leave it out"):
        Satchel(library).session(work="")


def test_a_work_folder_that_cannot_be_made_is_a_reason(
    library: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("x")
    session, runner = loaded(library, work=tmp_path / "file")

    result = message(session.call("run_skill_script", FILL))
    assert result == "run_skill_script: the work folder cannot be used: File exists"
    assert runner.jobs == []


def test_a_work_folder_of_a_session_is_no_function(library: Path) -> None:
    with pytest.raises(TypeError, match="is for attach"):
        Satchel(library).session(work=lambda _: "x")


@dataclass
class LackingRunner(FakeRunner):
    """Says that its interpreter lacks what every script needs."""

    def missing(
        self, entry: Descriptor, read: Callable[[str], bytes]
    ) -> MissingNeeds | None:
        assert entry.id == "forms"
        assert read("scripts/fill.py") == b"print('filled')\n"
        return MissingNeeds(("pypdf>=4",), "/opt/python")


def test_what_a_script_needs_is_said_as_its_skill_is_loaded(
    library: Path, caplog: pytest.LogCaptureFixture
) -> None:
    skills = Satchel(library, policy=ALLOWED, runner=LackingRunner())

    for _ in range(2):
        text = skills.session().call("load_skill", {"skill_id": "forms"})
        assert "need pypdf>=4, which is not there" in str(text)

    [record] = caplog.records
    assert record.message == (
        "the scripts of the skill 'forms' need what is not there: "
        "/opt/python -m pip install 'pypdf>=4'"
    )


def test_a_script_that_needs_thousands_of_names_floods_no_model(
    library: Path,
) -> None:
    class Greedy(FakeRunner):
        def missing(self, *_: object) -> MissingNeeds:
            names = tuple(f"n{number}" for number in range(5_000))
            return MissingNeeds(names, "python", ("p" * 60_000,))

    skills = Satchel(library, policy=ALLOWED, runner=Greedy())

    text = str(skills.session().call("load_skill", {"skill_id": "forms"}))

    assert "need n0, n1, " in text
    assert "n9 and 4,991 more, which is not there" in text
    assert len(text) < 1_000


def test_no_file_is_touched_for_a_script_that_is_denied(library: Path) -> None:
    session, _ = loaded(library, Policy(deny("forms", "script")))
    (library / "forms" / "scripts" / "fill.py").unlink()

    assert "not allowed here" in message(session.call("run_skill_script", FILL))


def test_no_two_calls_have_one_identity(library: Path) -> None:
    asked: list[str] = []

    def approve(question: Question) -> Reply:
        asked.append(question.identity)
        return Reply("yes_in_session")

    session, runner = loaded(library, Policy(ask("forms", "script")), approve=approve)
    for more in (
        {"stdin": "a\0b"},
        {"args": ["a"], "stdin": "b"},
        {"args": ["a", "b"]},
        {"args": ["\ud800"]},
        {"args": ["?"]},
    ):
        session.call("run_skill_script", {**FILL, **more})

    assert len({*asked}) == len(runner.jobs) == 5


@pytest.mark.parametrize("work", ["../../etc", "/etc", "a" * 31, "A" * 32, "x/" * 16])
def test_a_state_names_no_folder(library: Path, work: str) -> None:
    """It may come from anywhere: an API that takes changes, a browser."""
    runner = FakeRunner()
    skills = Satchel(library, policy=ALLOWED, runner=runner)
    session = skills.session(resume={"work": work})
    session.call("load_skill", {"skill_id": "forms"})

    session.call("run_skill_script", FILL)

    name = Path(runner.jobs[0].work).name
    assert name != work
    assert len(name) == 32


def test_a_process_that_is_forked_off_removes_no_work(library: Path) -> None:
    runner = FakeRunner(before=lambda job: Path(job.work).mkdir(exist_ok=True))
    skills = Satchel(library, policy=ALLOWED, runner=runner)
    session = skills.session()
    session.call("load_skill", {"skill_id": "forms"})
    session.call("run_skill_script", FILL)
    child = os.fork()
    if child == 0:
        skills.close()
        os._exit(0)
    os.waitpid(child, 0)

    assert Path(runner.jobs[0].work).is_dir()
    skills.close()
    assert not Path(runner.jobs[0].work).exists()


def test_what_a_model_reads_is_plain_text(library: Path) -> None:
    """Stores of frameworks take no text of another class."""
    session, _ = loaded(library)

    assert type(result_text(session.call("run_skill_script", FILL))) is str
