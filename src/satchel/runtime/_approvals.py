"""Who is asked where the policy says so, in which words, and what the answers allow."""

import json
import threading
from collections.abc import Awaitable, Coroutine, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

from satchel.errors import ApprovalDeclinedError, ApprovalNeededError
from satchel.model import Question, Reply
from satchel.protocols import Approval, Approver
from satchel.text import printable

if TYPE_CHECKING:
    from concurrent.futures import Future

# Action, skill and tool that were approved until the session ends.
Grant: TypeAlias = tuple[str, str, str]

# What may be done for several calls with one answer, since nothing happens.
_READING: Final = frozenset({"load", "read"})
_YES: Final = Reply("yes_once")
# What an approver raises, and it means no: it is a plug-in.
_FAILURES: Final = (Exception, SystemExit)

# Characters of the words that come with a no.
MAX_WORDS: Final = 1_000


class Approvals:
    """Puts questions to anyone who may answer; without anybody the answer is no.

    A yes is for one call. Equal calls that come at the same time are asked about one
    after the other; only questions about reading share one answer. A yes for the
    session is kept as a grant of this action, skill and tool, with any arguments; a no
    is not kept, so that it may be asked again. Safe across threads and tasks.
    """

    def __init__(
        self, approve: Approver | None = None, grants: Iterable[Grant] = ()
    ) -> None:
        self._approve = approve
        self._lock = threading.Lock()
        self._grants = {(action, skill, tool) for action, skill, tool in grants}
        self._open: dict[tuple[str, ...], _Prompt] = {}

    @property
    def grants(self) -> tuple[Grant, ...]:
        """Action, skill and tool of every yes for the session, sorted."""
        with self._lock:
            return tuple(sorted(self._grants))

    def is_granted(self, question: Question) -> bool:
        """Return whether a yes for the session covers this question."""
        with self._lock:
            return _grant(question) in self._grants

    def clear(self) -> None:
        """Forget every grant: the history in which they were given was edited."""
        with self._lock:
            self._grants.clear()

    def require_yes(
        self, question: Question, approved: Approval | None = None
    ) -> Reply:
        """Return the yes with which it may be done.

        ``approved`` is the answer of the framework's own approval; None asks here.

        ``ApprovalNeededError`` says that nobody can be asked from here: an async
        approver where a loop runs needs `arequire_yes`. ``ApprovalDeclinedError`` is
        any answer that is no clear yes, and an approver that raised.
        """
        result = self._answered_before(question, approved)
        # A loop: the prompt that was waited for may have been cancelled, and its answer
        # is for one call. Then this call asks next.
        while result is None:
            prompt, is_mine = self._join(question)
            if prompt is None:
                result = _ApprovalResult(_YES)
            elif is_mine:
                try:
                    result = self._ask(question)
                finally:
                    self._close(question, prompt, result)
            elif prompt.thread == threading.get_ident():
                # An approver that calls a tool itself would wait for itself for ever.
                raise _unasked(question, "it is being asked, by this very thread")
            else:
                shared = prompt.done.result()
                result = shared if question.action in _READING else None
        return _checked(question, result)

    async def arequire_yes(
        self, question: Question, approved: Approval | None = None
    ) -> Reply:
        """Do as `require_yes` does; a sync approver is called in a thread."""
        import asyncio

        result = self._answered_before(question, approved)
        while result is None:
            prompt, is_mine = self._join(question)
            if prompt is None:
                result = _ApprovalResult(_YES)
            elif is_mine:
                try:
                    result = await self._aask(question)
                finally:
                    self._close(question, prompt, result)
            else:
                shared = await asyncio.wrap_future(prompt.done)
                result = shared if question.action in _READING else None
        return _checked(question, result)

    def _answered_before(
        self, question: Question, approved: Approval | None
    ) -> "_ApprovalResult | None":
        """Return what counts without a prompt; None where somebody has to be asked."""
        if approved is not None:
            result = _parse_answer(approved)
            with self._lock:
                self._remember(question, result)
            return result
        if self.is_granted(question):
            return _ApprovalResult(_YES)
        if self._approve is None:
            raise _unasked(question, question.reason)
        return None

    def _join(self, question: Question) -> "tuple[_Prompt | None, bool]":
        """Return the prompt of an equal question, or open one; and whose it is.

        None where a yes for the session was given in the meantime.
        """
        from concurrent.futures import Future

        key = _question_key(question)
        # One lock for all three looks, or two calls could both open a prompt.
        with self._lock:
            if _grant(question) in self._grants:
                return None, False
            prompt = self._open.get(key)
            if prompt is not None:
                return prompt, False
            done: Future[_ApprovalResult | None] = Future()
            done.set_running_or_notify_cancel()  # who waits can only cancel its wait
            prompt = self._open[key] = _Prompt(threading.get_ident(), done)
            return prompt, True

    def _close(
        self, question: Question, prompt: "_Prompt", result: "_ApprovalResult | None"
    ) -> None:
        """End a prompt; where it was cancelled, those who wait for it ask again."""
        # Remembered before it is closed: a call in between would ask again.
        with self._lock:
            if result is not None:
                self._remember(question, result)
            del self._open[_question_key(question)]
        prompt.done.set_result(result)

    def _remember(self, question: Question, result: "_ApprovalResult") -> None:
        if result.reply.answer == "yes_in_session":
            self._grants.add(_grant(question))

    def _ask(self, question: Question) -> "_ApprovalResult":
        answer = self._call_approver(question)
        return answer if isinstance(answer, _ApprovalResult) else _run(question, answer)

    async def _aask(self, question: Question) -> "_ApprovalResult":
        import asyncio

        answer = await asyncio.to_thread(self._call_approver, question)
        return answer if isinstance(answer, _ApprovalResult) else await _waited(answer)

    def _call_approver(
        self, question: Question
    ) -> "_ApprovalResult | Awaitable[object]":
        """Ask now; no error leaves, for a thread cannot pass on a StopIteration."""
        try:
            answer = False if self._approve is None else self._approve(question)
        except _FAILURES as error:
            return _raised(error)
        return answer if isinstance(answer, Awaitable) else _parse_answer(answer)


@dataclass(frozen=True, slots=True)
class _ApprovalResult:
    """What came of a question; ``why_not`` is for the operator, with a no."""

    reply: Reply
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A question that somebody looks at now; ``done`` is None if it was cancelled."""

    thread: int
    done: "Future[_ApprovalResult | None]"


def reply_of(answer: object) -> Reply:
    return _parse_answer(answer).reply


def _parse_answer(answer: object) -> _ApprovalResult:
    # Words of a person reach the model, so they are cleaned like any other text.
    if isinstance(answer, Reply):
        words = printable(answer.words[:MAX_WORDS], keep="")
        return _ApprovalResult(
            replace(answer, words=words), "" if answer.is_yes else "no"
        )
    # `is True`, since a 1 or a non-empty text of a faulty approver is no clear yes.
    if answer is True or answer == "yes_once":
        return _ApprovalResult(_YES)
    if answer == "yes_in_session":
        return _ApprovalResult(Reply("yes_in_session"))
    is_plain_no = answer is False or answer == "no"
    why = "no" if is_plain_no else f"the approver answered {type(answer).__name__}"
    return _ApprovalResult(Reply("no"), why)


def _raised(error: BaseException) -> _ApprovalResult:
    return _ApprovalResult(Reply("no"), f"the approver raised {type(error).__name__}")


async def _waited(answer: Awaitable[object]) -> _ApprovalResult:
    try:
        return _parse_answer(await answer)
    except _FAILURES as error:
        return _raised(error)


def _run(question: Question, answer: Awaitable[object]) -> _ApprovalResult:
    """Wait for an async approver, in an event loop of its own."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        if isinstance(answer, Coroutine):
            answer.close()  # or Python warns that it was never awaited
        import logging  # its cost only where something is wrong

        reason = "approve= is async, and an event loop runs: use await session.acall"
        logging.getLogger("satchel").warning("nobody was asked: %s", reason)
        raise _unasked(question, reason)
    # With a factory the runner leaves the thread's own event loop alone.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(_waited(answer))


def _checked(question: Question, result: _ApprovalResult) -> Reply:
    reply = result.reply
    if reply.is_yes:
        return reply
    raise ApprovalDeclinedError(
        question.action, question.skill, question.tool, result.why_not, reply.words
    )


def _unasked(question: Question, reason: str) -> ApprovalNeededError:
    return ApprovalNeededError(question.action, question.skill, question.tool, reason)


def _grant(question: Question) -> Grant:
    tool = f"{question.tool} {question.identity}".rstrip()
    return question.action, question.skill, tool


def _question_key(question: Question) -> tuple[str, ...]:
    """Return what is equal for equal questions of one session, arguments as JSON."""
    # As JSON, since what a model sends can be too deep for ``==``.
    try:
        arguments = json.dumps(question.arguments, sort_keys=True, default=repr)
    except (TypeError, ValueError, RecursionError):
        arguments = ""  # such calls wait for one another, which is safe
    return (*_grant(question), arguments)


# Characters of one argument that are shown; a longer one says how much it hides.
MAX_ARGUMENT: Final = 1_000
# Arguments that are shown; where there are more, their number is.
MAX_ARGUMENTS: Final = 20
# Characters of a name that are shown.
MAX_NAME: Final = 100

_VERBS: Final = {"load": "Load", "read": "Read a file of", "script": "Run a script of"}


def question_text(question: Question) -> str:
    """Return a question as a short text of several lines, safe to show anywhere.

    It names the skill, the tool, the arguments, the agent and the reason. Everything
    in it that comes from a pack or a model is JSON without hidden characters, and is
    cut where it is long; what is cut is counted.
    """
    return "\n".join(question_lines(question))


def question_lines(question: Question) -> Iterator[str]:
    skill = _shown(question.skill, MAX_NAME)
    if question.action == "script":
        yield f"Run a script of the skill {skill}?"
    elif question.tool:
        tool = _shown(question.tool, MAX_NAME)
        yield f"Call the tool {tool} of the skill {skill}?"
    else:
        yield f"{_VERBS.get(question.action, question.action)} the skill {skill}?"
    for name, value in islice(question.arguments.items(), MAX_ARGUMENTS):
        yield f"  {_shown(name, MAX_NAME)}: {_shown(value, MAX_ARGUMENT)}"
    more = len(question.arguments) - MAX_ARGUMENTS
    if more > 0:
        yield f"  and {more:,} more arguments"
    for name, text in (("agent", question.agent), ("because", question.reason)):
        if text:
            yield f"  ({name}: {_cut(printable(text, keep=''), MAX_ARGUMENT)})"


def _shown(value: object, maximum: int) -> str:
    """Return a value as JSON on one line, or about so, with nothing hidden in it."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = _represented(value)
    return _cut(printable(text, keep=""), maximum)


def _represented(value: object) -> str:
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001 - an object's own method
        return f"<{type(value).__name__}: its repr raised {type(error).__name__}>"


def _cut(text: str, maximum: int) -> str:
    more = len(text) - maximum
    return text if more <= 0 else f"{text[:maximum]}... ({more:,} more characters)"
