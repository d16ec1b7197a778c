"""Acts on the record: calls of tools that need a skill, and runs of scripts."""

import hmac
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from hashlib import sha256
from inspect import signature
from pathlib import Path
from secrets import token_bytes
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from satchel.errors import DeniedError
from satchel.load import RUN_SCRIPT
from satchel.model import ActEvent, Activation, NeededSkill, ScriptOutput
from satchel.runtime._used_approvals import fingerprint
from satchel.tools import Tool, arguments_of

if TYPE_CHECKING:
    from satchel.runtime._components import Components
    from satchel.runtime._scripts import ScriptCall

# With the same key, equal arguments have equal digests in every process.
KEY_VARIABLE: Final = "SATCHEL_ACTS_KEY"


Needs: TypeAlias = tuple[NeededSkill, ...]


@cache
def _process_key() -> bytes:
    return token_bytes(32)


class Acts:
    """The acts of one session: each is one event, where a sink takes it."""

    def __init__(
        self,
        components: "Components",
        conversation: str,
        agent: str,
        in_use: Callable[[], Iterable[Activation]],
    ) -> None:
        self._components, self._in_use = components, in_use
        self._conversation, self._agent = conversation, agent
        key = components.environ.get(KEY_VARIABLE, "").encode("utf-8", "replace")
        self._key = key or _process_key()

    def note(  # noqa: PLR0913, PLR0917 - what an event says
        self,
        tool: str,
        needs: Needs,
        arguments: object,
        outcome: str,
        approval: str = "",
        script: "ScriptCall | None" = None,
        runner: str = "",
    ) -> None:
        """Give the sinks an event of an act. What a sink raises ends there."""
        events = self._components.usage_events
        if not events.sinks.awake:
            return
        path = script_digest = files_digest = ""
        if script is not None:
            job, owner = script.job, script.owner
            with suppress(OSError):  # the stager's own copy, which nothing changes
                data = Path(job.pack, job.path).read_bytes()
                script_digest = f"sha256:{sha256(data).hexdigest()}"
            files_digest, path, arguments = job.digest, job.path, script.shown
            own = NeededSkill.of(owner.id, owner.digest, self._in_use())
            needs = own, *(need for need in needs if need.name != owner.id)
        if isinstance(arguments, str):  # as a model wrote them
            with suppress(ValueError, RecursionError):
                arguments = json.loads(arguments)
        text = fingerprint(arguments).encode("utf-8", "replace")
        act = ActEvent(
            at=self._components.clock.now(),
            tool=tool,
            outcome=outcome,
            skills=needs,
            arguments=hmac.new(self._key, text, "sha256").hexdigest(),
            approval=approval,
            conversation=self._conversation,
            agent=self._agent,
            script=path,
            script_digest=script_digest,
            files_digest=files_digest,
            runner=runner,
        )
        events.record_act(act)

    def permitted(  # noqa: PLR0913, PLR0917 - as above
        self,
        tool: Tool | None,
        name: str,
        needs: Needs,
        arguments: object,
        approval: str,
        script: "ScriptCall | None",
    ) -> Tool | None:
        """Return a tool that records its call, where that is an act; None was refused.

        A framework calls its own tools, so such a call is on record now.
        """
        if not (needs or script):
            if (name, approval) != (RUN_SCRIPT, DeniedError.code):
                return tool  # no act
            # Denied before its files were looked at.
            given = cast("Mapping[str, object] | str", arguments)
            skill_id = str(arguments_of(name, given)["skill_id"])
            needs = (NeededSkill.of(skill_id, "", self._in_use()),)
        about = name, needs, arguments
        if tool is None or tool.native is not None:
            outcome = "allowed" if tool else "refused"
            self.note(*about, outcome, approval, script)
            return tool
        handler = tool.handler

        # Of an asynchronous handler, too: what it returns is awaited by the caller.
        def called(**given: object) -> object:
            outcome, runner = "failed", ""
            try:
                result = handler(**given)
                outcome, runner = _ended(result)
                return result
            finally:
                self.note(*about, outcome, approval, script, runner)

        return replace(tool, handler=called)


def call_arguments(
    function: Callable[..., object],
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
) -> Mapping[str, object]:
    """Return the arguments of a call by the names that the function has for them."""
    # A call that does not fit fails by itself.
    with suppress(TypeError, ValueError):
        return signature(function).bind(*args, **kwargs).arguments
    return kwargs


def _ended(result: object) -> tuple[str, str]:
    """Return how a call ended, and the kind of runner of a script."""
    if not isinstance(result, ScriptOutput):
        return "allowed", ""
    outcome = result.outcome
    status = "" if outcome.exit_code is None else f" {outcome.exit_code}"
    return f"{outcome.ending}{status}", outcome.runner
