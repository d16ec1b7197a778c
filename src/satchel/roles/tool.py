"""load_skill as a plain coroutine: three parameters, seven keys, no exception."""

import logging
import os
from typing import TYPE_CHECKING, Final, TypeAlias, Union

from satchel.errors import DuplicateSkillError
from satchel.load import packs_result
from satchel.model import Catalog, Loaded, Request
from satchel.roles.resolving import skills_in, skills_named
from satchel.runtime.default import default_registry
from satchel.runtime.loader import SkillLoader
from satchel.text import printable

if TYPE_CHECKING:
    from satchel.runtime.front import Satchel

__all__ = ["load_skill"]

Shelf: TypeAlias = Union["Satchel", SkillLoader]

_log: Final = logging.getLogger("satchel")


async def load_skill(
    name: str,
    reference: str | None = None,
    script: str | None = None,
    *,
    skills: Shelf | None = None,
    templates_dir: str | os.PathLike[str] | None = None,
) -> dict[str, object]:
    """Load a skill's body, or the text of one of its references or scripts.

    The result always has the keys ``name``, ``body``, ``available_references``,
    ``available_scripts``, ``reference_content``, ``script_content`` and ``error``; the
    body is empty where a file was asked for. A script is read, never run.

    Without ``skills`` and ``templates_dir``, the skill is looked for where
    `satchel.resolve_role_prompt` named it in this process, else in what
    `satchel.default_registry` gives. Where prompts of several folders named different
    packs by this name, the result is an error, and a line of the log says more.

    Args:
        name: The id, exactly as it is listed.
        reference: A listed reference, by its short name or path.
        script: A listed script, likewise.
        skills: Where to look: a `satchel.Satchel` or a `satchel.SkillLoader`.
        templates_dir: Where to look: the folder that `satchel.resolve_role_prompt`
            was given.
    """
    import asyncio

    return await asyncio.to_thread(
        _load, name, reference, script, skills, templates_dir
    )


def _load(
    name: str,
    reference: str | None,
    script: str | None,
    skills: Shelf | None,
    templates_dir: str | os.PathLike[str] | None,
) -> dict[str, object]:
    try:
        shelf = _shelf(name, templates_dir) if skills is None else skills
    except DuplicateSkillError as error:
        # Whoever reads the result is a model, and cannot do what would help.
        _log.warning("load_skill: %s", printable(str(error), keep=""))
        return packs_result(_Raises(error), Catalog(), name, reference, script)

    def load(request: Request) -> Loaded:
        if isinstance(shelf, SkillLoader):
            return shelf.load(request)
        return shelf.load(request.id, request.file, via=request.via)

    return packs_result(load, shelf.catalog, name, reference, script)


def _shelf(name: str, templates_dir: str | os.PathLike[str] | None) -> "Satchel":
    if templates_dir is not None:
        return skills_in(templates_dir)
    return skills_named(name) or default_registry()


class _Raises:
    """A load that ends in an error that was met before it."""

    def __init__(self, error: DuplicateSkillError) -> None:
        self._error = error

    def __call__(self, _request: Request) -> Loaded:
        raise self._error
