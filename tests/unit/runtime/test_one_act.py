"""A yes leads to one act, whatever ids a model gives its calls, or to a reason."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from satchel import Options, Satchel
from satchel.model import SeenMessage
from satchel.policy import Policy, PolicyRule, ask, deny
from satchel.runtime import Session, UsedApprovalsInFolder
from satchel.runtime._used_approvals import MAX_WAIT_S, approval_key
from satchel.tools import Tool
from tests.fakes import FakeClock, FakeSource, pack

pytestmark = pytest.mark.row("U05", "T08")

PAY: dict[str, object] = {"cents": 5}
# As models give it that count the calls of a conversation.
FIRST = "functions.pay:1"
ASKS = (ask("till", tool="pay"),)


class Shop:
    """Pays, and opens sessions that ask for it."""

    def __init__(self, folder: str | Path = "memory") -> None:
        self.paid = 0
        self.clock = FakeClock()
        self._environ = {"SATCHEL_APPROVALS": str(folder)}

    def pay(self, cents: int) -> str:
        self.paid += 1
        return f"paid {cents}"

    def session(
        self,
        *rules: PolicyRule,
        resume: Mapping[str, object] | None = None,
        **options: Any,  # noqa: ANN401 - of a session
    ) -> Session:
        parameters: Any = {"type": "object", "properties": {"cents": {}}}
        tool = Tool("pay", "Pay.", parameters, self.pay)
        text = pack("till").replace("---\n#", "metadata: {tools: pay}\n---\n#")
        source = FakeSource("s", {"till": {"SKILL.md": text}})
        skills = Satchel(
            source,
            tools=[tool],
            policy=Policy(*rules or ASKS),
            options=Options(environ=self._environ, clock=self.clock),
        )
        return skills.session(resume=resume, **options)

    def paused(self, text: str = "pay it") -> dict[str, object]:
        """Return the stored state of a conversation whose model has called ``pay``."""
        session = self.session()
        session.call("load_skill", {"skill_id": "till"})
        session.see([SeenMessage("user", text)])
        stored: dict[str, object] = json.loads(json.dumps(session.dump()))
        return stored


def code(result: object) -> str:
    error: Any = result["error"] if isinstance(result, dict) else {"code": "done"}
    return str(error["code"])


@pytest.mark.row("F73")
@pytest.mark.parametrize("stored", ["folder", "memory"])
def test_equal_ids_of_other_conversations_are_other_calls(
    stored: str, tmp_path: Path
) -> None:
    shop = Shop(tmp_path if stored == "folder" else stored)
    paused = [shop.paused() for _ in range(3)]

    results = [
        shop.session(resume=state).call("pay", PAY, approved=True, call_id=FIRST)
        for state in (*paused, *paused)
    ]

    expected = ["done"] * 3 + ["approval-used" if stored == "folder" else "done"] * 3
    assert [*map(code, results)] == expected


@pytest.mark.row("F73")
def test_equal_ids_of_later_steps_are_other_calls() -> None:
    shop = Shop()
    session = shop.session(resume=shop.paused())
    history = [SeenMessage("user", "pay it")]

    results: list[str] = []
    for _ in range(3):
        results += [
            code(session.call("pay", PAY, approved=True, call_id=FIRST))
            for _ in range(2)
        ]
        history += [SeenMessage("assistant"), SeenMessage("tool", "paid 5", "pay")]
        session.see(history)

    assert results == ["done", "approval-used"] * 3
    assert session.dump().get("used") is None  # those of steps that are over


def test_a_stored_run_is_at_the_step_at_which_it_waits() -> None:
    """Whatever its framework shows the session once more, before the call."""
    shop = Shop("memory")
    state = shop.paused()
    after = [SeenMessage("user", "pay it"), SeenMessage("assistant", "I pay.")]

    steps: list[object] = []
    for shown in ([], after, [*after, SeenMessage("tool", "sun", "weather")]):
        for _ in range(2):
            session = shop.session(resume=state)
            if shown:
                session.see(shown)
            steps.append(session.dump()["step"])

    assert steps[0] == steps[1] == steps[2] == steps[3] == state["step"]
    assert steps[4] == steps[5]


@pytest.mark.row("F73")
def test_branches_of_one_conversation_are_other_conversations() -> None:
    shop = Shop()
    state = shop.paused()

    for text in ("pay the first", "pay the second"):
        session = shop.session(resume=state)
        session.see([SeenMessage("user", text)])
        assert session.call("pay", PAY, approved=True, call_id=FIRST) == "paid 5"

    assert shop.paid == 2


@pytest.mark.parametrize("is_new", [True, False])
def test_what_the_version_before_stored_is_read(
    tmp_path: Path, *, is_new: bool
) -> None:
    """Its states have no step, and its files are named by the call alone."""
    shop = Shop(tmp_path)
    state = shop.paused()
    for key in ("step", "step_at"):
        del state[key]
    if not is_new:
        key = approval_key("c1", "", "pay", PAY)
        UsedApprovalsInFolder(tmp_path).use(key)

    session = shop.session(resume=state)
    session.see([SeenMessage("user", "pay"), SeenMessage("assistant")])
    result = session.call("pay", PAY, approved=True, call_id="c1")

    assert code(result) == ("done" if is_new else "approval-used")
    assert {path.name[:2] == "2-" for path in tmp_path.iterdir()} == {False}


@pytest.mark.parametrize("days", [0, 89, 91, 400])
def test_a_call_waits_at_most_for_so_long(days: int) -> None:
    shop = Shop()
    session = shop.session(resume=shop.paused())
    shop.clock.time += days * 24 * 3600

    result = session.call("pay", PAY, approved=True, call_id=FIRST)

    expected = "done" if days * 24 * 3600 <= MAX_WAIT_S else "approval-required"
    assert code(result) == expected
    assert shop.paid == (expected == "done")


@pytest.mark.row("F73")
def test_notes_of_calls_that_nobody_can_resume_are_deleted(tmp_path: Path) -> None:
    keys = [approval_key(f"c{n}", "desk", "pay", PAY, step="s") for n in range(3)]
    keys.append(approval_key("c0", "desk", "pay", PAY))  # of a version before
    used = UsedApprovalsInFolder(tmp_path)
    for key in keys:
        assert used.use(key)
    old = tmp_path.stat().st_mtime - MAX_WAIT_S - 60
    for key in (keys[0], keys[1], keys[3]):
        os.utime(tmp_path / key, (old, old))

    assert not used.use(keys[0])  # it looks once
    assert not UsedApprovalsInFolder(tmp_path).use(keys[2])

    assert {path.name for path in tmp_path.iterdir()} == {keys[2], keys[3]}


@pytest.mark.row("F74")
@pytest.mark.parametrize(
    ("rules", "approved", "codes"),
    [
        ((deny("nothing"),), True, ["done", "approval-used", "done"]),
        ((deny("nothing"),), False, ["approval-declined"] * 3),
        ((deny("nothing"),), "yes_in_session", ["done"] * 3),
        ((deny("till", tool="pay"),), True, ["denied-by-policy"] * 3),
        (ASKS, True, ["done", "approval-used", "done"]),
        (ASKS, None, ["approval-required"] * 3),
    ],
)
def test_an_answer_counts_once_whatever_the_policy_says_by_now(
    rules: tuple[PolicyRule, ...],
    approved: Any,  # noqa: ANN401 - any answer
    codes: list[str],
) -> None:
    shop = Shop()
    session = shop.session(*rules, resume=shop.paused())

    results = [
        session.call("pay", PAY, approved=approved, call_id=call_id)
        for call_id in ("1", "1", "2")
    ]

    assert [*map(code, results)] == codes


def test_nobody_counts_steps_where_nobody_is_asked() -> None:
    shop = Shop()
    for session in (
        shop.session(deny("nothing")),
        shop.session(approve=lambda _: True),
    ):
        session.see([SeenMessage("user", "hi")])
        assert "step" not in session.dump()
