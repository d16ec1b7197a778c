"""Satchel on Google ADK: a toolset.

::

    agent = LlmAgent(name="desk", model=..., tools=[mine, attach(skills, who=...)])

What a conversation has loaded stands in the session's state, under ``satchel:`` and the
agent's name, and goes with the events of Satchel's tools. Where a call needs approval
ADK's own tool confirmation is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence, Set as AbstractSet
from copy import copy
from operator import is_, itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from weakref import ref

from satchel.adapters._base import Conversation, SessionFactory, framework
from satchel.model import Catalog, Reply, SeenMessage
from satchel.runtime import question_text
from satchel.tools import Tool, result_text

if TYPE_CHECKING:
    from typing import Unpack

    from google.adk.agents.callback_context import CallbackContext
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.models.llm_request import LlmRequest
    from google.adk.tools.tool_context import ToolContext

    from satchel.runtime import Satchel, Session, SessionOptions

with framework("Google ADK", "google-adk"):
    from google.adk.agents.readonly_context import ReadonlyContext
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.base_toolset import BaseToolset
    from google.genai import types

__all__ = ["SkillsToolset", "attach"]

Who: TypeAlias = (
    Mapping[str, Any] | Callable[[ReadonlyContext], Mapping[str, Any]] | None
)
Deps: TypeAlias = Callable[[ReadonlyContext], object] | None

_Begin: TypeAlias = "Callable[..., Conversation]"

_MARKS: Final = frozenset({"used", "seals"})
"""Keys of the state with lists of marks, whose order means nothing."""

_WAITS: Final = "This tool call requires confirmation, please approve or reject."
"""In ADK's own words; the model does not see it before there is an answer."""


def attach(
    skills: Satchel,
    *,
    who: Who = None,
    deps: Deps = None,
    **options: Unpack[SessionOptions],
) -> SkillsToolset:
    """Return what goes into ``LlmAgent(tools=[...])``, behind the agent's own tools.

    Args:
        skills: What is attached.
        who: For whom a run is, or what tells it from the run's context, which has the
            user's id and the session's state.
        deps: What tells the object that tools of a run are given; by default that
            context.
        options: As for `satchel.Satchel.session`. ``agent`` is by default the agent's
            name. With ``approve`` no confirmation is asked for. ``trust_state`` is
            False: ADK's own API lets its callers write the state.

    Raises:
        TypeError: An argument is not known, or of another type.
        ValueError: No style has that name.
    """
    attached: SessionFactory[ReadonlyContext] = SessionFactory(
        skills, who, deps, options, trusts=False
    )
    # Without a run nobody can be told, and nothing is kept.
    nobody: SessionFactory[None] = SessionFactory(
        skills, None if callable(who) else who, None, options
    )

    def begin(
        ctx: ReadonlyContext | None, before: Conversation | None = None
    ) -> Conversation:
        if ctx is None:
            return nobody.open(None)
        agent = options.get("agent") or ctx.agent_name
        state = ctx.state.get(_key(agent))
        if (
            before is not None
            and (before.session.who, before.session.agent)
            == (attached.whose(ctx), agent)
            and state == _packed(before.keep())
        ):
            return before
        return attached.open(
            ctx,
            _unpacked(state),
            deps=ctx,
            agent=agent,
            turn=None if before is None else before.turn,
        )

    return SkillsToolset(begin)


class SkillsToolset(BaseToolset):
    """Tools and instructions of a `satchel.Satchel`, with a session for each run.

    Where something else wrote its state, or the run is for somebody else now, the next
    step has another one.
    """

    def __init__(self, begin: _Begin) -> None:
        """Take what opens a conversation."""
        super().__init__()
        self._use_invocation_cache = False  # tools open from step to step
        self._begin = begin
        self._known = _Known()
        self._steps: dict[int, tuple[ref[InvocationContext], _Step]] = {}

    async def get_tools(
        self, readonly_context: ReadonlyContext | None = None
    ) -> list[BaseTool]:
        """Return the tools that are open now.

        In a run they stand behind one that no model is offered: it adds the
        instructions to the request.
        """
        if readonly_context is None:
            return self._tools(None)
        try:
            return self._tools(readonly_context)
        except Exception as error:  # noqa: BLE001 - ADK would go on without us: R33
            return [_Failed(error)]

    def _tools(self, ctx: ReadonlyContext | None) -> list[BaseTool]:
        if ctx is None:
            return _Step(self._begin(None), self._known).offered[1:]
        run = ctx._invocation_context  # noqa: SLF001 - no other way to it
        place, steps = id(run), self._steps
        last = steps.get(place)
        talk = self._begin(_Context(run), None if last is None else last[1].talk)
        if last is not None and last[1].talk is talk and last[1].is_open():
            return last[1].offered
        step = _Step(talk, self._known)
        steps[place] = ref(run, lambda _: steps.pop(place, None)), step
        return step.offered

    async def before_model_callback(
        self, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> None:
        """Look again at the messages, and keep the state; for the slot of that name.

        Without it the state is first kept with the first call of a tool of Satchel's,
        and what plug-ins do to the messages is not seen.
        """
        for tool in llm_request.tools_dict.values():
            if isinstance(tool, _SkillTool):
                tool.step.see_again(llm_request)
                tool.step.keep(callback_context)
                return


class _Context(ReadonlyContext):
    """A run's context that does not keep the run: what is kept of it ends with it."""

    def __init__(self, run: InvocationContext) -> None:
        self._run = ref(run)

    @property
    def _invocation_context(self) -> InvocationContext:  # type: ignore[override]
        run = self._run()
        if run is None:
            raise ReferenceError("the run of this context has ended")
        return run


class _Known:
    """What need not be made or checked again in each step, whoever it is for."""

    def __init__(self) -> None:
        self._declarations: dict[str, types.FunctionDeclaration] = {}
        self._checked: tuple[frozenset[str], Catalog] | None = None

    def declaration(self, tool: Tool) -> types.FunctionDeclaration:
        """Return what a model is told; a copy, because ADK writes to it."""
        given = {"description": tool.description, "schema": tool.parameters}
        known = self._declarations.get(tool.name)
        if known is None or given != {
            "description": known.description,
            "schema": known.parameters_json_schema,
        }:
            known = types.FunctionDeclaration(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=tool.parameters,
            )
            self._declarations[tool.name] = known
        return known.model_copy()

    def check(self, step: _Step, names: frozenset[str]) -> None:
        """Refuse own tools of an agent that have the name of one of ours.

        Raises:
            DuplicateToolError: One has; names both owners.
        """
        checked, catalog = self._checked, step.session.catalog
        if checked is None or checked[0] != names or checked[1] is not catalog:
            step.session.tools(beside=names)
            self._checked = names, catalog
        elif not names.isdisjoint(step.names):  # offered since
            step.session.tools(beside=names)


class _Step:
    """What all tools of some steps share: the session, and what it has said.

    Another one comes with other tools; ``offered`` are these as the framework has them,
    behind what adds the instructions.
    """

    def __init__(self, talk: Conversation, known: _Known) -> None:
        self.talk = talk
        self.session: Session = talk.session
        self.known = known
        self.tools = talk.tools()
        self.names = frozenset(tool.name for tool in self.tools)
        self.offered = [_Instructions(self), *map(self._native, self.tools)]
        self._seen: list[types.Content] = []
        self._said = ""
        self._mark: object = None

    def is_open(self) -> bool:
        """Tell whether the tools of the next step are these, too."""
        session = self.session
        return self._mark is session.mark or session.tools() is self.tools

    def see(self, llm_request: LlmRequest) -> str:
        """Take in the messages; return the instructions."""
        self._seen = list(llm_request.contents)
        self.session.see(_history(self._seen, self.names))
        if self._mark is not self.session.mark:
            self._said = self.session.instructions()
            self._mark = self.session.mark
        return self._said

    def see_again(self, llm_request: LlmRequest) -> None:
        """Take in the messages if they are others, and say what fits them."""
        seen, before = self._seen, self._said
        contents, system = llm_request.contents, llm_request.config.system_instruction
        if len(contents) == len(seen) and all(map(is_, contents, seen)):
            return
        said = self.see(llm_request)
        if isinstance(system, str) and before:
            llm_request.config.system_instruction = system.replace(before, said)

    def keep(self, ctx: CallbackContext) -> None:
        """Write what is in use to the session's state."""
        ctx.state[_key(self.session.agent)] = _packed(self.talk.keep())

    def _native(self, tool: Tool) -> BaseTool:
        native = tool.native
        if not isinstance(native, BaseTool):
            return _SkillTool(self, tool)

        async def run_async(*, args: dict[str, Any], tool_context: ToolContext) -> Any:  # noqa: ANN401 - any result
            if self.waits(native.name, args, tool_context):
                return {"error": _WAITS}
            permit = await self.talk.apermit(
                native.name,
                args,
                approved=_answer(tool_context),
                call_id=tool_context.function_call_id or "",
            )
            if permit.refusal is not None:
                return permit.refusal
            given = dict(permit.arguments)
            return await native.run_async(args=given, tool_context=tool_context)

        gated = copy(native)  # as ADK itself does where it puts a prefix before names
        gated.run_async = run_async  # type: ignore[method-assign]
        return gated

    def waits(self, name: str, args: dict[str, Any], ctx: ToolContext) -> bool:
        """Ask for confirmation, if somebody has to give it and nobody has answered.

        The answer may have a payload with ``words`` for the model, and with the
        ``arguments`` to call the tool with in the place of its own.
        """
        if ctx.tool_confirmation is not None:
            return False
        question = self.talk.asked(name, args)
        if question is None:
            return False
        payload = {"words": "", "arguments": args}
        ctx.request_confirmation(hint=question_text(question), payload=payload)
        ctx.actions.skip_summarization = True
        return True


class _SkillTool(BaseTool):
    """A tool that Satchel carries out."""

    def __init__(self, step: _Step, tool: Tool) -> None:
        super().__init__(name=tool.name, description=tool.description)
        self.step = step
        self._tool = tool

    def _get_declaration(self) -> types.FunctionDeclaration:
        return self.step.known.declaration(self._tool)

    async def run_async(
        self, *, args: dict[str, Any], tool_context: ToolContext
    ) -> Any:  # noqa: ANN401 - any result
        step = self.step
        if step.waits(self.name, args, tool_context):
            return {"error": _WAITS}
        result = await step.talk.aanswer(
            self.name,
            args,
            approved=_answer(tool_context),
            call_id=tool_context.function_call_id or "",
        )
        step.keep(tool_context)
        if isinstance(result, (str, types.Part, types.FunctionResponse)):
            return result
        return json.loads(result_text(result))


class _Instructions(BaseTool):
    """No tool for a model; ADK asks it for its part in the request."""

    def __init__(self, step: _Step) -> None:
        description = "Tells the model which skills there are."
        super().__init__(name="satchel_instructions", description=description)
        self._step = step

    async def process_llm_request(
        self, *, tool_context: ToolContext, llm_request: LlmRequest
    ) -> None:
        """Add the instructions.

        Raises:
            DuplicateToolError: An own tool of the agent has the name of one of ours.
        """
        step = self._step
        step.known.check(step, frozenset(_own_tools(tool_context, llm_request)))
        said = step.see(llm_request)
        if said:
            llm_request.append_instructions([said])
        if said and _key(step.session.agent) not in tool_context.state:
            step.keep(tool_context)  # for the next steps of this run


class _Failed(BaseTool):
    """Stands for tools that cannot be had, so that the run ends with the reason."""

    def __init__(self, error: Exception) -> None:
        super().__init__(name="satchel_failed", description=str(error))
        self._error = error

    async def process_llm_request(
        self, *, tool_context: ToolContext, llm_request: LlmRequest
    ) -> None:
        """Say what went wrong."""
        del tool_context, llm_request
        raise self._error


def _answer(ctx: ToolContext) -> Reply | None:
    """Return what somebody answered, with what the payload adds to it."""
    confirmation = ctx.tool_confirmation
    if confirmation is None:
        return None
    payload = confirmation.payload if isinstance(confirmation.payload, dict) else {}
    if not confirmation.confirmed:
        words = payload.get("words")
        return Reply("no", words if isinstance(words, str) else "")
    edited = payload.get("arguments")
    return Reply("yes_once", arguments=edited if isinstance(edited, dict) else None)


def _own_tools(ctx: ToolContext, llm_request: LlmRequest) -> Iterator[str]:
    """Yield the names of tools that are not ours, as far as they are known by now."""
    yield from llm_request.tools_dict
    agent: Any = ctx._invocation_context.agent  # noqa: SLF001 - no other way to it
    for each in agent.tools:
        name = getattr(each, "name", None) or getattr(each, "__name__", None)
        if isinstance(name, str):
            yield name


def _history(
    contents: Sequence[types.Content], names: AbstractSet[str]
) -> Iterator[SeenMessage]:
    """Yield what tools of these names said, and whether the user spoke last."""
    pending: list[types.FunctionCall] = []
    part: types.Part | None = None
    for content in contents:
        for part in content.parts or ():
            call, answer = part.function_call, part.function_response
            if call is not None and call.name in names:
                pending.append(call)
            elif answer is not None and answer.name in names:
                yield _answered(answer, pending)
    if part is not None and part.text and contents[-1].role == "user":
        yield SeenMessage("user")


def _answered(
    answer: types.FunctionResponse, pending: list[types.FunctionCall]
) -> SeenMessage:
    """Return a result beside its call; ADK may have taken the ids out."""
    at = (answer.name, answer.id)
    call = next((each for each in pending if (each.name, each.id) == at), None)
    if call is not None:
        pending.remove(call)
    arguments = (call.args if call else None) or {}
    return SeenMessage("tool", _text(answer), answer.name or "", arguments)


def _text(answer: types.FunctionResponse) -> str:
    """Return what a tool said; ADK puts what is no object into one."""
    response = answer.response or {}
    said: object = response["result"] if response.keys() == {"result"} else response
    return result_text(said)


def _key(agent: str) -> str:
    return f"satchel:{agent}"


def _packed(dump: Mapping[str, object]) -> dict[str, object]:
    """Return the state with mappings for lists.

    ADK merges what parallel calls wrote, mappings key by key, while of lists the last
    one stays.
    """
    active: Any = dump["active"]
    grants: Any = dump["grants"]
    marks = {key: dict.fromkeys(dump[key], 1) for key in _MARKS & dump.keys()}  # type: ignore[call-overload]
    return {
        **dump,
        **marks,
        "active": {each["id"]: {**each, "place": n} for n, each in enumerate(active)},
        "grants": {"\t".join(each): each for each in grants},
    }


def _unpacked(state: object) -> object:
    """Return what was packed; anything else as it is, for the session to report."""
    match state:
        case {"active": Mapping(), **rest}:
            kept: Any = state
        case _:
            return state
    unloaded, grants = kept.get("unloaded", {}), kept.get("grants", {})
    try:
        listed = sorted(kept["active"].values(), key=itemgetter("place"))
        listed = [
            each for each in listed if each["at"] > unloaded.get(each["id"], -1.0)
        ]
        marks = {key: [*kept[key]] for key in _MARKS & kept.keys()}
        return {**rest, **marks, "active": listed, "grants": [*grants.values()]}
    except (AttributeError, KeyError, TypeError):
        return state
