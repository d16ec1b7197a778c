"""A prompt for each skill that a user may invoke: in many clients a slash command."""

import shlex
from collections.abc import Mapping
from typing import Final

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

from satchel.errors import SkillError, echo
from satchel.model import NO_CLIENT_FIELDS, ClientFields, Descriptor
from satchel.runtime.view import View
from satchel.serve.library import Library
from satchel.serve.mcp.answering import Asked, answer
from satchel.serve.mcp.asking import Context
from satchel.serve.mcp.memory import Memory
from satchel.serve.mcp.paging import page_of
from satchel.text import clean_line

__all__ = ["FREE", "Hints", "Prompts", "argument_names"]

FREE: Final = "arguments"
"""The one argument of a skill that names none: the text behind the slash command."""

_REMEMBERED: Final = 4_096


class Prompts:
    """Answers ``prompts/list`` and ``prompts/get``."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self.hints = Hints()

    async def list(
        self, ctx: Context, params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        """Return a page of prompts, named by the ids of their skills."""

        def work(asked: Asked) -> ListPromptsResult:
            page, cursor = page_of(
                asked.view.invocable,
                lambda skill: skill.id,
                kind="prompts",
                cursor=params.cursor if params else None,
                size=self._library.settings.page_size,
            )
            return ListPromptsResult(
                prompts=[
                    _prompt(skill, self.hints.of(asked.view.hurried, skill))
                    for skill in page
                ],
                next_cursor=cursor,
                ttl_ms=asked.ttl_ms,
                cache_scope=asked.scope,
            )

        return await answer(self._library, ctx, work, lists=True)

    async def get(
        self, ctx: Context, params: GetPromptRequestParams
    ) -> GetPromptResult:
        """Return a skill with the arguments in their places; it is a load."""

        def work(asked: Asked) -> GetPromptResult:
            view = asked.view
            try:
                skill = view.descriptor(params.name)
            except SkillError:
                view.missed(params.name)
                raise
            fields = self.hints.of(view, skill)
            text = view.invoke(skill.id, _typed(fields, params.arguments or {})).text
            return GetPromptResult(
                description=clean_line(skill.description),
                messages=[PromptMessage(role="user", content=TextContent(text=text))],
            )

        return await answer(self._library, ctx, work, near=params.name)


class Hints:
    """What skills say for clients; each is read once, and again when it changes."""

    def __init__(self) -> None:
        self._known: Memory[tuple[str, str], ClientFields] = Memory(_REMEMBERED)

    def of(self, view: View, skill: Descriptor) -> ClientFields:
        """Return one skill's fields; none where it cannot be read now.

        Nor of a skill that lies on another server: nothing is fetched for a list.
        """
        if skill.remote:
            return NO_CLIENT_FIELDS
        key = skill.id, skill.digest
        try:
            return self._known.get(key, lambda: view.manifest(skill.id).client)
        except (SkillError, OSError):
            return NO_CLIENT_FIELDS


def argument_names(fields: ClientFields) -> tuple[str, ...]:
    """Return the names of a skill's arguments, each once; none where it names none."""
    names = (clean_line(name) for name in fields.arguments)
    return tuple(dict.fromkeys(filter(None, names)))


def _prompt(skill: Descriptor, fields: ClientFields) -> Prompt:
    hint = clean_line(fields.argument_hint)
    names = argument_names(fields)
    return Prompt(
        name=skill.id,
        title=clean_line(skill.name),
        description=clean_line(skill.description),
        arguments=[
            PromptArgument(name=name, description=hint or None, required=False)
            for name in names or (FREE,)
        ],
    )


def _typed(fields: ClientFields, given: Mapping[str, str]) -> str:
    """Return arguments as a user would have typed them behind the command.

    Raises:
        MCPError: There is one that the prompt does not have: -32602.
    """
    names = argument_names(fields)
    for name in given:
        if name not in names and name != FREE:
            raise MCPError(INVALID_PARAMS, f"there is no argument {echo(name)!r}")
    if FREE in given and FREE not in names:
        return given[FREE]
    # By place, as the body counts them: a name that cannot be shown keeps its own.
    words = [given.get(clean_line(name), "") for name in fields.arguments]
    while words and not words[-1]:
        words.pop()
    return shlex.join(words)
