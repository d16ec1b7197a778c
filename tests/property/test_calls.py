"""Whatever a model calls, in whatever state: a short answer, nothing unapproved."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given, settings, strategies as st

from satchel import Options, Satchel, Skill
from satchel.model import Question, Reply, SeenMessage
from satchel.policy import Policy, ask, deny
from satchel.runtime import Session, question_text
from satchel.tools import Tool, result_text
from tests.fakes import FakeSource, in_threads, pack

pytestmark = [
    pytest.mark.slow,
    pytest.mark.property,
    pytest.mark.row("T08", "F20", "F26", "F29"),
]

STYLES: Final = ["lean", "agent-skills", "packs", "references"]
ENVIRON: Final = {"SATCHEL_APPROVALS": "memory"}
LONG: Final = 3_000
"""Characters of the longest text that is sent."""

odd = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=8),
        st.sampled_from(
            ["\ud800", "\u202e", "x" * LONG, "a", "ask", "pay", "SKILL.md"]
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=5), inner, max_size=3),
    ),
    max_leaves=6,
)
TOOLS: Final = """
load_skill read_skill_file load_skill_instructions find_skills list_skills search_skills
pay look closed
""".split()  # noqa: SIM905 - to be read
tools = st.sampled_from(TOOLS)
keys = st.sampled_from(
    ["skill_id", "name", "skill_name", "path", "reference", "script", "query", "k", "n"]
)
values = st.sampled_from(
    ["a", "ask", "shut", "nope", "r.md", "SKILL.md", "../x", 1, None]
)
arguments = st.one_of(
    st.dictionaries(keys, st.one_of(values, odd), max_size=4),
    st.just({"n": 1}),
    st.sampled_from(['{"n": 1}', '{"skill_id": "ask"}', "{", "[]", "", "x" * LONG]),
    odd,
)
plain_answers: Any = st.sampled_from(
    [None, True, False, "yes_once", "no", "YES", 1, [True], {"type": "approve"}]
)
replies = st.sampled_from(
    [
        Reply("yes_once"),
        Reply("no", "x" * LONG),
        Reply("yes_once", arguments={"n": 2}),
        Reply("yes_once", arguments={"k": 2}),
    ]
)
answers = st.one_of(plain_answers, replies)


def is_yes(answer: object) -> bool:
    if isinstance(answer, Reply):
        return answer.is_yes
    return answer is True or answer in ("yes_once", "yes_in_session")


class Till:
    """Counts what was paid, and what was said."""

    def __init__(self) -> None:
        self.paid = 0
        self.yeses = 0
        self._lock = threading.Lock()

    def pay(self, **_: object) -> str:
        with self._lock:
            self.paid += 1
        return "paid"

    def approver(self, said: list[object]) -> Callable[[Question], Any]:
        """Return one that says these in turn, and then no."""

        def approve(question: Question) -> object:
            with self._lock:
                answer = said.pop(0) if said else False
                self.yeses += question.tool == "pay" and is_yes(answer)
            if isinstance(answer, BaseException):
                raise answer
            return answer

        return approve


def open_session(till: Till, **options: Any) -> Session:  # noqa: ANN401
    schema: Any = {"type": "object", "properties": {"n": {"type": "integer"}}}
    skill = Skill(
        "till",
        instructions="Pay.",
        description="Use to pay.",
        tools=[Tool("pay", "Pay.", schema, till.pay)],
    )
    carried = pack("a").replace("---\n# Do", "metadata:\n  tools: look\n---\n# Do")
    packs: Any = {
        "a": {"SKILL.md": carried, "references/r.md": "text"},
        "ask": {"SKILL.md": pack("ask"), "references/r.md": "text"},
        "shut": {"SKILL.md": pack("shut")},
    }
    rules = Policy(ask("till", tool="pay"), ask("ask"), deny("shut", action="load"))
    look = Tool("look", "Look.", {"type": "object", "properties": {}}, lambda: "seen")
    skills = Satchel(
        FakeSource("s", packs),
        skill,
        policy=rules,
        tools=[look],
        options=Options(environ=ENVIRON),
    )
    return skills.session(always=["till"], **options)


def check_short(result: object) -> None:
    text = result_text(result)
    assert "x" * 101 not in text.replace("The user says: " + "x" * 1_000, "")
    assert len(text) < 5_000


states = st.one_of(
    odd,
    st.fixed_dictionaries(
        {},
        optional={
            "schema_version": st.one_of(st.just(1), odd),
            "active": st.lists(
                st.one_of(odd, st.builds(lambda i: {"id": i}, values)), max_size=3
            ),
            "grants": st.one_of(
                odd, st.just([["tool", "till", "pay"], ["load", "ask", ""]])
            ),
            "unloaded": st.one_of(odd, st.just({"a": 5.0})),
            "missed": odd,
            "used": odd,
            "seals": odd,
            "misses": odd,
            "edits": odd,
            "saved": odd,
            "edition": odd,
        },
    ),
)


@settings(max_examples=100)
@given(
    style=st.sampled_from(STYLES),
    calls=st.lists(
        st.tuples(
            st.one_of(tools, odd), arguments, answers, st.sampled_from(["", "c"])
        ),
        max_size=6,
    ),
    state=states,
    said=st.none() | st.lists(st.one_of(answers, st.just(SystemExit(1))), max_size=3),
)
def test_any_call_is_answered_short_and_approved(
    style: str, calls: list[Any], state: object, said: list[object] | None
) -> None:
    till = Till()
    session = open_session(
        till,
        style=style,
        resume=state,
        trust_state=False,
        approve=None if said is None else till.approver(said),
    )
    begin = "Skill: a" if style == "lean" else "<skill_context"
    loaded = SeenMessage("tool", begin, "load_skill", {})
    session.see([SeenMessage("user", "hi"), loaded])
    for name, given_arguments, approved, call_id in calls:
        session.decide(name, given_arguments)
        question = session.question(name, given_arguments)
        if question is not None:
            assert len(question_text(question)) < 5_000
        till.yeses += is_yes(approved)
        options = {"approved": approved, "call_id": call_id}
        check_short(session.call(name, given_arguments, **options))
        till.yeses += is_yes(approved)
        check_short(asyncio.run(session.acall(name, given_arguments, **options)))
        check_short(session.permit(name, given_arguments, approved=False).refusal)
        session.instructions()
        session.tools()

    assert till.paid <= till.yeses
    again = open_session(till, style=style, resume=session.dump(), trust_state=False)
    assert again.problems == ()


@settings(max_examples=60)
@given(
    said=st.lists(
        st.sampled_from(
            [True, False, "no", "yes_once", Reply("yes_once"), ValueError()]
        ),
        max_size=8,
    ),
    wanted=st.lists(st.integers(1, 3), min_size=1, max_size=8),
    how=st.sampled_from(["threads", "tasks"]),
)
def test_payments_at_once_never_exceed_yeses(
    said: list[object], wanted: list[int], how: str
) -> None:
    till = Till()
    session = open_session(till, approve=till.approver([*said]))

    if how == "threads":
        begin = threading.Barrier(len(wanted))

        def work(number: int) -> None:
            begin.wait(60)
            session.call("pay", {"n": number})

        in_threads(work, wanted)
    else:

        async def main() -> None:
            await asyncio.gather(*(session.acall("pay", {"n": n}) for n in wanted))

        asyncio.run(main())

    assert till.paid == till.yeses


@settings(max_examples=40)
@given(
    ids=st.lists(st.sampled_from(["c1", "c2", "c3"]), min_size=1, max_size=8),
    shared=st.booleans(),
)
def test_a_yes_that_is_replayed_pays_once(ids: list[str], *, shared: bool) -> None:
    """By any number of sessions and threads, of one library or of state alone."""
    till = Till()
    first = open_session(till)
    state: Any = None

    def pay(call_id: str, session: Session = first) -> None:
        session.call("pay", {"n": 1}, approved=True, call_id=call_id)

    if shared:
        in_threads(pay, ids)
    else:
        for call_id in ids:
            session = open_session(till, resume=state)
            pay(call_id, session)
            state = session.dump()

    assert till.paid == len(set(ids))
