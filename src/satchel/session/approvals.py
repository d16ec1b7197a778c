"""Approvals: who is asked before something is done, and what they said (E25)."""

import threading
from collections.abc import Awaitable, Coroutine, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from satchel.errors import ApprovalDeclinedError, ApprovalNeededError
from satchel.model import Answer, Question
from satchel.protocols import Approver
from satchel.session.ledger import Grant

if TYPE_CHECKING:  # it costs start-up time
    from concurrent.futures import Future

__all__ = ["Approvals", "Approver"]


class Approvals:
    """Puts questions to whoever may answer; without anybody the answer is no.

    Equal questions that come at the same time are one prompt, and its answer holds
    for all of them. A yes for the session is kept as a grant of this action, skill and
    tool, whatever the arguments; a no is not kept, so that it may be asked again.
    Safe across threads and tasks.
    """

    def __init__(
        self, approve: Approver | None = None, grants: Iterable[Grant] = ()
    ) -> None:
        """Take whom to ask, and the grants of an earlier part of the conversation."""
        self._approve = approve
        self._lock = threading.Lock()
        self._grants = {(action, skill, tool) for action, skill, tool in grants}
        self._open: dict[Question, _Prompt] = {}

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

    def settle(
        self,
        question: Question,
        approved: bool | None = None,  # noqa: FBT001 - it has three values
    ) -> None:
        """Return when it may be done.

        Args:
            question: What is to be done.
            approved: The answer of the framework's own approval, for this call only;
                None asks here.

        Raises:
            ApprovalNeededError: There is nobody to ask, or nobody who can be asked
                from here: an async approver where a loop is running needs `asettle`.
            ApprovalDeclinedError: The answer was no, or none that means yes, or the
                approver raised.
        """
        if self._is_settled(question, approved):
            return
        reply = None
        while reply is None:
            prompt, is_mine = self._join(question)
            if is_mine:
                try:
                    reply = self._ask(question)
                finally:
                    self._close(question, prompt, reply)
            elif prompt.thread == threading.get_ident():
                raise _unasked(question, "it is being asked, by this very thread")
            else:
                reply = prompt.done.result()
        _check(question, reply)

    async def asettle(
        self,
        question: Question,
        approved: bool | None = None,  # noqa: FBT001 - as above
    ) -> None:
        """Do as `settle` does; a sync approver is called in a thread."""
        import asyncio

        if self._is_settled(question, approved):
            return
        reply = None
        while reply is None:
            prompt, is_mine = self._join(question)
            if is_mine:
                try:
                    reply = await self._aask(question)
                finally:
                    self._close(question, prompt, reply)
            else:
                reply = await asyncio.wrap_future(prompt.done)
        _check(question, reply)

    def _is_settled(
        self,
        question: Question,
        approved: bool | None,  # noqa: FBT001 - as above
    ) -> bool:
        if approved is not None:
            _check(question, _YES if approved is True else _Reply("not approved"))
            return True
        if self.is_granted(question):
            return True
        if self._approve is None:
            raise _unasked(question, question.reason)
        return False

    def _join(self, question: Question) -> "tuple[_Prompt, bool]":
        """Return the prompt of an equal question, or open one; and whose it is."""
        from concurrent.futures import Future

        with self._lock:
            prompt = self._open.get(question)
            if prompt is not None:
                return prompt, False
            done: Future[_Reply | None] = Future()
            done.set_running_or_notify_cancel()  # who waits can only cancel its wait
            prompt = self._open[question] = _Prompt(threading.get_ident(), done)
            return prompt, True

    def _close(
        self, question: Question, prompt: "_Prompt", reply: "_Reply | None"
    ) -> None:
        """End a prompt; where it was broken off, whoever waits for it asks anew."""
        with self._lock:
            if reply is not None and reply.holds:
                self._grants.add(_grant(question))
            del self._open[question]
        prompt.done.set_result(reply)

    def _ask(self, question: Question) -> "_Reply":
        said = self._said(question)
        return said if isinstance(said, _Reply) else _run(question, said)

    async def _aask(self, question: Question) -> "_Reply":
        import asyncio

        said = await asyncio.to_thread(self._said, question)
        if isinstance(said, _Reply):
            return said
        try:
            return _reply(await said)
        except Exception as error:  # noqa: BLE001 - an approver is a plug-in: R33
            return _raised(error)

    def _said(self, question: Question) -> "_Reply | Awaitable[Answer | bool]":
        """Ask now; no error leaves, for a thread cannot hand on a StopIteration."""
        try:
            said = False if self._approve is None else self._approve(question)
        except Exception as error:  # noqa: BLE001 - an approver is a plug-in: R33
            return _raised(error)
        return said if isinstance(said, Awaitable) else _reply(said)


@dataclass(frozen=True, slots=True)
class _Reply:
    """What came of a question: why not, or nothing; and whether the yes is kept."""

    why_not: str = ""
    holds: bool = False


_YES: Final = _Reply()


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A question that somebody looks at now; ``done`` gives None if it broke off."""

    thread: int
    done: "Future[_Reply | None]"


def _reply(said: object) -> _Reply:
    """Return what was meant; all but a clear yes is no."""
    if said is True or said == "yes_once":
        return _YES
    if said == "yes_in_session":
        return _Reply(holds=True)
    known = said is False or said == "no"
    return _Reply("no" if known else f"the approver answered {type(said).__name__}")


def _raised(error: Exception) -> _Reply:
    return _Reply(f"the approver raised {type(error).__name__}")


def _run(question: Question, said: Awaitable[Answer | bool]) -> _Reply:
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

    async def wait() -> Answer | bool:
        return await said

    # With a factory the runner leaves the thread's own event loop alone.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        try:
            return _reply(runner.run(wait()))
        except Exception as error:  # noqa: BLE001 - an approver is a plug-in: R33
            return _raised(error)


def _check(question: Question, reply: _Reply) -> None:
    if reply.why_not:
        raise ApprovalDeclinedError(
            question.action, question.skill, question.tool, reply.why_not
        )


def _unasked(question: Question, reason: str) -> ApprovalNeededError:
    return ApprovalNeededError(question.action, question.skill, question.tool, reason)


def _grant(question: Question) -> Grant:
    return question.action, question.skill, question.tool
