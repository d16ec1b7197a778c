"""What could stand in an argument: names of skills, paths of files, words of a hint."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    PromptReference,
)

from satchel.model import SKILL_FILE, Descriptor
from satchel.runtime.view import View
from satchel.serve.mcp.answering import Asked, answer
from satchel.serve.mcp.asking import Context
from satchel.serve.mcp.prompts import FREE, Hints, argument_names
from satchel.serve.mcp.resources import TEMPLATE, main_resource
from satchel.serve.mcp.served import Served
from satchel.serve.mcp.uris import SCHEME, skill_path, uri_of
from satchel.text import clean_line

__all__ = ["Completions"]

MAX_VALUES: Final = 100
"""Values of one answer. Source: the specification of MCP, "Completion"."""

_CHOICES: Final = re.compile(r"[\[<({]([^\[\]<>(){}]*\|[^\[\]<>(){}]*)[\]>)}]")
"""A group of alternatives in an argument hint: ``[pdf|docx]``."""


class Completions:
    """Answers ``completion/complete``."""

    def __init__(self, served: Served, hints: Hints) -> None:
        self._served = served
        self._hints = hints
        self._library = served.library

    async def complete(
        self, ctx: Context, params: CompleteRequestParams
    ) -> CompleteResult:
        """Return the values that begin with what was typed so far."""

        def work(asked: Asked) -> CompleteResult:
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

        return await answer(self._library, ctx, work, lists=True)

    def _parts(
        self, view: View, uri: str, name: str, skill: str, typed: str
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

    def _is_told(self, view: View, skill: Descriptor) -> bool:
        return self._served.or_none(main_resource, view, skill) is not None

    def _words(self, view: View, prompt: str, argument: str) -> Iterable[str]:
        """Return the words that a skill's argument hint offers for one argument.

        The groups of alternatives in the hint belong to the arguments in their order.
        """
        fields = self._hints.of(view, view.descriptor(prompt))
        names = argument_names(fields) or (FREE,)
        if argument not in names:
            raise MCPError(INVALID_PARAMS, "the prompt has no such argument")
        groups = _CHOICES.findall(clean_line(fields.argument_hint))
        place = names.index(argument)
        if place >= len(groups):
            return []
        words = (word.strip() for word in groups[place].split("|"))
        return dict.fromkeys(filter(None, words))
