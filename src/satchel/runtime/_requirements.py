"""Acts that need their skill: whether the model has read it, and what it reads if not.

A requirement holds for a tool of anybody: ours, the framework's, an MCP server's. It is
met in a step whose model call saw the skill's instructions, as they are now.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import wraps
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar, cast

from satchel.errors import echo
from satchel.load import RUN_SCRIPT, StyleOptions, fill_folder, in_part, wording
from satchel.model import (
    LOAD_TOOLS,
    Activation,
    Loaded,
    NeededSkill,
    SeenMessage,
    Style,
)
from satchel.policy import Requirement, bare_name
from satchel.runtime._acts import call_arguments
from satchel.tools import result_text

if TYPE_CHECKING:
    from satchel.runtime._acts import Acts, Needs
    from satchel.runtime._history import VisibleMessages

P = ParamSpec("P")
T = TypeVar("T")

# Tools with which an agent can do what another tool of it does.
_AROUND: Final = re.compile(
    r"bash|shell|terminal|command|exec|python|code|interpreter|http|fetch|request|curl"
    r"|browser|computer|subprocess",
    re.IGNORECASE,
)


def _head(words: str, tool: str, skill_id: str) -> str:
    # On one line, whatever a model calls a tool: what follows is the skill's.
    name = " ".join(echo(bare_name(tool)).split())
    return words.format(name, skill_id)


@dataclass(frozen=True, slots=True)
class Requirements:
    """The requirements of a policy in one session.

    ``look`` returns a skill as it is now, ``folder`` where an agent finds its files,
    ``call`` calls the style's tools, and ``in_use`` are the skills in use.
    ``is_reading`` says that a tool is one of the style's: it never waits for a skill.
    """

    rules: tuple[Requirement, ...]
    style: Style
    options: StyleOptions
    look: Callable[[str], Loaded]
    folder: Callable[[Loaded], str | None]
    call: Callable[[str, dict[str, object]], object]
    in_use: Callable[[], Iterable[Activation]]
    is_reading: Callable[[str], bool]

    @staticmethod
    def version(skill: Loaded | Activation) -> str:
        """Return what differs where a skill or its instructions do."""
        return f"{skill.id} {skill.digest}"

    def of(self, tool: str) -> Iterator[str]:
        """Yield the ids of the skills that a tool needs."""
        if not isinstance(cast("object", tool), str):  # a model may write any JSON
            return
        for rule in self.rules:
            if rule.is_of(tool) and not self.is_reading(tool):
                yield rule.skill

    def needs(self, tool: str, ready: Collection[str]) -> "Needs":
        """Return the skills that a tool needs, and which of them were read."""
        ids = dict.fromkeys(self.of(tool))
        return tuple(self._needed(skill_id, ready) for skill_id in ids)

    def _needed(self, skill_id: str, ready: Collection[str]) -> NeededSkill:
        # Fails closed: of what cannot be read now nobody knows whether it was read, and
        # a source is a plug-in that may raise anything.
        with suppress(Exception):
            loaded = self.look(skill_id)
            if self.version(loaded) in ready:
                return NeededSkill.of(skill_id, loaded.digest, self.in_use())
            return NeededSkill(skill_id, loaded.digest)
        return NeededSkill(skill_id)

    def ruling(
        self,
        tool: str,
        arguments: object,
        ready: Collection[str],
        acts: "Acts | None",
    ) -> "tuple[Needs, str | None]":
        """Return the skills that a tool needs, and what a call gets that is too early.

        That has the instructions, and so is the load: the model reads them and calls
        again.
        """
        needs = self.needs(tool, ready)
        unread = [need.name for need in needs if not need.read]
        # Before the refusal, which is a load: the act does not rest on it.
        if unread and acts is not None:
            acts.note(tool, needs, arguments, "refused")
        return needs, self._refusal(tool, unread[0]) if unread else None

    def _refusal(self, tool: str, skill_id: str) -> str:
        load, parameter = LOAD_TOOLS[self.style]
        text = result_text(self.call(load, {parameter: skill_id}))
        now_read = [*map(self.version, self.in_use())]
        # Nobody is asked to read what is not there.
        is_read = self._needed(skill_id, now_read).read
        words = wording.REQUIRED if is_read else wording.REQUIRED_UNREAD
        return f"{_head(words, tool, skill_id)}\n\n{text}"

    def waits(self, tool: str, ready: Collection[str]) -> bool:
        """Return whether a call of a tool comes too early."""
        return not all(need.read for need in self.needs(tool, ready))

    def ready(self, visible: "VisibleMessages") -> Iterator[str]:
        """Yield the versions of required skills that the messages of a step show."""
        for skill_id in {rule.skill for rule in self.rules}:
            with suppress(Exception):
                loaded = self.look(skill_id)
                if visible.shows(self.style, self._as_given(loaded)):
                    yield self.version(loaded)

    def _as_given(self, loaded: Loaded) -> Loaded:
        """Return a skill as its load gives it: with its folder, a long one in part."""
        loaded = fill_folder(loaded, self.folder(loaded))
        return in_part(loaded, self.options)[0] if self.style == "lean" else loaded

    def as_loads(self, history: Iterable[SeenMessage]) -> Iterator[SeenMessage]:
        """Yield the messages, with refusals as the loads that they carry.

        Only what a load gives now: the result of any tool may be made to look like it.
        """
        tool, parameter = LOAD_TOOLS[self.style]
        for message in history:
            head, _, text = message.text.partition("\n\n")
            ids = self.of(message.tool) if message.role == "tool" else ()
            carried = [
                id for id in ids if head == _head(wording.REQUIRED, message.tool, id)
            ]
            if carried:
                arguments = {parameter: carried[0]}
                message = replace(message, text=text, tool=tool, arguments=arguments)  # noqa: PLW2901 - the same, read otherwise
            yield message

    def warn_of(
        self, names: Collection[str], offered: Collection[str], runner: object
    ) -> None:
        """Log what no tool is called, and which tools walk around a requirement."""
        logger = logging.getLogger("satchel")
        every = (*names, *offered, *([RUN_SCRIPT] if runner else []))
        for rule in self.rules:
            if not any(map(rule.is_of, every)):
                logger.warning("%s: no tool of this agent is called so", rule)
        around = sorted(filter(_AROUND.search, names))
        around = [name for name in around if not any(self.of(name))]
        if around and self.rules:
            logger.warning(
                "tools of this agent may do what a required skill is to guide, and "
                "need none: %s",
                ", ".join(around),
            )


def held(
    function: Callable[P, T],
    required: Callable[..., str | None],
    arequired: Callable[..., Awaitable[str | None]],
) -> Callable[P, T | str]:
    """Return a function that asks, as a session does, before each call of it."""
    name = getattr(function, "__name__", "")
    if not name:
        raise TypeError("requiring() takes a function, whose name is that of the tool")
    if iscoroutinefunction(function):

        @wraps(function)
        async def awaited(*args: P.args, **kwargs: P.kwargs) -> Any:  # noqa: ANN401 - what it returns
            given = call_arguments(function, args, kwargs)
            refusal = await arequired(name, arguments=given)
            return await function(*args, **kwargs) if refusal is None else refusal

        return cast("Callable[P, T | str]", awaited)

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> T | str:
        given = call_arguments(function, args, kwargs)
        refusal = required(name, arguments=given)
        return function(*args, **kwargs) if refusal is None else refusal

    return called
