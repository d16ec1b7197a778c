"""Approvals: who is asked before something is done, and what they said (E25)."""

import json
import threading
from collections.abc import Awaitable, Coroutine, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from satchel.errors import ApprovalDeclinedError, ApprovalNeededError
from satchel.model import Question, Reply
from satchel.protocols import Approval, Approver
from satchel.session.ledger import Grant
from satchel.text import printable

if TYPE_CHECKING:  # it costs start-up time
    from concurrent.futures import Future

__all__ = ["Approvals", "Approver", "reply_of"]

_READING: Final = frozenset({"load", "read"})
"""What may be done for several calls with one answer, since nothing happens."""
_YES: Final = Reply("yes_once")
_FAILURES: Final = (Exception, SystemExit)
"""What an approver raises, and it means no: it is a plug-in (R33)."""

MAX_WORDS: Final = 1_000
"""Characters of the words that come with a no."""


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
        """Take whom to ask, and the grants of an earlier part of the conversation."""
        self._approve = approve
        self._lock = threading.Lock()
        self._grants = {(action, skill, tool) for action, skill, tool in grants}
        self._open: dict[_Place, _Prompt] = {}

    @property
    def grants(self) -> tuple[Grant, ...]:
        """Action, skill and tool of every yes for the session, sorted."""
        with self._lock:
            return tuple(sorted(self._grants))

    def is_granted(self, question: Question) -> bool:
        """Tell whether a yes for the session covers this question."""
        with self._lock:
            return _grant(question) in self._grants

    def clear(self) -> None:
        """Forget every grant: the history in which they were given was edited."""
        with self._lock:
            self._grants.clear()

    def settle(self, question: Question, approved: Approval | None = None) -> Reply:
        """Return the yes with which it may be done.

        Args:
            question: What is to be done.
            approved: The answer of the framework's own approval; None asks here.

        Raises:
            ApprovalNeededError: There is nobody to ask, or nobody who can be asked
                from here: an async approver where a loop is running needs `asettle`.
            ApprovalDeclinedError: The answer was no, or none that means yes, or the
                approver raised.
        """
        heard = self._known(question, approved)
        while heard is None:
            prompt, is_mine = self._join(question)
            if prompt is None:
                heard = _Heard(_YES)
            elif is_mine:
                try:
                    heard = self._ask(question)
                finally:
                    self._close(question, prompt, heard)
            elif prompt.thread == threading.get_ident():
                raise _unasked(question, "it is being asked, by this very thread")
            else:
                heard = _shared(question, prompt.done.result())
        return _checked(question, heard)

    async def asettle(
        self, question: Question, approved: Approval | None = None
    ) -> Reply:
        """Do as `settle` does; a sync approver is called in a thread."""
        import asyncio

        heard = self._known(question, approved)
        while heard is None:
            prompt, is_mine = self._join(question)
            if prompt is None:
                heard = _Heard(_YES)
            elif is_mine:
                try:
                    heard = await self._aask(question)
                finally:
                    self._close(question, prompt, heard)
            else:
                heard = _shared(question, await asyncio.wrap_future(prompt.done))
        return _checked(question, heard)

    def _known(self, question: Question, approved: Approval | None) -> "_Heard | None":
        """Return what is known without a prompt; None where somebody is to be asked."""
        if approved is not None:
            heard = _heard(approved)
            with self._lock:
                self._keep(question, heard)
            return heard
        if self.is_granted(question):
            return _Heard(_YES)
        if self._approve is None:
            raise _unasked(question, question.reason)
        return None

    def _join(self, question: Question) -> "tuple[_Prompt | None, bool]":
        """Return the prompt of an equal question, or open one; and whose it is.

        None where a yes for the session was given in the meantime.
        """
        from concurrent.futures import Future

        place = _place(question)
        with self._lock:
            if _grant(question) in self._grants:
                return None, False
            prompt = self._open.get(place)
            if prompt is not None:
                return prompt, False
            done: Future[_Heard | None] = Future()
            done.set_running_or_notify_cancel()  # who waits can only cancel its wait
            prompt = self._open[place] = _Prompt(threading.get_ident(), done)
            return prompt, True

    def _close(
        self, question: Question, prompt: "_Prompt", heard: "_Heard | None"
    ) -> None:
        """End a prompt; where it was broken off, those who wait for it ask again."""
        with self._lock:
            if heard is not None:
                self._keep(question, heard)
            del self._open[_place(question)]
        prompt.done.set_result(heard)

    def _keep(self, question: Question, heard: "_Heard") -> None:
        if heard.reply.answer == "yes_in_session":
            self._grants.add(_grant(question))

    def _ask(self, question: Question) -> "_Heard":
        said = self._said(question)
        return said if isinstance(said, _Heard) else _run(question, said)

    async def _aask(self, question: Question) -> "_Heard":
        import asyncio

        said = await asyncio.to_thread(self._said, question)
        return said if isinstance(said, _Heard) else await _waited(said)

    def _said(self, question: Question) -> "_Heard | Awaitable[object]":
        """Ask now; no error leaves, for a thread cannot hand on a StopIteration."""
        try:
            said = False if self._approve is None else self._approve(question)
        except _FAILURES as error:
            return _raised(error)
        return said if isinstance(said, Awaitable) else _heard(said)


@dataclass(frozen=True, slots=True)
class _Heard:
    """What came of a question; ``why_not`` tells the operator of a no."""

    reply: Reply
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A question that somebody looks at now; ``done`` gives None if it broke off."""

    thread: int
    done: "Future[_Heard | None]"


_Place: TypeAlias = tuple[str, ...]


def reply_of(said: object) -> Reply:
    """Return an answer as a `Reply`, its words clean and short.

    Everything but a clear yes is a no.
    """
    return _heard(said).reply


def _heard(said: object) -> _Heard:
    if isinstance(said, Reply):
        words = printable(said.words[:MAX_WORDS], keep="")
        return _Heard(replace(said, words=words), "" if said.is_yes else "no")
    if said is True or said == "yes_once":
        return _Heard(_YES)
    if said == "yes_in_session":
        return _Heard(Reply("yes_in_session"))
    is_plain_no = said is False or said == "no"
    why = "no" if is_plain_no else f"the approver answered {type(said).__name__}"
    return _Heard(Reply("no"), why)


def _raised(error: BaseException) -> _Heard:
    return _Heard(Reply("no"), f"the approver raised {type(error).__name__}")


def _shared(question: Question, heard: _Heard | None) -> _Heard | None:
    """Return what somebody else's answer means for an equal question."""
    return heard if question.action in _READING else None


async def _waited(said: Awaitable[object]) -> _Heard:
    try:
        return _heard(await said)
    except _FAILURES as error:
        return _raised(error)


def _run(question: Question, said: Awaitable[object]) -> _Heard:
    """Wait for an async approver, in an event loop of its own."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        if isinstance(said, Coroutine):
            said.close()  # or Python warns that nobody awaited it
        raise _unasked(question, "the approver is async and a loop runs: use acall")
    # With a factory the runner leaves the thread's own event loop alone.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(_waited(said))


def _checked(question: Question, heard: _Heard) -> Reply:
    reply = heard.reply
    if reply.is_yes:
        return reply
    raise ApprovalDeclinedError(
        question.action, question.skill, question.tool, heard.why_not, reply.words
    )


def _unasked(question: Question, reason: str) -> ApprovalNeededError:
    return ApprovalNeededError(question.action, question.skill, question.tool, reason)


def _grant(question: Question) -> Grant:
    return question.action, question.skill, question.tool


def _place(question: Question) -> _Place:
    """Return what is the same for equal questions of one session.

    Arguments are compared as JSON: what a model sends can be too deep for ``==``.
    """
    try:
        arguments = json.dumps(question.arguments, sort_keys=True, default=repr)
    except (TypeError, ValueError, RecursionError):
        arguments = ""
    return (*_grant(question), arguments)
