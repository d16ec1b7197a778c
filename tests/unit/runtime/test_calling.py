"""A tool call of a model: who is asked, what they read, and what is done."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from satchel import Satchel, Skill
from satchel.model import Question, Reply
from satchel.policy import Policy, ask, deny
from satchel.session import question_text
from satchel.tools import Tool
from tests.fakes import FakeSource, pack

if TYPE_CHECKING:
    from collections.abc import Callable

    from satchel.model import Answer
    from satchel.policy import Rule
    from satchel.protocols import Approval, Approver
    from satchel.runtime.session import Session

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
    till: Till, *rules: Rule, approve: Approver | None = None, agent: str = ""
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
    )
    return skills.session(always=["till"], approve=approve, agent=agent)


def run(session: Session, how: str, count: int, *calls: dict[str, object]) -> list[Any]:
    """Make each of the calls ``count`` times at once."""
    wanted = [call for call in calls for _ in range(count)]
    if how == "tasks":

        async def main() -> list[object]:
            return await asyncio.gather(*(session.acall("pay", c) for c in wanted))

        return asyncio.run(main())
    results: list[object] = []
    threads = [
        threading.Thread(target=lambda c=c: results.append(session.call("pay", c)))
        for c in wanted
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def code(result: Any) -> str:  # noqa: ANN401 - any result
    return result["error"]["code"] if isinstance(result, dict) else "done"


@pytest.mark.row("F20", "T08")
@pytest.mark.parametrize("how", ["tasks", "threads"])
@pytest.mark.parametrize("yeses", [0, 1, 3, 5])
def test_equal_calls_at_once_are_paid_as_often_as_somebody_said_yes(
    how: str, yeses: int
) -> None:
    answers = iter([True] * yeses + [False] * 5)
    till, person = Till(), Person(lambda _: next(answers))
    session = open_till(till, approve=person)

    results = run(session, how, 5, PAY)

    assert len(till.paid) == yeses
    assert len(person.questions) == 5
    assert sorted(map(code, results)) == (
        ["approval-declined"] * (5 - yeses) + ["done"] * yeses
    )


@pytest.mark.row("T08", "E25")
@pytest.mark.parametrize("how", ["tasks", "threads"])
def test_a_yes_for_the_session_is_what_it_says(how: str) -> None:
    till, person = Till(), Person("yes_in_session")
    session = open_till(till, approve=person)

    run(session, how, 5, PAY)
    run(session, how, 1, {"order": "B-2", "cents": 5})

    assert (len(till.paid), len(person.questions)) == (6, 1)


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
        *([session.refusal(name, arguments, approved=given)] if name == "pay" else []),
    ]

    assert all("The user says: Not before Friday." in str(each) for each in results)
    assert till.paid == []


@pytest.mark.row("T08")
def test_the_golden_of_a_declined_load_stays_and_the_words_follow() -> None:
    session = open_till(Till(), ask("wages"))
    arguments = {"skill_id": "wages"}

    plain = session.call("load_skill", arguments, approved=False)
    worded = session.call("load_skill", arguments, approved=Reply("no", "<b>No.</b>"))

    golden = (
        '    User declined HITL approval for skill "wages". '
        "Skill instructions were not loaded.\n"
    )
    assert golden in str(plain)
    assert f"{golden}    The user says: &lt;b&gt;No.&lt;/b&gt;\n" in str(worded)


@pytest.mark.row("T08", "F24")
@pytest.mark.parametrize("how", ["approve", "framework"])
@pytest.mark.parametrize("answer", ["yes_once", "yes_in_session"])
def test_edited_arguments_are_those_that_are_used(how: str, answer: Answer) -> None:
    till, less = Till(), Reply(answer, arguments={"order": "A-1", "cents": 1})
    person = Person(less) if how == "approve" else None
    session = open_till(till, approve=person)
    given = None if person else less

    assert session.call("pay", PAY, approved=given) == "paid 1"
    session.revoke()
    assert asyncio.run(session.acall("pay", PAY, approved=given)) == "paid 1"
    session.revoke()
    permit = session.permit("pay", PAY, approved=given)
    session.revoke()
    refusal: Any = session.refusal("pay", PAY, approved=given)

    assert (permit.refusal, permit.arguments["cents"]) == (None, 1)
    assert permit.is_edited
    assert '"cents": 1' in refusal["error"]["message"]


@pytest.mark.row("T08")
def test_edited_arguments_are_checked_like_others() -> None:
    till = Till()
    session = open_till(till)
    edited = Reply("yes_once", arguments={"order": "A-1"})

    assert code(session.call("pay", PAY, approved=edited)) == "bad-tool-call"
    assert till.paid == []


@pytest.mark.row("T08")
def test_nobody_is_asked_about_a_call_that_cannot_be_made() -> None:
    person = Person(True)
    session = open_till(Till(), approve=person)

    for arguments in ({}, {"order": 5, "cents": 5}, {**PAY, "extra": 1}, "[]", "{"):
        result = session.call("pay", arguments)
        assert code(result) == "bad-tool-call"
        assert code(asyncio.run(session.acall("pay", arguments))) == "bad-tool-call"
        assert session.question("pay", arguments) is None

    assert person.questions == []


@pytest.mark.row("T08", "F24")
def test_a_question_names_skill_tool_arguments_and_reason() -> None:
    long = "x" * 5_000
    session = open_till(
        Till(), ask("till", reason="Money leaves the house."), agent="desk"
    )

    question = session.question("pay", {"order": f"A-1\u202e{long}", "cents": 995})

    assert question is not None
    text = question_text(question)
    assert text.splitlines()[0] == 'Call the tool "pay" of the skill "till"?'
    assert '  "cents": 995' in text
    assert "(because: Money leaves the house.)" in text
    assert "A-1<U+202E>xxx" in text
    assert "more characters)" in text
    assert len(text) < 1_500
    assert question.arguments["order"] == f"A-1\u202e{long}"


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


@pytest.mark.row("T08")
def test_an_answer_about_a_read_is_none_about_a_load() -> None:
    """Where one call is both, a yes for the session is for what the person read."""
    session = open_till(Till(), ask("wages"))
    arguments = {"skill_id": "wages", "path": "SKILL.md"}

    text = session.call("read_skill_file", arguments, approved="yes_in_session")

    assert "# Do" in str(text)
    assert session.decide("load_skill", {"skill_id": "wages"}).verdict == "ask"


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
        session.refusal(name, {}),
        asyncio.run(session.arefusal(name, {})),
    ]

    assert [code(each) for each in results] == ["bad-tool-call"] * 4
    assert session.decide(name, {}).verdict == "allow"
