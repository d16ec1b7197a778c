"""Skills in use whose text has left the conversation, stated again within a budget."""

from collections.abc import Callable, Iterable
from typing import Final

from satchel.errors import SkillError, echo
from satchel.model import Loaded
from satchel.protocols import TokenCounter
from satchel.text import clean_line, escape_xml

__all__ = ["restate"]

MAX_NAMED: Final = 20
"""Skills that are named without their text."""
_HEAD: Final = (
    "## Skills in use\nThese were loaded earlier in this conversation, and still hold:"
)


def restate(
    ids: Iterable[str],
    load: Callable[[str], Loaded],
    *,
    budget_tokens: int,
    counter: TokenCounter,
    render: Callable[[Loaded], str],
) -> str:
    """Return the texts of these skills, newest first, or nothing where there are none.

    Args:
        ids: The skills, newest first.
        load: Gives the SKILL.md of one.
        budget_tokens: The texts cost at most this; a skill that does not fit is named.
        counter: Counts tokens.
        render: Writes it.
    """
    texts: list[str] = []
    no_room: list[str] = []
    gone: list[str] = []
    left = budget_tokens
    for id in ids:
        try:
            text = render(load(id))
        except SkillError:
            gone.append(id)
            continue
        cost = counter.count(text)
        if cost > left:
            no_room.append(id)
            continue
        left -= cost
        texts.append(text)
    if no_room:
        texts.append(
            f"In use too, and left out for lack of room: {_named(no_room)}. Load again "
            "what you need."
        )
    if gone:
        texts.append(f"In use before, and no longer available: {_named(gone)}.")
    return "\n\n".join((_HEAD, *texts)) if texts else ""


def _named(ids: list[str]) -> str:
    """Return ids for a system prompt: without markup, and not more than a few.

    They come from a stored state, and so may be anything.
    """
    more = len(ids) - MAX_NAMED
    names = ", ".join(escape_xml(clean_line(echo(id))) for id in ids[:MAX_NAMED])
    return names + (f" and {more:,} more" if more > 0 else "")
