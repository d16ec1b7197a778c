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
from satchel.runtime import View
from satchel.text import clean_line
from satchel_server._library import record_failed_load
from satchel_server._mcp._extension import TEMPLATE, main_resource
from satchel_server._mcp._request import McpRequest
from satchel_server._mcp._skills import SCHEME, ExtensionCatalog, skill_path, uri_of

# The only argument of a skill without named ones: the text after the command.
FREE_ARGUMENT: Final = "arguments"
# Values of one answer. Source: the specification of MCP, "Completion".
MAX_VALUES: Final = 100
# A group of alternatives in an argument hint: `[pdf|docx]`.
_CHOICES: Final = re.compile(r"[\[<({]([^\[\]<>(){}]*\|[^\[\]<>(){}]*)[\]>)}]")


class PromptHandlers:
    def __init__(self, extension: ExtensionCatalog) -> None:
        self._extension = extension
        self._fields: LruCache[tuple[str, str], ClientFields] = LruCache(4_096)

    def list(
        self, mcp: McpRequest, params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        """Return a page of prompts, named by the ids of their skills."""
        page, cursor = mcp.page(
            mcp.view.invocable, lambda skill: skill.id, params, kind="prompts"
        )
        view = mcp.view.without_waiting
        prompts = [_prompt(skill, self._client_fields(view, skill)) for skill in page]
        return ListPromptsResult(prompts=prompts, next_cursor=cursor, **mcp.caching)

    def get(self, mcp: McpRequest, params: GetPromptRequestParams) -> GetPromptResult:
        """Return a skill with the arguments in their places; it is a load."""
        view = mcp.view
        try:
            skill = view.descriptor(params.name)
        except SkillError:
            # `invoke` is not reached, and would have recorded it.
            record_failed_load(view, params.name)
            raise
        fields = self._client_fields(view, skill)
        typed = _typed_arguments(fields, params.arguments or {})
        text = view.invoke(skill.id, typed).text
        return GetPromptResult(
            description=clean_line(skill.description),
            messages=[PromptMessage(role="user", content=TextContent(text=text))],
        )

    def _client_fields(self, view: View, skill: Descriptor) -> ClientFields:
        """Return one skill's fields for clients; none if it cannot be read now."""
        # Nothing is fetched from another server for a list.
        if skill.remote:
            return NO_CLIENT_FIELDS
        # By digest, so an edited file is read again without any clearing.
        key = skill.id, skill.digest
        try:
            return self._fields.get(key, lambda: view.manifest(skill.id).client)
        except (SkillError, OSError):
            return NO_CLIENT_FIELDS

    def complete(
        self, mcp: McpRequest, params: CompleteRequestParams
    ) -> CompleteResult:
        ref, name = params.ref, params.argument.name
        typed = params.argument.value
        values: Iterator[str]
        if isinstance(ref, PromptReference):
            words = self._words(mcp.view, ref.name, name)
            values = (word for word in words if word.startswith(typed))
        else:
            chosen = (params.context.arguments if params.context else None) or {}
            skill = chosen.get("skill", "")
            values = self._paths(mcp.view, ref.uri, name, skill, typed)
        # Listed skills may have to be read: no more of them than the answer has.
        first = [*islice(values, MAX_VALUES + 1)]
        more = len(first) > MAX_VALUES
        total = None if more else len(first)
        shown = Completion(values=first[:MAX_VALUES], total=total, has_more=more)
        return CompleteResult(completion=shown)

    def _paths(
        self, view: View, uri: str, name: str, skill: str, typed: str
    ) -> Iterator[str]:
        """Return the paths that begin with ``typed``, of skills that lists show."""
        if uri != TEMPLATE or name not in ("skill", "path"):
            raise MCPError(INVALID_PARAMS, "there is no such template or argument")
        if name == "skill":
            skills = self._extension.listed(view)
            matching = (s for s in skills if skill_path(s).startswith(typed))
            return (skill_path(s) for s in matching if self._is_shown(view, s))
        target = self._extension.target(view, f"{SCHEME}{skill}")
        if target is None or target.above or target.path:
            return iter(())
        entry = target.entry
        if not self._is_shown(view, entry):
            return iter(())
        folder = f"{uri_of(entry, '')}/"
        paths = (
            uri_of(entry, path).removeprefix(folder)
            for path in (SKILL_FILE, *entry.present)
        )
        return (path for path in paths if path.startswith(typed))

    def _is_shown(self, view: View, skill: Descriptor) -> bool:
        return bool(self._extension.or_none(main_resource, view, skill))

    def _words(self, view: View, prompt: str, argument: str) -> Iterable[str]:
        """Return the words that a skill's argument hint offers for one argument."""
        fields = self._client_fields(view, view.descriptor(prompt))
        names = argument_names(fields) or (FREE_ARGUMENT,)
        if argument not in names:
            raise MCPError(INVALID_PARAMS, "the prompt has no such argument")
        # The groups of alternatives belong to the arguments in their order.
        groups = _CHOICES.findall(clean_line(fields.argument_hint))
        position = names.index(argument)
        if position >= len(groups):
            return []
        words = (word.strip() for word in groups[position].split("|"))
        return dict.fromkeys(filter(None, words))


def argument_names(fields: ClientFields) -> tuple[str, ...]:
    """Return the names of a skill's arguments, each once; empty if it names none."""
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
    """Return arguments as a user would have typed them after the command."""
    names = argument_names(fields)
    for name in given:
        if name not in names and name != FREE_ARGUMENT:
            raise MCPError(INVALID_PARAMS, f"there is no argument {echo(name)!r}")
    if FREE_ARGUMENT in given and FREE_ARGUMENT not in names:
        return given[FREE_ARGUMENT]
    # By position, as the body counts them; also for a name that cannot be shown.
    words = [given.get(clean_line(name), "") for name in fields.arguments]
    # A user would leave missing arguments at the end out, too.
    while words and not words[-1]:
        words.pop()
    # Quoted, so that an argument with spaces stays one argument.
    return shlex.join(words)
