"""What all handlers share: a thread to work in, and how long an answer keeps."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from anyio import to_thread

from satchel.runtime.view import View
from satchel.serve.caller import ANYBODY
from satchel.serve.library import Library
from satchel.serve.mcp.asking import Context, caller_of, view_for

__all__ = ["Asked", "answer", "in_thread"]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: the skills as its sender may have them, and how long answers keep.

    ``scope`` is public only where everybody gets the same.
    """

    view: View
    ttl_ms: int
    scope: Literal["public", "private"]

    @property
    def wire(self) -> dict[str, Any]:
        """The hint as a result that the package has no type for bears it."""
        return {"ttlMs": self.ttl_ms, "cacheScope": self.scope}


async def in_thread(work: Callable[[], _T]) -> _T:
    """Do what may wait for a disk or a network, off the event loop.

    Where the client goes away nobody waits for it any longer.
    """
    return await to_thread.run_sync(work, abandon_on_cancel=True)


async def answer(
    library: Library,
    ctx: Context,
    work: Callable[[Asked], _T],
    *,
    near: object = None,
    lists: bool = False,
) -> _T:
    """Return what ``work`` gives for the sender of this request, in a thread.

    ``near`` is the id of the skill that it reads, if it reads no other: where the files
    of that are near, the way to a thread and back would take longer than the work.
    Where they are not, their source has threads of its own, and so has what reads many
    skills (``lists``).
    """
    scope: Literal["public", "private"] = "private"
    if caller_of(ctx) == ANYBODY:
        scope = "public"
    ttl_ms = library.settings.ttl_s * 1_000

    def ask() -> _T:
        return work(Asked(view_for(library, ctx), ttl_ms, scope))

    if library.is_near(near):
        return ask()
    lane = library.lists if lists else library.lane(near)
    return await library.lanes.run(lane, ask)
