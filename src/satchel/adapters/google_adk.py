"""Skills on Google ADK: a toolset, ``LlmAgent(tools=[mine, attach(skills)])``.

What a conversation has loaded is in the session's state, under ``satchel:`` and the
agent's name, and is stored with the events of Satchel's tools. Where a call needs
approval, ADK's own tool confirmation is requested.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from operator import is_, itemgetter
from pathlib import Path
from typing import Any, Final, TypeAlias, Unpack
from weakref import ref

from satchel.adapters._base import Conversation, Deps, SessionFactory, Who, framework
from satchel.adapters._translation import NO_PARAMETERS, ToolForms
from satchel.files import digest_bytes
from satchel.model import Catalog, Reply, ScriptOutput, SeenMessage
from satchel.runtime import Satchel, SessionOptions, question_text
from satchel.tools import Tool, result_text

with framework("Google ADK", "google-adk"):
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.agents.readonly_context import ReadonlyContext
    from google.adk.events import Event
    from google.adk.models.llm_request import LlmRequest
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.base_toolset import BaseToolset
    from google.adk.tools.tool_context import ToolContext
    from google.genai import types

__all__ = ["attach"]

_Begin: TypeAlias = Callable[..., Conversation]

# Keys of the state with lists of marks, whose order does not matter.
_MARKS: Final = frozenset({"asked", "used", "seals"})

# In ADK's own words; the model does not see it before there is an answer.
_WAITS: Final = "This tool call requires confirmation, please approve or reject."


def attach(
    skills: Satchel,
    *,
    who: Who[ReadonlyContext] = None,
    deps: Deps[ReadonlyContext] = None,
    **options: Unpack[SessionOptions],
) -> "SkillsToolset":
    """Return what goes into ``LlmAgent(tools=[...])``, after the agent's own tools.

    Args:
        skills: What is attached.
        who: For whom a run is: a mapping, or a function of the run's context, which has
            the user's id and the session's state.
        deps: A function of the same, which returns the object that tools get; by
            default they get that context.
        options: As for `satchel.Satchel.session`. ``agent`` is by default the agent's
            name. With ``approve`` no confirmation is requested. ``trust_state`` is
            False: ADK's own API lets its callers write the state.

    Raises:
        TypeError: An argument is unknown or has the wrong type.
        ValueError: No style has that name.
    """
    sessions: SessionFactory[ReadonlyContext] = SessionFactory(
        skills, who, deps, options, trust_state=False, holds_own_tools=True
    )
    # Without a run there is no context, and nothing is saved.
    nobody: SessionFactory[None] = SessionFactory(
        skills, None if callable(who) else who, None, options, holds_own_tools=True
    )

    def begin(
        ctx: ReadonlyContext | None, before: Conversation | None = None
    ) -> Conversation:
        if ctx is None:
            return nobody.open(None)
        agent = options.get("agent") or ctx.agent_name
        state = ctx.state.get(_key(agent))
        # The user or the state may have changed since the last step.
        if before is not None:
            session = before.session
            is_same = (session.who, session.agent) == (sessions.who_of(ctx), agent)
            if is_same and state == _packed(before.save()):
                return before
        turn = None if before is None else before.turn
        return sessions.open(ctx, _unpacked(state), deps=ctx, agent=agent, turn=turn)

    return SkillsToolset(begin)


class SkillsToolset(BaseToolset):
    """Tools and instructions of a `satchel.Satchel`, with a session for each run.

    Where something else wrote its state, or the run is for another user now, the next
    step has a new session.
    """

    def __init__(self, begin: _Begin) -> None:
        """Take what opens a conversation."""
        super().__init__()
        self._use_invocation_cache = False  # tools open from step to step
        self._begin = begin
        self._shared = _Shared()
        self._steps: dict[int, tuple[ref[InvocationContext], _Step]] = {}

    async def get_tools(
        self, readonly_context: ReadonlyContext | None = None
    ) -> list[BaseTool]:
        """Return the tools that are open now.

        In a run they come after one that no model is offered: it adds the instructions
        to the request.
        """
        if readonly_context is None:
            return self._tools(None)
        try:
            return self._tools(readonly_context)
        except Exception as error:  # noqa: BLE001 - ADK would go on without skills
            return [_Failed(error)]

    def _tools(self, ctx: ReadonlyContext | None) -> list[BaseTool]:
        if ctx is None:
            # Without a run there is no request to add instructions to.
            return _Step(self._begin(None), self._shared).offered[1:]
        run = ctx._invocation_context  # noqa: SLF001 - no other way to it
        key, steps = id(run), self._steps
        last = steps[key][1] if key in steps else None
        before = None if last is None else last.conversation
        conversation = self._begin(_Context(run), before)
        if last is None or before is not conversation or not last.is_open():
            step = _Step(conversation, self._shared)
            if last is not None:  # before 2.0 ADK asks for the tools at a call, too
                step.session.follow(last.session)
            last = step
            # The entry goes with the run: its id may then be that of another one.
            steps[key] = ref(run, lambda _: steps.pop(key, None)), last
        return [*last.offered, *last.stand_ins(run.session.events)]

    async def before_model_callback(
        self, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> None:
        """Look again at the messages, and save the state; for the slot of that name.

        Without it the state is first saved with the first call of a tool of Satchel's,
        and nobody sees what plug-ins do to the messages.
        """
        for tool in llm_request.tools_dict.values():
            if isinstance(tool, _SkillTool):
                *_, last = _callbacks(callback_context)
                is_last = last == self.before_model_callback
                tool.step.see_again(llm_request, is_final=is_last)
                tool.step.save(callback_context)
                return

    async def before_tool_callback(
        self, tool: BaseTool, args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        """Refuse a call that comes before its skill; for the slot of that name.

        Without it the agent's own tools are called whatever the policy requires.
        """
        run = tool_context._invocation_context  # noqa: SLF001 - no other way to it
        if isinstance(tool, _SkillTool) or id(run) not in self._steps:
            return None
        step = self._steps[id(run)][1]
        refusal = await step.session.arequired(tool.name, arguments=args)
        if refusal is None:
            return None
        step.save(tool_context)
        return {"result": refusal}


class _Context(ReadonlyContext):
    """A run's context that does not keep the run alive."""

    def __init__(self, run: InvocationContext) -> None:
        self._run = ref(run)

    @property
    def _invocation_context(self) -> InvocationContext:  # type: ignore[override]
        run = self._run()
        if run is None:
            raise ReferenceError("the run of this context has ended")
        return run


class _Shared:
    """What is made or checked once for all steps, for every user."""

    def __init__(self) -> None:
        self._declarations = ToolForms(_declaration)
        self._checked: tuple[frozenset[str], Catalog] | None = None
        self._is_told = False

    def declaration(self, tool: Tool) -> types.FunctionDeclaration:
        # A copy, because ADK writes to it.
        return self._declarations.of(tool).model_copy()

    def warn_of(self, unheld: Iterable[str]) -> None:
        """Log, once, own tools that need a skill and are called without it."""
        names = sorted(unheld)
        if names and not self._is_told:
            self._is_told = True
            logging.getLogger("satchel").warning(
                "%s: the policy requires a skill, and nothing waits for it; give the "
                "agent before_tool_callback=, the method of that name of the toolset",
                ", ".join(names),
            )

    def check(self, step: "_Step", names: frozenset[str]) -> None:
        """Raise DuplicateToolError if an own tool has the name of a skill's tool."""
        checked, catalog = self._checked, step.session.catalog
        is_checked = checked and checked[0] == names and checked[1] is catalog
        # A tool may have been offered since, to the same catalog.
        if not is_checked or not names.isdisjoint(step.names):
            step.session.tools(names)
            self._checked = names, catalog


class _Step:
    """What the tools of steps share as long as these stay the same.

    ``offered`` are the tools in ADK's form, after the one that adds the instructions.
    """

    def __init__(self, conversation: Conversation, shared: _Shared) -> None:
        self.conversation = conversation
        self.session = conversation.session
        self.shared = shared
        self.tools = conversation.tools()
        self.names = frozenset(tool.name for tool in self.tools)
        self.offered = [_Instructions(self), *map(self._native, self.tools)]
        self._seen: list[types.Content] = []
        self._is_final = False
        self._text = ""
        self._mark: object = None

    def reads(self, tool: str | None) -> bool:
        """Return whether results of a tool may have instructions of a skill."""
        return tool in self.names or self.session.needs_skill(tool or "")

    def stand_ins(self, events: Iterable[Event]) -> Iterator[BaseTool]:
        """Yield tools for calls that have waited, and whose tools are gone.

        ADK would end the run.
        """
        if asked := self.conversation.asked:
            calls = (call for event in events for call in event.get_function_calls())
            for name in {call.name or "" for call in calls if call.id in asked}:
                if name not in self.names:
                    yield _GoneTool(self, Tool(name, "", NO_PARAMETERS, dict))

    def is_open(self) -> bool:
        session = self.session
        return self._mark is session.mark or session.tools() is self.tools

    def see(self, llm_request: LlmRequest, *, is_final: bool) -> str:
        """Take in the messages; return the instructions."""
        self._seen, self._is_final = list(llm_request.contents), is_final
        self.conversation.see(_history(self._seen, self.reads), is_final=is_final)
        if self._mark is not self.session.mark:
            self._text = self.session.instructions()
            self._mark = self.session.mark
        return self._text

    def see_again(self, llm_request: LlmRequest, *, is_final: bool) -> None:
        """Take in the messages if they have changed, and update the instructions."""
        seen, before = self._seen, self._text
        contents, system = llm_request.contents, llm_request.config.system_instruction
        is_same = len(contents) == len(seen) and all(map(is_, contents, seen))
        if is_same and is_final == self._is_final:
            return
        text = self.see(llm_request, is_final=is_final)
        # Others may have added instructions since: only those of the session change.
        if isinstance(system, str) and before:
            llm_request.config.system_instruction = system.replace(before, text)

    def save(self, ctx: CallbackContext) -> None:
        ctx.state[_key(self.session.agent)] = _packed(self.conversation.save())

    def _native(self, tool: Tool) -> BaseTool:
        native = tool.native
        if not isinstance(native, BaseTool):
            return _SkillTool(self, tool)

        async def run_async(*, args: dict[str, Any], tool_context: ToolContext) -> Any:  # noqa: ANN401 - any result
            if self.waits(native.name, args, tool_context):
                return {"error": _WAITS}
            approval = _approval(tool_context)
            permit = await self.conversation.apermit(native.name, args, **approval)
            if permit.refusal is not None:
                return permit.refusal
            given = dict(permit.arguments)
            return await native.run_async(args=given, tool_context=tool_context)

        gated = copy(native)  # as ADK itself does where it puts a prefix before names
        gated.run_async = run_async  # type: ignore[method-assign]
        return gated

    def waits(self, name: str, args: dict[str, Any], ctx: ToolContext) -> bool:
        """Request confirmation, if a person has to give it and has not answered."""
        if ctx.tool_confirmation is not None:
            return False
        call_id = ctx.function_call_id or ""
        question = self.conversation.question(name, args, call_id)
        if question is None:
            return False
        self.save(ctx)
        # A form to fill in: words for the model, or other arguments for the call.
        payload = {"words": "", "arguments": args}
        ctx.request_confirmation(hint=question_text(question), payload=payload)
        # As ADK's own tools do: the run ends here, and the model is not asked.
        ctx.actions.skip_summarization = True
        return True


class _SkillTool(BaseTool):
    """A tool that Satchel calls."""

    def __init__(self, step: _Step, tool: Tool) -> None:
        super().__init__(name=tool.name, description=tool.description)
        self.step = step
        self._tool = tool

    def _get_declaration(self) -> types.FunctionDeclaration:
        return self.step.shared.declaration(self._tool)

    async def run_async(
        self, *, args: dict[str, Any], tool_context: ToolContext
    ) -> Any:  # noqa: ANN401 - any result
        step = self.step
        if step.waits(self.name, args, tool_context):
            return {"error": _WAITS}
        approval = _approval(tool_context)
        result = await step.conversation.acall(self.name, args, **approval)
        step.save(tool_context)
        if isinstance(result, ScriptOutput):
            await _keep(result, tool_context)
            return result_text(result)  # which alone can be copied with the events
        # ADK stores results as JSON; text and its own types it stores itself.
        if isinstance(result, (str, types.Part, types.FunctionResponse)):
            return result
        return json.loads(result_text(result))


async def _keep(output: ScriptOutput, ctx: ToolContext) -> None:
    """Save the files that a script made as artifacts, where a service keeps them."""
    if ctx._invocation_context.artifact_service is None:  # noqa: SLF001 - no other way to it
        return
    logger = logging.getLogger("satchel")
    for file in output.outcome.files:
        # To ADK this is a name in all conversations of the user.
        if file.path.startswith("user:"):
            logger.warning("%s is no artifact: ADK keeps such names", file.path)
            continue
        try:
            data = await asyncio.to_thread(Path(output.work, file.path).read_bytes)
            # Another script may have changed it meanwhile.
            if digest_bytes(data) == file.digest:
                part = types.Part.from_bytes(data=data, mime_type=file.media_type)
                await ctx.save_artifact(file.path, part)
        except Exception:
            # The file is in the work folder all the same.
            logger.exception("%s is no artifact", file.path)


class _GoneTool(_SkillTool):
    """One that no model is offered."""

    async def process_llm_request(self, **_: object) -> None:
        pass


class _Instructions(BaseTool):
    """Not a tool for models; ADK lets it change the request."""

    def __init__(self, step: _Step) -> None:
        super().__init__(name="satchel_instructions", description="Adds the skills.")
        self._step = step

    async def process_llm_request(
        self, *, tool_context: ToolContext, llm_request: LlmRequest
    ) -> None:
        step = self._step
        names = frozenset(_own_tools(tool_context, llm_request))
        step.shared.check(step, names)
        if step.session.is_required and not _is_held(tool_context):
            step.shared.warn_of(
                name for name in names if step.session.needs_skill(name)
            )
        text = step.see(llm_request, is_final=not [*_callbacks(tool_context)])
        if text:
            llm_request.append_instructions([text])
        if text and _key(step.session.agent) not in tool_context.state:
            step.save(tool_context)  # for the next steps of this run


class _Failed(BaseTool):
    """Replaces tools that could not be made, so that the run ends with the reason."""

    def __init__(self, error: Exception) -> None:
        super().__init__(name="satchel_failed", description=str(error))
        self._error = error

    async def process_llm_request(
        self, *, tool_context: ToolContext, llm_request: LlmRequest
    ) -> None:
        del tool_context, llm_request
        raise self._error


def _callbacks(ctx: CallbackContext) -> Iterator[object]:
    """Yield what may change the messages of a model call, in that order."""
    run: Any = ctx._invocation_context  # noqa: SLF001 - no other way to it
    yield from run.plugin_manager.plugins
    yield from run.agent.canonical_before_model_callbacks


def _is_held(ctx: CallbackContext) -> bool:
    """Return whether the agent's own tools ask the toolset first."""
    agent: Any = ctx._invocation_context.agent  # noqa: SLF001 - no other way to it
    hook = SkillsToolset.before_tool_callback
    callbacks = agent.canonical_before_tool_callbacks
    return any(getattr(one, "__func__", None) is hook for one in callbacks)


def _declaration(tool: Tool) -> types.FunctionDeclaration:
    return types.FunctionDeclaration(
        name=tool.name,
        description=tool.description,
        parameters_json_schema=tool.parameters,
    )


def _approval(ctx: ToolContext) -> dict[str, Any]:
    """Return what a person answered about a call, with what the payload adds to it."""
    approval: dict[str, Any] = {"call_id": ctx.function_call_id or ""}
    confirmation = ctx.tool_confirmation
    if confirmation is None:
        return approval
    payload = confirmation.payload if isinstance(confirmation.payload, dict) else {}
    words, edited = payload.get("words"), payload.get("arguments")
    if confirmation.confirmed:
        edited = edited if isinstance(edited, dict) else None
        return {**approval, "approved": Reply("yes_once", arguments=edited)}
    words = words if isinstance(words, str) else ""
    return {**approval, "approved": Reply("no", words)}


def _own_tools(ctx: ToolContext, llm_request: LlmRequest) -> Iterator[str]:
    """Yield the names of the agent's own tools, as far as they are listed yet."""
    yield from llm_request.tools_dict
    agent: Any = ctx._invocation_context.agent  # noqa: SLF001 - no other way to it
    for tool in agent.tools:
        name = getattr(tool, "name", None) or getattr(tool, "__name__", None)
        if isinstance(name, str):
            yield name


def _history(
    contents: Sequence[types.Content], reads: Callable[[str | None], bool]
) -> Iterator[SeenMessage]:
    pending: list[types.FunctionCall] = []
    for content in contents:
        part: types.Part | None = None
        for part in content.parts or ():
            call, answer = part.function_call, part.function_response
            if call is not None and reads(call.name):
                pending.append(call)
            elif answer is not None and reads(answer.name):
                yield _answered(answer, pending)
        # Results have the role of the user too: only text at the end is a new message.
        if content.role != "user":
            yield SeenMessage("assistant")
        elif part is not None and part.text:
            yield SeenMessage("user", part.text)


def _answered(
    answer: types.FunctionResponse, pending: list[types.FunctionCall]
) -> SeenMessage:
    """Return a result with its call; ADK may have taken the ids out."""
    key = (answer.name, answer.id)
    call = next((call for call in pending if (call.name, call.id) == key), None)
    if call is not None:
        pending.remove(call)
    arguments = (call.args if call else None) or {}
    response = answer.response or {}
    result: object = response["result"] if response.keys() == {"result"} else response
    return SeenMessage("tool", result_text(result), answer.name or "", arguments)


def _key(agent: str) -> str:
    return f"satchel:{agent}"


def _packed(dump: Mapping[str, object]) -> dict[str, object]:
    """Return the state with mappings in place of lists."""
    # ADK merges what parallel calls wrote: mappings key by key, but the last list wins.
    active: Any = dump["active"]
    grants: Any = dump["grants"]
    marks = {key: dict.fromkeys(dump[key], 1) for key in _MARKS & dump.keys()}  # type: ignore[call-overload]
    return {
        **dump,
        **marks,
        "active": {use["id"]: {**use, "place": n} for n, use in enumerate(active)},
        "grants": {"\t".join(grant): grant for grant in grants},
    }


def _unpacked(state: object) -> object:
    """Return what was packed; anything else unchanged, for the session to report."""
    match state:
        case {"active": Mapping(), **rest}:
            packed: Any = state
        case _:
            return state
    unloaded, grants = packed.get("unloaded", {}), packed.get("grants", {})
    try:
        active = sorted(packed["active"].values(), key=itemgetter("place"))
        # A merge keeps loads that another call has undone: only a later load counts.
        active = [use for use in active if use["at"] > unloaded.get(use["id"], -1.0)]
        marks = {key: [*packed[key]] for key in _MARKS & packed.keys()}
        return {**rest, **marks, "active": active, "grants": [*grants.values()]}
    except (AttributeError, KeyError, TypeError):
        return state
