"""The tool that runs scripts of skills, for callers that may, and what they wrote.

Each caller has a folder of its own, named after it, below the operator's: no caller
reads what the scripts of another one read or write.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from hashlib import sha256
from pathlib import Path
from threading import Event
from typing import Any, Final
from urllib.parse import quote, unquote

from anyio import CapacityLimiter, create_task_group, sleep_forever, to_thread
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ReadResourceRequestParams,
    ReadResourceResult,
    ResourceLink,
    TextContent,
    Tool,
    ToolAnnotations,
)

from satchel.errors import (
    ApprovalNeededError,
    DeniedError,
    LimitExceededError,
    SkillError,
    ToolError,
)
from satchel.files import LruCache, path_problem, read_confined
from satchel.load import RUN_SCRIPT, error_result, first_part, media_type, wording
from satchel.model import Activation, Decision, Descriptor, NeededSkill, ScriptOutput
from satchel.runtime import View, requested_access, scripts_of
from satchel.text import is_text
from satchel.tools import result_text
from satchel_server._library import ServedLibrary
from satchel_server._mcp._extension import contents_of
from satchel_server._mcp._request import (
    McpContext,
    McpRequest,
    mcp_caller,
    mcp_view,
    not_served_error,
)

SCHEME: Final = "satchel-work:///"
DIGEST_KEY: Final = "satchel/digest"
# Scripts that run at a time, each of another caller.
MAX_RUNS: Final = 4
# Calls of one caller that wait for its script, and callers that wait for others': with
# those that run 28 of the 64 places that all requests share.
MAX_WAITING: Final = 3
# Skills that callers have loaded, all of them together.
MAX_LOADED: Final = 65_536
# Files that a result links to; its text names as many.
MAX_LINKS: Final = 50

_PLAIN: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_OTHER: Final = re.compile(r"[^a-z0-9_-]+")


class ScriptHandlers:
    """Offers and runs scripts, and reads their files, for callers that may run some."""

    def __init__(self, library: ServedLibrary) -> None:
        self._library = library
        # The same for all callers; None where no scripts are served.
        self._tool = _tool_of(library.view()) if library.settings.work else None
        self._loads: LruCache[tuple[str, str], str] = LruCache(MAX_LOADED)
        self._slots = CapacityLimiter(MAX_RUNS)
        self._turns: dict[str, CapacityLimiter] = {}

    def named(self, ctx: McpContext) -> tuple[str, ...]:
        """Return patterns over the skills whose scripts a sender may run.

        Where there are none, the tool and its files are unknown to the sender.
        """
        if self._tool is None:
            return ()
        # Over stdio there is no request, and the one client is the local user's.
        if ctx.request is None:
            return self._library.settings.scripts
        caller = mcp_caller(ctx)
        # Without a name it would have no folder of its own.
        return caller.scripts if caller.name else ()

    def offered(self, mcp: McpRequest) -> list[Tool]:
        """Return the tool, if the sender has a skill whose scripts it may run."""
        named = self.named(mcp.ctx)
        if not (self._tool and named):
            return []
        rule, entries = _CallerRule(mcp.view, named), mcp.view.catalog.entries
        return [self._tool] if rule.allows_any(entries) else []

    def note_load(
        self, mcp: McpRequest, tool: str, arguments: Mapping[str, object]
    ) -> None:
        """Note a skill whose load succeeded, so that its scripts may run."""
        access = requested_access(mcp.view.settings.style, tool, arguments)
        # To read one file, whatever its name, is not to load the skill.
        if self.named(mcp.ctx) and access is not None and access[0] == ("load",):
            entry = mcp.view.get(access[1])
            version = "" if entry is None else entry.digest
            self._loads.put((_name(mcp.ctx), access[1]), version)

    async def call(
        self, ctx: McpContext, params: CallToolRequestParams
    ) -> CallToolResult:
        """Run a script to its end; it ends with its request, and with the server."""
        cancelled, result = Event(), CallToolResult(content=[], is_error=True)
        run = partial(self._run, ctx, params.arguments or {}, cancelled)

        async def watch() -> None:
            # The package does not look whether the client has disconnected.
            receive: Any = getattr(ctx.request, "receive", sleep_forever)
            try:
                while (await receive())["type"] != "http.disconnect":
                    pass
            finally:
                cancelled.set()

        # One script of a caller runs at a time.
        turn = self._turns.setdefault(_name(ctx), CapacityLimiter(1))
        # A call that waits holds one of the places that all requests share.
        queues = turn.statistics(), self._slots.statistics()
        if max(queue.tasks_waiting for queue in queues) >= MAX_WAITING:
            busy = "too many scripts wait to be run; try again later"
            return _call_result(error_result(ToolError(RUN_SCRIPT, busy)))
        async with create_task_group() as group:
            group.start_soon(watch)
            async with turn:
                # The slot is not free before the script has ended.
                result = await to_thread.run_sync(run, limiter=self._slots)
            group.cancel_scope.cancel()
        return result

    def _run(
        self, ctx: McpContext, arguments: Mapping[str, object], cancelled: Event
    ) -> CallToolResult:
        """Return what the heart says of a run, as a result; each is on record."""
        view = mcp_view(self._library, ctx)
        try:
            with self._library.running.one(cancelled):
                result = self._run_recorded(view, ctx, arguments, cancelled)
        except SkillError as error:
            result = error_result(error)
        text, options = result_text(result), view.style_options
        most, count = options.max_result_tokens, options.counter.count
        if most is not None and (tokens := count(text)) > most:
            first = first_part(text, most, options.counter)
            text = f"{wording.RESULT_CUT.format(RUN_SCRIPT, tokens, most)}\n\n{first}"
        return _call_result(result, text)

    def _run_recorded(
        self,
        view: View,
        ctx: McpContext,
        arguments: Mapping[str, object],
        cancelled: Event,
    ) -> object:
        requirements = self._library.skills.policy.requirements
        needed = [one.skill for one in requirements if one.is_of(RUN_SCRIPT)]
        asked_for = *needed, arguments.get("skill_id")
        loads = [*self._loads_of(view, _name(ctx), asked_for)]
        loaded = {one.id: one.digest for one in loads}
        acts, named = view.acts(lambda: loads), self.named(ctx)
        needs = tuple(
            NeededSkill.of(id, loaded[id], loads) if id in loaded else NeededSkill(id)
            for id in needed
        )
        about = RUN_SCRIPT, needs, arguments
        for need in needs:
            if not need.read:
                acts.note(*about, "refused")
                advice = f"load the skill {need.name!r} first, and read what it says"
                raise ToolError(RUN_SCRIPT, advice)
        rule = _CallerRule(view, named)
        scripts = view.scripts(loads, self._folder(_name(ctx)), rule.enforce)
        try:
            call = scripts.prepare(arguments)
        except SkillError as error:
            acts.permitted(None, *about, error.code, None)
            raise
        call = replace(call, job=replace(call.job, cancelled=cancelled))
        reason = rule.decide(call.owner).reason
        tool = scripts.bound(call)
        recorded = acts.permitted(tool, *about, reason, call) or tool
        return recorded.call(arguments)

    def _loads_of(
        self, view: View, caller: str, ids: Iterable[object]
    ) -> Iterator[Activation]:
        """Yield which of these skills a caller has loaded as they are now."""
        for skill_id in ids:
            entry = view.get(skill_id) if isinstance(skill_id, str) else None
            if entry and self._loads.find((caller, entry.id)) == entry.digest:
                yield Activation(entry.id, entry.digest)

    def _folder(self, caller: str) -> str:
        """Return a caller's folder; a run makes it where there is none."""
        name = folder_name(caller)
        folder = Path(self._library.settings.work, name)
        if name and folder.is_symlink():  # it may lead to another caller's
            raise ToolError(RUN_SCRIPT, "the work folder is a link")
        return str(folder)

    def read(
        self, mcp: McpRequest, params: ReadResourceRequestParams
    ) -> ReadResourceResult | None:
        """Return a file of the sender's folder; None where the address is another."""
        uri, of = params.uri, self._library
        if not (self.named(mcp.ctx) and uri.startswith(SCHEME)):
            return None
        # What decodes to no path below the folder is refused there, link or dots.
        path, folder = unquote(uri.removeprefix(SCHEME)), folder_name(_name(mcp.ctx))
        most = of.skills.limits.file_bytes
        try:
            data = read_confined(of.settings.work, path, most, folder=folder)
        except LimitExceededError:
            raise
        except SkillError as error:
            raise not_served_error("resource", uri) from error
        text = is_text(data)
        kind = media_type(path, text=text)
        contents = contents_of(data, kind, uri, is_binary=not text)
        # The next script may write over it.
        return ReadResourceResult(contents=[contents], ttl_ms=0, cache_scope="private")


@dataclass(frozen=True, slots=True)
class _CallerRule:
    """Whose scripts a caller of a server may run; nobody can be asked there.

    Those of the skills that a pattern of ``named`` names, where no rule of the policy
    says otherwise.
    """

    view: View
    named: Sequence[str]

    def decide(self, entry: Descriptor) -> Decision:
        if not any(fnmatchcase(entry.id, pattern) for pattern in self.named):
            return Decision("deny", "not named for this caller", action="script")
        decision = self.view.decide_script(entry)
        # By default no script runs; who named the skill for a caller has decided that.
        named = Decision("allow", "named for this caller", action="script")
        return decision if decision.by_rule else named

    def enforce(self, owner: Descriptor) -> None:
        decision = self.decide(owner)
        if decision.verdict != "allow":
            error = DeniedError if decision.verdict == "deny" else ApprovalNeededError
            raise error("script", owner.id, reason=decision.reason)

    def allows_any(self, entries: Iterable[Descriptor]) -> bool:
        return any(
            self.decide(entry).verdict == "allow" and scripts_of(entry)
            for entry in entries
        )


def _tool_of(view: View) -> Tool | None:
    """Return the tool as clients list it; None without a runner."""
    rule, title = _CallerRule(view, ()), "Run a script of a skill"
    scripts = view.scripts((), "", rule.enforce)
    if scripts.isolated is None:
        return None
    return Tool(
        name=scripts.tool.name,
        title=title,
        description=scripts.tool.description,
        input_schema={**scripts.tool.parameters},
        annotations=ToolAnnotations(
            title=title,
            read_only_hint=False,
            destructive_hint=True,  # of files in the work folder
            idempotent_hint=False,
            open_world_hint=not scripts.isolated,
        ),
    )


def _name(ctx: McpContext) -> str:
    return "" if ctx.request is None else mcp_caller(ctx).name


def folder_name(caller: str) -> str:
    """Return the name of a caller's folder; two callers never have one.

    It is a plain name for every system, and none differs from another by its case.
    """
    if not caller or (_PLAIN.fullmatch(caller) and not path_problem(caller)):
        return caller
    # No plain name has a plus.
    digest = sha256(caller.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{_OTHER.sub('_', caller.lower())[:32]}+{digest[:32]}"


def _call_result(result: object, text: str = "") -> CallToolResult:
    """Return a result as text for the model, with links for the application."""
    first = TextContent(text=text or result_text(result))
    if not isinstance(result, ScriptOutput):
        return CallToolResult(content=[first], is_error=True)
    links = [
        ResourceLink(
            uri=SCHEME + quote(file.path),
            name=file.path,
            mime_type=file.media_type,
            size=file.size,
            _meta={DIGEST_KEY: file.digest},
        )
        for file in result.outcome.files[:MAX_LINKS]
    ]
    return CallToolResult(content=[first, *links])
