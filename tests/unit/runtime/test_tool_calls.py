"""A tool call of a model: who is asked, what they read, and what is done."""

import asyncio
import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast, get_args

import pytest

from satchel import Options, Satchel, Skill
from satchel.model import ApprovalAnswer, Question, Reply, Style
from satchel.policy import Policy, PolicyRule, ask, deny
from satchel.protocols import Approval
from satchel.runtime import Session
from satchel.text import EstimateCounter
from satchel.tools import Tool
from tests.fakes import FakeSource, in_threads, pack

TILL_TOOLS = "metadata: {tools: report}\n---\n#"
PAY: dict[str, object] = {"order": "A-1", "cents": 995}
SCHEMA: Any = {
    "type": "object",
    "properties": {"order": {"type": "string"}, "cents": {"type": "integer"}},
    "required": ["order", "cents"],
}


class Till:
    """Pays, and keeps what it paid."""

    def __init__(self) -> None:
        self.paid: list[dict[str, object]] = []
        self._lock = threading.Lock()

    def pay(self, **arguments: object) -> str:
        with self._lock:
            self.paid.append(arguments)
        return f"paid {arguments['cents']}"


class Person:
    """Answers the same, and keeps the questions."""

    def __init__(self, answer: Approval | Callable[[Question], Approval]) -> None:
        self.answer = answer
        self.questions: list[Question] = []

    def __call__(self, question: Question) -> Approval:
        self.questions.append(question)
        return self.answer(question) if callable(self.answer) else self.answer


def open_till(
    till: Till,
    *rules: PolicyRule,
    environ: dict[str, str] | None = None,
    **options: Any,  # noqa: ANN401 - of a session
) -> Session:
    skill = Skill(
        "till",
        instructions="Count twice.",
        description="Use to pay.",
        tools=[Tool("pay", "Pay.", SCHEMA, till.pay)],
    )
    skills = Satchel(
        FakeSource("s", {"wages": {"SKILL.md": pack("wages")}}),
        skill,
        policy=Policy(*rules or (ask("till", tool="pay"),)),
        options=Options(environ=environ),
    )
    return skills.session(always=["till"], **options)


def run(session: Session, how: str, count: int, *calls: dict[str, object]) -> list[Any]:
    """Make each of the calls ``count`` times at once."""
    wanted = [call for call in calls for _ in range(count)]
    if how == "tasks":

        async def main() -> list[object]:
            return await asyncio.gather(*(session.acall("pay", c) for c in wanted))

        return asyncio.run(main())
    results: list[object] = []
    in_threads(lambda call: results.append(session.call("pay", call)), wanted)
    return results


def code(result: Any) -> str:  # noqa: ANN401 - any result
    return result["error"]["code"] if isinstance(result, dict) else "done"


@pytest.mark.row("E25", "F20", "T08")
@pytest.mark.parametrize("how", ["tasks", "threads"])
@pytest.mark.parametrize("yeses", [0, 1, 3, 5])
def test_equal_calls_at_once_are_paid_as_often_as_somebody_said_yes(
    how: str, yeses: int
) -> None:
    """But for a yes for the session, which is for other arguments too."""
    answers = iter([True] * yeses + [False] * 5)
    till, person = Till(), Person(lambda _: next(answers))
    session = open_till(till, approve=person)

    results = run(session, how, 5, PAY)
    person.answer = "yes_in_session"
    run(session, how, 3, PAY)
    run(session, how, 1, {"order": "B-2", "cents": 5})

    assert len(till.paid) == yeses + 4
    assert len(person.questions) == 6
    assert sorted(map(code, results)) == (
        ["approval-declined"] * (5 - yeses) + ["done"] * yeses
    )


@pytest.mark.row("T08", "F24")
@pytest.mark.parametrize("how", ["approve", "framework"])
@pytest.mark.parametrize("name", ["pay", "load_skill"])
def test_the_model_reads_the_words_of_a_no(how: str, name: str) -> None:
    till, no = Till(), Reply("no", "Not before Friday.")
    person = Person(no) if how == "approve" else None
    session = open_till(till, ask("*"), approve=person)
    arguments = PAY if name == "pay" else {"skill_id": "wages"}
    given = None if person else no

    results = [
        session.call(name, arguments, approved=given),
        asyncio.run(session.acall(name, arguments, approved=given)),
        session.permit(name, arguments, approved=given).refusal,
        asyncio.run(session.apermit(name, arguments, approved=given)).refusal,
    ]

    assert all("The user says: Not before Friday." in str(each) for each in results)
    assert till.paid == []


@pytest.mark.row("T08")
def test_the_golden_of_a_declined_load_stays_and_the_words_follow() -> None:
    session = open_till(Till(), ask("wages"), style="agent-skills")
    arguments = {"skill_id": "wages"}

    plain = session.call("load_skill", arguments, approved=False)
    worded = session.call("load_skill", arguments, approved=Reply("no", "<b>No.</b>"))

    golden = (
        '    User declined HITL approval for skill "wages". '
        "Skill instructions were not loaded.\n"
    )
    assert golden in str(plain)
    assert worded == f"{plain}\nThe user says: &lt;b&gt;No.&lt;/b&gt;"


@pytest.mark.row("T08", "F24")
@pytest.mark.parametrize("how", ["approve", "framework"])
@pytest.mark.parametrize("answer", ["yes_once", "yes_in_session"])
def test_edited_arguments_are_those_that_are_used(
    how: str, answer: ApprovalAnswer
) -> None:
    till, less = Till(), Reply(answer, arguments={"order": "A-1", "cents": 1})
    person = Person(less) if how == "approve" else None
    session = open_till(till, approve=person)
    given = None if person else less

    assert session.call("pay", PAY, approved=given) == "paid 1"
    session.revoke()
    assert asyncio.run(session.acall("pay", PAY, approved=given)) == "paid 1"
    session.revoke()
    permit = session.permit("pay", PAY, approved=given)

    assert (permit.refusal, permit.arguments["cents"]) == (None, 1)
    assert permit.is_edited


@pytest.mark.row("T08")
def test_nobody_is_asked_about_a_call_that_cannot_be_made() -> None:
    till, person = Till(), Person(True)
    session = open_till(till, approve=person)

    for arguments in ({}, {"order": 5, "cents": 5}, {**PAY, "extra": 1}, "[]", "{"):
        result = session.call("pay", arguments)
        assert code(result) == "bad-tool-call"
        assert code(asyncio.run(session.acall("pay", arguments))) == "bad-tool-call"
        assert session.question("pay", arguments) is None

    assert person.questions == []

    edited = Reply("yes_once", arguments={"order": "A-1"})
    assert code(session.call("pay", PAY, approved=edited)) == "bad-tool-call"
    assert till.paid == []


@pytest.mark.row("T08", "F20")
def test_a_tool_of_a_framework_checks_its_own_arguments() -> None:
    """Its schema is its own: it is asked about whatever the arguments are."""
    schema: Any = {"type": "object", "properties": {}}
    native = Tool("pay", "Pay.", schema, lambda: "paid", native=object())
    skill = Skill("till", instructions="x", description="Use.", tools=[native])
    skills = Satchel(skill, policy=Policy(ask("till")))
    session = skills.session(always=["till"])

    assert session.question("pay", PAY) is not None
    assert code(session.permit("pay", PAY).refusal) == "approval-required"
    assert session.permit("pay", PAY, approved=True).arguments == PAY


@pytest.mark.row("T08")
@pytest.mark.parametrize("style", get_args(Style))
def test_a_no_of_a_framework_holds_for_every_tool(style: Style) -> None:
    """Where the policy asks nobody, too: somebody else did."""
    session = open_till(Till(), deny("nothing"), style=style)
    arguments = {"skill_id": "wages", "name": "wages", "skill_name": "wages"}

    for tool in session.tools():
        wanted: dict[str, object] = dict(PAY) if tool.name == "pay" else {}
        required = cast("list[str]", tool.parameters["required"])
        for key in required if tool.name != "pay" else ():
            wanted[key] = arguments.get(key, "x")
        no = Reply("no", "Not now.")
        called = session.call(tool.name, wanted, approved=no)

        assert "declined" in str(called)
        assert "Not now." in str(called)
        assert session.permit(tool.name, wanted, approved=no).refusal == called


@pytest.mark.row("T08")
def test_there_is_no_question_where_nobody_has_to_be_asked() -> None:
    session = open_till(Till(), deny("wages"), ask("till", tool="pay"))

    assert session.question("pay", PAY) is not None
    session.call("pay", PAY, approved="yes_in_session")
    for name, arguments in (
        ("pay", PAY),  # granted
        ("load_skill", {"skill_id": "wages"}),  # denied
        ("load_skill", {"skill_id": "nope"}),
        ("nothing", {}),
        (["pay"], PAY),
    ):
        assert session.question(name, arguments) is None  # type: ignore[arg-type]

    # Where one call is a read and a load, a yes is for what the person read.
    session = open_till(Till(), ask("wages"))
    both = {"skill_id": "wages", "path": "SKILL.md"}
    text = session.call("read_skill_file", both, approved="yes_in_session")
    assert "# Do" in str(text)
    assert session.decide("load_skill", {"skill_id": "wages"}).verdict == "ask"


@pytest.mark.row("T08", "U02", "F65")
@pytest.mark.parametrize(
    "path",
    ["./SKILL.md", "skill.md", "wages/SKILL.md#do", "`SKILL.md`", "a/../SKILL.md"],
)
def test_a_load_is_asked_about_however_it_is_written(path: str) -> None:
    session = open_till(Till(), ask("wages", action="load"))
    arguments = {"skill_id": "wages", "path": path}

    asked = session.question("read_skill_file", arguments)

    assert asked is not None
    assert asked.action == "load"
    assert "# Do" not in str(session.call("read_skill_file", arguments))


@pytest.mark.row("F29")
def test_arguments_may_be_json_text() -> None:
    till = Till()
    session = open_till(till, deny("nothing"))

    assert session.call("pay", json.dumps(PAY)) == "paid 995"
    assert asyncio.run(session.acall("pay", json.dumps(PAY))) == "paid 995"
    assert session.question("pay", json.dumps(PAY)) is None
    assert "wages" in str(session.call("load_skill", '{"skill_id": "wages"}'))
    for text in ("{", "5", "null", '"a"', "[" * 100_000):
        assert code(session.call("pay", text)) == "bad-tool-call"


@pytest.mark.row("F22", "F29")
@pytest.mark.parametrize("name", [["pay"], None, 5, {"a": 1}, "", "closed", "wages"])
def test_a_name_that_is_no_tool_is_an_answer(name: Any) -> None:  # noqa: ANN401 - any JSON
    session = open_till(Till())

    results = [
        session.call(name, {}),
        asyncio.run(session.acall(name, {})),
        session.permit(name, {}).refusal,
        asyncio.run(session.apermit(name, {})).refusal,
    ]

    assert [code(each) for each in results] == ["bad-tool-call"] * 4
    assert session.decide(name, {}).verdict == "allow"


class TestAnApprovalThatIsHandedOverTwice:
    """By a framework that resumes a paused run twice, or again after a crash."""

    @pytest.mark.row("F20", "F22", "T08")
    @pytest.mark.parametrize("answer", [True, "yes_once", Reply("yes_once")])
    def test_it_counts_once_for_one_id(self, answer: Any) -> None:  # noqa: ANN401
        till = Till()
        session = open_till(till)

        first = session.call("pay", PAY, approved=answer, call_id="c1")
        again = session.call("pay", PAY, approved=answer, call_id="c1")
        later = asyncio.run(session.acall("pay", PAY, approved=answer, call_id="c1"))
        permit = session.permit("pay", PAY, approved=answer, call_id="c1")
        other = session.call("pay", PAY, approved=answer, call_id="c2")

        assert (first, other) == ("paid 995", "paid 995")
        assert [code(each) for each in (again, later, permit.refusal)] == [
            "approval-used"
        ] * 3
        assert len(till.paid) == 2

    @pytest.mark.row("F20", "F22", "T08")
    def test_on_another_agent_object_and_at_the_same_time_too(self) -> None:
        till = Till()
        sessions = [open_till(till) for _ in range(8)]
        begin, results = threading.Barrier(8), list[object]()

        def work(session: Session) -> None:
            begin.wait(30)
            results.append(session.call("pay", PAY, approved=True, call_id="c1"))

        in_threads(work, sessions)

        assert sorted(map(code, results)) == ["approval-used"] * 7 + ["done"]
        assert len(till.paid) == 1

    @pytest.mark.row("F22", "T08")
    def test_the_state_tells_too_where_nothing_else_is_shared(self) -> None:
        till = Till()
        session = open_till(till, environ={"SATCHEL_APPROVALS": "memory"})
        session.call("pay", PAY, approved=True, call_id="c1")

        elsewhere = open_till(
            till, environ={"SATCHEL_APPROVALS": "memory"}, resume=session.dump()
        )

        again = elsewhere.call("pay", PAY, approved=True, call_id="c1")
        assert (code(again), len(till.paid)) == ("approval-used", 1)

    @pytest.mark.row("T08")
    def test_what_nobody_had_to_approve_or_holds_longer_is_not_counted(self) -> None:
        till = Till()
        free = open_till(till, deny("nothing"))
        session = open_till(till)

        for each in (free, session):
            for _ in range(2):
                each.call("pay", PAY, approved="yes_in_session", call_id="c1")
        loads = [
            open_till(till, ask("wages")).call(
                "load_skill", {"skill_id": "wages"}, approved=True, call_id="c2"
            )
            for _ in range(2)
        ]

        assert len(till.paid) == 4
        assert all("# Do" in str(each) for each in loads)

    @pytest.mark.row("T08")
    def test_where_it_cannot_be_noted_the_call_is_not_made(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        (tmp_path / "file").write_text("x")
        till = Till()
        session = open_till(
            till, environ={"SATCHEL_APPROVALS": str(tmp_path / "file" / "used")}
        )

        result = session.call("pay", PAY, approved=True, call_id="c1")

        assert (code(result), till.paid) == ("approval-required", [])
        assert "cannot be noted" in caplog.text

    @pytest.mark.slow
    @pytest.mark.row("F22", "T08")
    @pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
    def test_kill_9_after_the_effect_and_before_the_state_is_saved(
        self, tmp_path: Path
    ) -> None:
        """The same yes does not pay again; a second one does."""
        program = tmp_path / "desk.py"
        program.write_text(DESK)
        ledger = tmp_path / "paid"

        def resume(call_id: str, *, die: bool) -> str:
            done = subprocess.run(
                [sys.executable, program, ledger, call_id, str(die)],
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
            )
            assert done.returncode == (-9 if die else 0), done.stderr
            return done.stdout

        resume("c1", die=True)
        again = resume("c1", die=False)
        asked_again = resume("c2", die=False)

        assert "approval-used" in again
        assert "paid" in asked_again
        assert ledger.read_text() == "paid\npaid\n"


DESK = """
import os, signal, sys
from pathlib import Path
from satchel import Satchel, Skill
from satchel.policy import Policy, ask
from satchel.text import EstimateCounter
from satchel.tools import Tool

ledger, call_id, die = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "True"

def pay():
    with ledger.open("a") as file:
        file.write("paid\\n")
    if die:
        os.kill(os.getpid(), signal.SIGKILL)
    return "paid"

tool = Tool("pay", "Pay.", {"type": "object", "properties": {}}, pay)
till = Skill("till", instructions="Pay.", description="Use to pay.", tools=[tool])
session = Satchel(till, policy=Policy(ask("till"))).session(always=["till"])
print(session.call("pay", {}, approved=True, call_id=call_id))
"""


@pytest.mark.row("U03", "F67")
@pytest.mark.parametrize(
    "result",
    [
        "x" * 5_000_000,
        {"rows": ["y" * 99] * 20_000},
        ["z " * 500] * 900,
        iter("ab" * 9_000),
    ],
    ids=["text", "object", "list", "iterator"],
)
def test_a_result_over_the_bound_is_cut_and_says_so(result: object) -> None:
    packs: Any = {"till": {"SKILL.md": pack("till").replace("---\n#", TILL_TOOLS)}}
    schema: Any = {"type": "object", "properties": {}}
    report = Tool("report", "All.", schema, lambda: result)
    skills = Satchel(
        FakeSource("s", packs),
        tools=[report],
        options=Options(max_result_tokens=1_000),
    )
    session = skills.session()
    session.call("load_skill", {"skill_id": "till"})

    text = str(session.call("report", {}))
    tool = session.tools().get("report")

    line, _, rest = text.partition("\n\n")
    assert re.fullmatch(
        r"The result of report is [0-9,]+ tokens long\. This is its beginning, of "
        r"1,000; ask for less to see the rest\.",
        line,
    )
    assert EstimateCounter().count(rest) <= 1_000
    assert EstimateCounter().count(rest) > 400
    assert tool is not None
    assert str(asyncio.run(tool.acall({})))[:20] == text[:20]


@pytest.mark.row("U03")
@pytest.mark.parametrize(
    ("result", "most"),
    [
        ("x" * 4_000, 1_000),
        ({"rows": 5}, 1_000),
        ([{"type": "image", "data": "x" * 9_000}], 1_000),
        ("x" * 200_000, None),
    ],
)
def test_a_result_within_the_bound_or_a_providers_own_is_as_it_is(
    result: object, most: int | None
) -> None:
    packs: Any = {"till": {"SKILL.md": pack("till").replace("---\n#", TILL_TOOLS)}}
    schema: Any = {"type": "object", "properties": {}}
    skills = Satchel(
        FakeSource("s", packs),
        tools=[Tool("report", "All.", schema, lambda: result)],
        options=Options(max_result_tokens=most),
    )
    session = skills.session()
    session.call("load_skill", {"skill_id": "till"})

    assert session.call("report", {}) == result
