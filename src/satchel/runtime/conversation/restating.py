"""Skills in use whose text has left the conversation, stated again within a budget."""

from collections.abc import Callable, Iterable
from typing import Final

from satchel.errors import SkillError
from satchel.model import Loaded
from satchel.protocols import TokenCounter
from satchel.text import clean_line, escape_xml

__all__ = ["restate"]

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
            gone.append(_shown(id))
            continue
        cost = counter.count(text)
        if cost > left:
            no_room.append(_shown(id))
            continue
        left -= cost
        texts.append(text)
    if no_room:
        names = ", ".join(no_room)
        texts.append(
            f"In use too, and left out for lack of room: {names}. Load again "
            "what you need."
        )
    if gone:
        texts.append(f"In use before, and not to be had any more: {', '.join(gone)}.")
    return "\n\n".join((_HEAD, *texts)) if texts else ""


def _shown(id: str) -> str:
    """Return an id that stands in a system prompt, and so may bring no markup."""
    return escape_xml(clean_line(id))
