"""What the adapters for providers' SDKs share: conversations in loops of users."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

from satchel.adapters._arguments import check_kind
from satchel.adapters._base import Conversation, SessionFactory
from satchel.adapters._translation import name_of
from satchel.errors import ToolError, error_payload
from satchel.model import Question
from satchel.protocols import Approval
from satchel.runtime import (
    CallApproval,
    Satchel,
    Session,
    SessionOptions,
    check_who,
    question_text,
)
from satchel.tools import Tool


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A tool call of a model; ``question`` is for the person who has to approve it.

    ``arguments`` is None where the model did not give an object.
    """

    id: str
    name: str
    arguments: Mapping[str, object] | None
    question: str = ""


Given = TypeVar("Given")
"""What a model said, in the forms of an SDK."""

Call = TypeVar("Call", bound=ModelCall)


@dataclass(eq=False, slots=True)
class ChatLoop(ABC, Generic[Given, Call]):
    """One conversation with skills; made by `attach`. Safe across threads.

    A turn begins with each message of the user: within it a file is read once.
    """

    _conversation: Conversation
    _own: list[Any]
    _names: frozenset[str]

    @classmethod
    def attached(  # noqa: PLR0913, PLR0917 - the arguments of `attach`
        cls,
        skills: Satchel,
        tools: Iterable[Any],
        who: Mapping[str, Any] | None,
        deps: object,
        resume: object,
        options: SessionOptions,
    ) -> Self:
        """Return the conversation that `attach` of an SDK begins or resumes."""
        # One tool alone is a mapping, which could be read like a list.
        kinds = () if isinstance(tools, (str, Mapping)) else Iterable
        check_kind("tools", tools, kinds, "a list of tools")
        check_who(who)
        own = [*tools]
        names = frozenset(name for tool in own if (name := name_of(tool)))
        sessions: SessionFactory[None] = SessionFactory(skills, who, None, options)
        conversation = sessions.open(None, resume, deps=deps)
        # A name that is taken raises here, and not before the first call of the model.
        conversation.session.tools(names)
        return cls(conversation, own, names)

    @property
    def session(self) -> Session:
        """The session behind it: which skills are in use, `satchel.Session.invoke`."""
        return self._conversation.session

    def waiting(self, given: Given) -> list[Call]:
        """Return the calls without a result that a person has to approve first.

        Empty where the conversation has an ``approve`` to ask.
        """
        return [
            replace(call, question=question_text(question))
            for call in self._pending(given)
            if (question := self._question(call)) is not None
        ]

    def call(self, call: Call, *, approved: Approval | None = None) -> object:
        """Make one call; return its result as it is. Never raises."""
        if call.arguments is None:
            return _not_an_object(call)
        native, approval = self._native(call), _approval(call, approved)
        if native is None:
            return self._conversation.call(call.name, call.arguments, **approval)
        permit = self._conversation.permit(call.name, call.arguments, **approval)
        return permit.refusal or native.call(permit.arguments)

    async def acall(self, call: Call, *, approved: Approval | None = None) -> object:
        """Do as `call` does; waits for asynchronous tools."""
        if call.arguments is None:
            return _not_an_object(call)
        native, approval = self._native(call), _approval(call, approved)
        if native is None:
            return await self._conversation.acall(call.name, call.arguments, **approval)
        permit = await self._conversation.apermit(call.name, call.arguments, **approval)
        return permit.refusal or await native.acall(permit.arguments)

    def run(
        self, given: Given, *, approved: Mapping[str, Approval] | None = None
    ) -> list[Any]:
        """Make the calls without a result; return the results, to be appended.

        Calls of your own tools are left to you. Never raises: an error is a result, and
        so is a call that is not approved.

        Args:
            given: What the model said, or the messages with it at their end.
            approved: Answers about calls that wait, by their ids: True, False, or a
                `satchel.model.Reply` with words for the model, or other arguments.
        """
        answers = approved or {}
        return [
            self._message(call, self.call(call, approved=answers.get(call.id)))
            for call in self._pending(given)
        ]

    async def arun(
        self, given: Given, *, approved: Mapping[str, Approval] | None = None
    ) -> list[Any]:
        """Do as `run` does, side by side; waits for asynchronous tools."""
        answers = approved or {}
        calls = self._pending(given)
        results = (self.acall(call, approved=answers.get(call.id)) for call in calls)
        made = await asyncio.gather(*results)
        return [self._message(*pair) for pair in zip(calls, made, strict=True)]

    def dump(self) -> dict[str, object]:
        """Return what `attach` can resume from, safe for JSON; no text."""
        return self._conversation.save()

    def _question(self, call: Call) -> Question | None:
        return self._conversation.question(call.name, call.arguments or {})

    @abstractmethod
    def _pending(self, given: Given) -> list[Call]:
        """Return the calls without a result, but for those of the user's own tools."""

    @abstractmethod
    def _native(self, call: Call) -> Tool | None:
        """Return one of the SDK's own tools that a skill has, as a tool of Satchel."""

    @abstractmethod
    def _message(self, call: Call, result: object) -> Any:  # noqa: ANN401 - of the SDK
        """Return the message, or the part of one, that answers a call."""


def _not_an_object(call: ModelCall) -> object:
    return error_payload(ToolError(call.name, "the arguments are no JSON object"))


def _approval(call: ModelCall, approved: Approval | None) -> CallApproval:
    # With the id a yes counts once, even where the same messages are answered again.
    return {"approved": approved, "call_id": call.id}
