"""Approvals: who is asked, in which words, and what counts once."""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from satchel.errors import ApprovalDeclinedError, ApprovalNeededError
from satchel.model import Question, Reply
from satchel.policy import Policy, ask
from satchel.protocols import Approver
from satchel.runtime import Approvals, question_text
from satchel.runtime._approvals import MAX_ARGUMENTS
from satchel.runtime._authorizer import Authorizer
from tests.fakes import in_threads

REFUND = Question("tool", "refunds", "refund", {"cents": 5})
LOAD = Question("load", "refunds")
GRANT = ("tool", "refunds", "refund")

pytestmark = pytest.mark.row("E25")


class Asked:
    """Answers from a list, and keeps what it was asked."""

    def __init__(self, *answers: object) -> None:
        self.answers = [*answers]
        self.questions: list[Question] = []

    def __call__(self, question: Question) -> object:
        self.questions.append(question)
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def later(self, question: Question) -> object:
        await asyncio.sleep(0)
        return self(question)


def settle(approvals: Approvals, approved: bool | None = None) -> None:
    approvals.require_yes(REFUND, approved)


def asettle(approvals: Approvals, approved: bool | None = None) -> None:
    asyncio.run(approvals.arequire_yes(REFUND, approved))


both = pytest.mark.parametrize("way", [settle, asettle])


def of(asked: object) -> Approvals:
    """Return approvals by something that may answer wrongly."""
    return Approvals(asked)  # type: ignore[arg-type]


@both
def test_without_anybody_to_ask_nothing_is_done(way: Callable[..., None]) -> None:
    with pytest.raises(ApprovalNeededError) as caught:
        way(Approvals())

    assert caught.value.args[:3] == GRANT


@pytest.mark.row("T08")
@both
@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("answer", [True, "yes_once"])
def test_a_yes_holds_once(
    answer: object, is_async: bool, way: Callable[..., None]
) -> None:
    asked = Asked(answer, "no")
    approvals = of(asked.later if is_async else asked)

    way(approvals)
    with pytest.raises(ApprovalDeclinedError):
        way(approvals)

    assert asked.questions == [REFUND, REFUND]
    assert approvals.grants == ()


@both
@pytest.mark.parametrize("is_async", [False, True])
def test_a_yes_for_the_session_covers_other_arguments(
    is_async: bool, way: Callable[..., None]
) -> None:
    asked = Asked("yes_in_session")
    approvals = of(asked.later if is_async else asked)

    way(approvals)
    way(approvals)
    approvals.require_yes(Question(*GRANT, arguments={"cents": 900}))  # type: ignore[arg-type]

    assert len(asked.questions) == 1
    assert approvals.grants == (GRANT,)
    assert not approvals.is_granted(Question("tool", "refunds", "drop"))
    assert not approvals.is_granted(Question("load", "refunds", "refund"))


@pytest.mark.row("F29")
@both
@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (False, "no"),
        ("no", "no"),
        (None, "NoneType"),
        (1, "int"),
        ("yes", "str"),
        ("YES_ONCE", "str"),
        (["yes_once"], "list"),
        (ValueError("x"), "ValueError"),
        (SystemExit(3), "SystemExit"),
    ],
)
def test_anything_but_a_clear_yes_is_no(
    answer: object, why: str, is_async: bool, way: Callable[..., None]
) -> None:
    """It is not kept, so that it may be asked again."""
    asked = Asked(answer, True)
    approvals = of(asked.later if is_async else asked)

    with pytest.raises(ApprovalDeclinedError, match="declined") as caught:
        way(approvals)
    way(approvals)

    assert why in caught.value.reason


@both
def test_the_frameworks_answer_holds_for_this_call_alone_and_its_no_before_a_grant(
    way: Callable[..., None],
) -> None:
    approvals = Approvals()

    way(approvals, True)
    with pytest.raises(ApprovalNeededError):
        way(approvals)
    with pytest.raises(ApprovalDeclinedError):
        way(approvals, False)

    approvals = Approvals(grants=[GRANT])

    way(approvals)
    with pytest.raises(ApprovalDeclinedError):
        way(approvals, False)


def test_grants_are_restored_and_cleared() -> None:
    """As they come out of JSON: lists of lists."""
    approvals = Approvals(grants=[["tool", "refunds", "refund"]])  # type: ignore[list-item]

    assert (approvals.grants, approvals.is_granted(REFUND)) == ((GRANT,), True)

    approvals.clear()

    assert approvals.grants == ()
    with pytest.raises(ApprovalNeededError):
        settle(approvals)


class Crowd(Approvals):
    """Lets its approver answer when ``count`` threads wait for the first prompt."""

    def __init__(self, count: int, *, answer: object) -> None:
        super().__init__(self._wait)  # type: ignore[arg-type]
        self.count = count
        self.answer = answer
        self.asked = 0
        self._here = threading.Semaphore(0)

    def _wait(self, _: Question) -> object:
        self.asked += 1
        while self.asked == 1 and self.count:
            assert self._here.acquire(timeout=30)
            self.count -= 1
        return self.answer

    def _join(self, question: Question) -> Any:  # noqa: ANN401 - as it is
        joined = super()._join(question)
        self._here.release()
        return joined


def crowd(approvals: Approvals, question: Question, count: int) -> list[str]:
    """Return what came of ``count`` equal questions of as many threads."""
    outcomes: list[str] = []

    def work() -> None:
        try:
            approvals.require_yes(question)
            outcomes.append("done")
        except ApprovalDeclinedError as error:
            outcomes.append(type(error).__name__)

    in_threads(lambda _: work(), range(count))
    return outcomes


@pytest.mark.row("T08")
@pytest.mark.parametrize(
    ("answer", "outcome"), [(True, "done"), (False, "ApprovalDeclinedError")]
)
def test_equal_questions_about_reading_are_one_prompt(
    answer: bool, outcome: str
) -> None:
    """One answer for all of them, yes or no: nothing happens by it."""
    approvals = Crowd(8, answer=answer)

    assert crowd(approvals, LOAD, 8) == [outcome] * 8
    assert approvals.asked == 1


@pytest.mark.row("F20", "T08")
@pytest.mark.parametrize(
    ("answer", "asked"),
    [("yes_once", 8), ("no", 8), (Reply("yes_once"), 8), ("yes_in_session", 1)],
)
def test_equal_calls_of_threads_are_asked_one_by_one(
    answer: object, asked: int
) -> None:
    """But for a yes for the session, which covers those that wait."""
    approvals = Crowd(8, answer=answer)

    outcomes = crowd(approvals, REFUND, 8)

    assert outcomes == ["ApprovalDeclinedError" if answer == "no" else "done"] * 8
    assert approvals.asked == asked


@pytest.mark.row("F20", "T08")
@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(("question", "asked"), [(REFUND, 8), (LOAD, 1)])
def test_equal_calls_of_tasks_are_asked_one_by_one(
    question: Question, asked: int, *, is_async: bool
) -> None:
    answers = Asked(*["yes_once"] * asked)
    at_once = most = 0

    async def slow(question: Question) -> object:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0)
        at_once -= 1
        return answers(question)

    approvals = of(slow if is_async else answers)

    async def main() -> None:
        await asyncio.gather(*(approvals.arequire_yes(question) for _ in range(8)))

    asyncio.run(main())

    assert answers.questions == [question] * asked
    assert most <= 1


@pytest.mark.row("T08", "F24")
@both
def test_the_words_of_a_no_are_kept_clean_and_short(way: Callable[..., None]) -> None:
    words = "not \u202ebefore\nfriday" + "!" * 5_000

    with pytest.raises(ApprovalDeclinedError) as caught:
        way(of(Asked(Reply("no", words))))

    assert caught.value.words.startswith("not <U+202E>before<U+000A>friday!")
    assert len(caught.value.words) < 1_100
    assert "The user says: not <U+202E>before" in str(caught.value)


@pytest.mark.row("T08", "F24")
def test_a_reply_hands_over_edited_arguments() -> None:
    approvals = of(Asked(Reply("yes_once", arguments={"cents": 1})))

    assert approvals.require_yes(REFUND).arguments == {"cents": 1}


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (("maybe",), ValueError),
        ((["no"],), ValueError),
        (("no", 5), TypeError),
        (("yes_once", "", [1]), TypeError),
    ],
)
def test_a_reply_that_could_mean_anything_is_refused(
    given: Any,  # noqa: ANN401 - anything
    error: type[Exception],
) -> None:
    with pytest.raises(error):
        Reply(*given)


@pytest.mark.row("F29")
def test_arguments_that_cannot_be_compared_are_asked_about() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    approvals = of(Asked(True, True))
    odd = Question(*GRANT, arguments={"x": deep})  # type: ignore[arg-type]

    approvals.require_yes(odd)
    approvals.require_yes(odd)


def test_other_arguments_are_another_question() -> None:
    """A yes to five cents is none to nine hundred."""
    asked = Asked(True, True)
    ask = of(asked.later).arequire_yes
    other = Question(*GRANT, arguments={"cents": 900})  # type: ignore[arg-type]

    async def main() -> None:
        await asyncio.gather(ask(REFUND), ask(other))

    asyncio.run(main())

    assert {q.arguments["cents"] for q in asked.questions} == {5, 900}


def test_who_waits_asks_again_where_the_first_was_broken_off() -> None:
    """One task is cancelled while its prompt stands; the other gets one of its own."""
    asked = Asked(True)
    entered = asyncio.Event()

    async def approve(question: Question) -> object:
        if not entered.is_set():
            entered.set()
            await asyncio.Event().wait()
        return asked(question)

    approvals = of(approve)

    async def main() -> None:
        first = asyncio.create_task(approvals.arequire_yes(REFUND))
        await entered.wait()
        second = asyncio.create_task(approvals.arequire_yes(REFUND))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await second
        assert first.cancelled()

    asyncio.run(main())

    assert len(asked.questions) == 1


def test_who_gives_up_waiting_leaves_the_prompt_to_the_others() -> None:
    answer = threading.Event()

    def approve(question: Question) -> bool:
        return answer.wait(30)

    approvals = Approvals(approve)

    async def main() -> None:
        first = asyncio.create_task(approvals.arequire_yes(REFUND))
        await asyncio.sleep(0)
        second = asyncio.create_task(approvals.arequire_yes(REFUND))
        third = asyncio.create_task(approvals.arequire_yes(REFUND))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        answer.set()
        await asyncio.gather(first, third)

    asyncio.run(main())


def test_a_program_that_is_stopped_at_a_prompt_stops() -> None:
    approvals = of(Asked(KeyboardInterrupt(), True))

    with pytest.raises(KeyboardInterrupt):
        settle(approvals)
    settle(approvals)


def test_an_async_approver_is_refused_where_it_would_block_its_loop(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The model reads only that an approval is missing, the developer the way."""
    asked = Asked(True)
    approvals = of(asked.later)

    async def main() -> None:
        with pytest.raises(ApprovalNeededError) as caught:
            approvals.require_yes(REFUND)
        assert "session.acall" in caught.value.reason
        await approvals.arequire_yes(REFUND)

        # Nor does an awaitable that is no coroutine.
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        with pytest.raises(ApprovalNeededError):
            of(lambda _: future).require_yes(REFUND)
        assert len(caplog.records) == 2
        assert "use await session.acall" in caplog.messages[0]

    asyncio.run(main())

    assert len(asked.questions) == 1


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_prompt_that_waits_for_its_own_thread_is_refused(kind: str) -> None:
    """An approver that does the thing it is asked about, and a task on its loop."""
    seen: list[str] = []

    def approve(question: Question) -> bool:
        with pytest.raises(ApprovalNeededError) as caught:
            approvals.require_yes(REFUND)
        seen.append(caught.value.reason)
        return True

    async def approve_later(question: Question) -> bool:
        return approve(question)

    approver: Approver = approve if kind == "sync" else approve_later
    approvals = Approvals(approver)
    if kind == "sync":
        settle(approvals)
    else:
        asettle(approvals)

    assert seen == ["it is being asked, by this very thread"]


def test_an_approver_keeps_the_event_loop_of_the_thread() -> None:
    """`asyncio.run` would take it away from programs that set their own."""
    loop = asyncio.new_event_loop()
    try:
        asyncio.set_event_loop(loop)
        settle(of(Asked(True).later))

        assert asyncio.get_event_loop() is loop
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def test_any_callable_can_answer() -> None:
    def lazily(question: Question) -> Coroutine[object, object, bool]:
        async def wait() -> bool:
            return True

        return wait()

    settle(Approvals(lazily))
    asettle(Approvals(lazily))


@both
def test_an_approver_that_runs_out_of_answers_declines(
    way: Callable[..., None],
) -> None:
    """A StopIteration cannot be handed from a thread to a task, which would wait."""
    with pytest.raises(ApprovalDeclinedError, match="declined"):
        way(of(lambda _: next(iter(()))))


@pytest.mark.row("F24", "T08")
def test_a_question_names_skill_tool_arguments_and_reason() -> None:
    """Without hidden characters, cut where it is long, and what is cut is counted."""
    order = f"A-1\u202e{'x' * 5_000}"
    given: dict[str, object] = {"cents": 5, "order": order}
    question = Question("tool", "till", "pay", given, agent="desk", reason="It leaves.")

    first, *others = question_text(question).splitlines()

    assert first == 'Call the tool "pay" of the skill "till"?'
    assert (others[0], others[2:]) == (
        '  "cents": 5',
        ["  (agent: desk)", "  (because: It leaves.)"],
    )
    assert others[1].startswith('  "order": "A-1<U+202E>xxx')
    assert others[1].endswith("xx... (4,013 more characters)")
    assert question.arguments["order"] == order


@pytest.mark.row("F24")
@pytest.mark.parametrize(("over", "line"), [(0, ""), (1, "  and 1 more arguments")])
def test_arguments_beyond_the_most_are_counted(over: int, line: str) -> None:
    arguments = {f"a{n:02}": n for n in range(MAX_ARGUMENTS + over)}

    lines = question_text(Question("tool", "s", "t", arguments)).splitlines()

    assert len(lines) == 1 + MAX_ARGUMENTS + over
    assert [each for each in lines if "more" in each] == ([line] if line else [])


def test_threads_that_ask_first_at_the_same_time_share_the_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = Approvals.__init__

    def slowly(self: Approvals, *arguments: Any) -> None:  # noqa: ANN401
        time.sleep(0.05)  # long enough for each thread to begin one of its own
        made(self, *arguments)

    monkeypatch.setattr(Approvals, "__init__", slowly)
    authorizer = Authorizer(Policy(ask("*")), {})

    seen: list[Approvals] = []

    in_threads(lambda _: seen.append(authorizer.approvals), range(8))

    assert all(approvals is seen[0] for approvals in seen)
    assert len(seen) == 8
