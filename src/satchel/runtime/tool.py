"""load_skill as a plain coroutine: three parameters, seven keys, no exception."""

from typing import TYPE_CHECKING

from satchel.load import packs_result
from satchel.runtime.default import default_registry

if TYPE_CHECKING:
    from satchel.model import Loaded, Request
    from satchel.runtime.front import Satchel

__all__ = ["load_skill"]


async def load_skill(
    name: str,
    reference: str | None = None,
    script: str | None = None,
    *,
    skills: "Satchel | None" = None,
) -> dict[str, object]:
    """Load a skill's body, or the text of one of its references or scripts.

    The result always has the keys ``name``, ``body``, ``available_references``,
    ``available_scripts``, ``reference_content``, ``script_content`` and ``error``; the
    body is empty where a file was asked for. A script is read, never run.

    Args:
        name: The id, exactly as it is listed.
        reference: A listed reference, by its short name or path.
        script: A listed script, likewise.
        skills: Where to look; by default what `satchel.default_registry` gives.
    """
    import asyncio

    return await asyncio.to_thread(_load, name, reference, script, skills)


def _load(
    name: str, reference: str | None, script: str | None, skills: "Satchel | None"
) -> dict[str, object]:
    shelf = skills or default_registry()

    def load(request: "Request") -> "Loaded":
        return shelf.load(request.id, request.file, via=request.via)

    return packs_result(load, shelf.catalog, name, reference, script)
