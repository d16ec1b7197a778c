"""What a tool would give a model: the same functions, called from a command."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from satchel.errors import SkillError
from satchel.load import packs_result, render_context, render_context_error, tools_for
from satchel.load.telling import error_result
from satchel.model import Loaded, Request, Style

if TYPE_CHECKING:
    from satchel.runtime import Satchel

__all__ = ["Envelope", "Result", "Wish", "enveloped"]

Envelope: TypeAlias = Literal["xml", "json"]

_Load: TypeAlias = Callable[[Request], Loaded]


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for: a skill, or a file of it in ``bucket``."""

    name: str
    bucket: str = ""
    file: str | None = None

    def path_in(self, skills: "Satchel") -> str | None:
        """Return the file's path: in its bucket where that one is listed (R14)."""
        entry = skills.catalog.get(self.name)
        path = f"{self.bucket}/{self.file}"
        if entry is None or self.file in entry.resources or path not in entry.resources:
            return self.file
        return path


@dataclass(frozen=True, slots=True)
class Result:
    """The text of a tool's result, with its line end, and whether it is an error."""

    text: str
    missed: bool


def enveloped(skills: "Satchel", wish: Wish, envelope: Envelope) -> Result:
    """Return the result of the tool call that asks for this; a miss is a result too."""
    missed = False

    def load(request: Request) -> Loaded:
        nonlocal missed
        try:
            return skills.load(request.id, request.file, via="cli")
        except SkillError:
            missed = True
            raise

    xml = envelope == "xml"
    if wish.file is None:
        result = _context(load, wish.name) if xml else _packs(skills, load, wish)
    elif wish.bucket == "assets" or xml:
        result = _file(skills, load, wish, xml=xml)
    else:
        result = _packs(skills, load, wish)
    return Result(f"{result}\n", missed)


def _context(load: _Load, name: str) -> str:
    try:
        return render_context(load(Request(name)))
    except SkillError as error:
        return render_context_error(error, name)


def _packs(skills: "Satchel", load: _Load, wish: Wish) -> str:
    result = packs_result(
        load,
        skills.catalog,
        wish.name,
        wish.file if wish.bucket == "references" else None,
        wish.file if wish.bucket == "scripts" else None,
    )
    return _as_json(result)


def _file(skills: "Satchel", load: _Load, wish: Wish, *, xml: bool) -> str:
    """Return what ``read_skill_file`` gives in the style that the envelope is of."""
    style: Style = "agent-skills" if xml else "packs"
    key = "skill_id" if xml else "name"
    box = tools_for(style, load, catalog=lambda: skills.catalog)
    if not box:  # with nothing listed there is no tool, and every call is a miss
        try:
            load(Request(wish.name))
        except SkillError as error:
            return _as_json(error_result(error))
    arguments = {key: wish.name, "path": wish.path_in(skills)}
    return _as_json(box.call("read_skill_file", arguments))


def _as_json(value: object) -> str:
    return json.dumps(value, indent=2).replace("\x7f", "\\u007f")
