"""A prompt for each skill that a user may invoke, and completion of arguments."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    PromptReference,
    TextContent,
)

from satchel.errors import SkillError, echo
from satchel.files import LruCache
from satchel.model import NO_CLIENT_FIELDS, SKILL_FILE, ClientFields, Descriptor
from satchel.runtime import CallerView
from satchel.server._library import ServedLibrary
from satchel.server._mcp._request import McpContext, McpRequest, page_of, run_handler
from satchel.server._mcp._resources import TEMPLATE, main_resource
from satchel.server._mcp._skills import SCHEME, ExtensionCatalog, skill_path, uri_of
from satchel.text import clean_line

FREE_ARGUMENT: Final = "arguments"
"""The one argument of a skill that names none: the text behind the slash command."""

_REMEMBERED: Final = 4_096


class PromptHandlers:
    """Answers ``prompts/list`` and ``prompts/get``."""

    def __init__(self, library: ServedLibrary) -> None:
        self._library = library
        self.hints = ArgumentHints()

    async def list(
        self, ctx: McpContext, params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        """Return a page of prompts, named by the ids of their skills."""

        def work(asked: McpRequest) -> ListPromptsResult:
            page, cursor = page_of(
                asked.view.invocable,
                lambda skill: skill.id,
                kind="prompts",
                cursor=params.cursor if params else None,
                size=self._library.settings.page_size,
            )
            return ListPromptsResult(
                prompts=[
                    _prompt(skill, self.hints.of(asked.view.without_waiting, skill))
                    for skill in page
                ],
                next_cursor=cursor,
                ttl_ms=asked.ttl_ms,
                cache_scope=asked.scope,
            )

        return await run_handler(self._library, ctx, work, lists=True)

    async def get(
        self, ctx: McpContext, params: GetPromptRequestParams
    ) -> GetPromptResult:
        """Return a skill with the arguments in their places; it is a load."""

        def work(asked: McpRequest) -> GetPromptResult:
            view = asked.view
            try:
                skill = view.descriptor(params.name)
            except SkillError:
                view.missed(params.name)
                raise
            fields = self.hints.of(view, skill)
            text = view.invoke(
                skill.id, _typed_arguments(fields, params.arguments or {})
            ).text
            return GetPromptResult(
                description=clean_line(skill.description),
                messages=[PromptMessage(role="user", content=TextContent(text=text))],
            )

        return await run_handler(self._library, ctx, work, near=params.name)


class ArgumentHints:
    """What skills say for clients; each is read once, and again when it changes."""

    def __init__(self) -> None:
        self._known: LruCache[tuple[str, str], ClientFields] = LruCache(_REMEMBERED)

    def of(self, view: CallerView, skill: Descriptor) -> ClientFields:
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
            for name in names or (FREE_ARGUMENT,)
        ],
    )


def _typed_arguments(fields: ClientFields, given: Mapping[str, str]) -> str:
    """Return arguments as a user would have typed them behind the command.

    Raises:
        MCPError: There is one that the prompt does not have: -32602.
    """
    names = argument_names(fields)
    for name in given:
        if name not in names and name != FREE_ARGUMENT:
            raise MCPError(INVALID_PARAMS, f"there is no argument {echo(name)!r}")
    if FREE_ARGUMENT in given and FREE_ARGUMENT not in names:
        return given[FREE_ARGUMENT]
    # By place, as the body counts them: a name that cannot be shown keeps its own.
    words = [given.get(clean_line(name), "") for name in fields.arguments]
    while words and not words[-1]:
        words.pop()
    return shlex.join(words)


MAX_VALUES: Final = 100
"""Values of one answer. Source: the specification of MCP, "Completion"."""

_CHOICES: Final = re.compile(r"[\[<({]([^\[\]<>(){}]*\|[^\[\]<>(){}]*)[\]>)}]")
"""A group of alternatives in an argument hint: ``[pdf|docx]``."""


class CompletionHandler:
    """Answers ``completion/complete``."""

    def __init__(self, served: ExtensionCatalog, hints: ArgumentHints) -> None:
        self._served = served
        self._hints = hints
        self._library = served.library

    async def complete(
        self, ctx: McpContext, params: CompleteRequestParams
    ) -> CompleteResult:
        """Return the values that begin with what was typed so far."""

        def work(asked: McpRequest) -> CompleteResult:
            ref, name = params.ref, params.argument.name
            typed = params.argument.value
            found: Iterator[str]
            if isinstance(ref, PromptReference):
                words = self._words(asked.view, ref.name, name)
                found = (each for each in words if each.startswith(typed))
            else:
                chosen = (params.context.arguments if params.context else None) or {}
                skill = chosen.get("skill", "")
                found = self._parts(asked.view, ref.uri, name, skill, typed)
            # What is listed may have to be read: no more of it than is answered.
            fitting = [*islice(found, MAX_VALUES + 1)]
            more = len(fitting) > MAX_VALUES
            return CompleteResult(
                completion=Completion(
                    values=fitting[:MAX_VALUES],
                    total=None if more else len(fitting),
                    has_more=more,
                )
            )

        return await run_handler(self._library, ctx, work, lists=True)

    def _parts(
        self, view: CallerView, uri: str, name: str, skill: str, typed: str
    ) -> Iterator[str]:
        """Return the paths that begin so, of skills that the lists have, too."""
        if uri != TEMPLATE or name not in ("skill", "path"):
            raise MCPError(INVALID_PARAMS, "there is no such template or argument")
        if name == "skill":
            skills = self._served.listed(view)
            fitting = (each for each in skills if skill_path(each).startswith(typed))
            return (skill_path(e) for e in fitting if self._is_told(view, e))
        place = self._served.place(view, f"{SCHEME}{skill}")
        whole = place is not None and not (place.above or place.path)
        if place is None or not whole or not self._is_told(view, place.entry):
            return iter(())
        folder = f"{uri_of(place.entry, '')}/"
        paths = (SKILL_FILE, *place.entry.present)
        found = (uri_of(place.entry, path).removeprefix(folder) for path in paths)
        return (each for each in found if each.startswith(typed))

    def _is_told(self, view: CallerView, skill: Descriptor) -> bool:
        return self._served.or_none(main_resource, view, skill) is not None

    def _words(self, view: CallerView, prompt: str, argument: str) -> Iterable[str]:
        """Return the words that a skill's argument hint offers for one argument.

        The groups of alternatives in the hint belong to the arguments in their order.
        """
        fields = self._hints.of(view, view.descriptor(prompt))
        names = argument_names(fields) or (FREE_ARGUMENT,)
        if argument not in names:
            raise MCPError(INVALID_PARAMS, "the prompt has no such argument")
        groups = _CHOICES.findall(clean_line(fields.argument_hint))
        place = names.index(argument)
        if place >= len(groups):
            return []
        words = (word.strip() for word in groups[place].split("|"))
        return dict.fromkeys(filter(None, words))
