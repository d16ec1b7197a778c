"""A skill as its user calls it, with the arguments in their places."""

from dataclasses import dataclass, field, replace

from satchel.load import StyleOptions, render_context
from satchel.load.invocation import render_invocation
from satchel.model import Loaded, Style

__all__ = ["Invoked", "invoked"]


@dataclass(frozen=True, slots=True)
class Invoked:
    """What to send as the user's message; ``notes`` tell what was left as it was."""

    id: str
    text: str = field(repr=False)
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the text."""
        return self.text


def invoked(
    loaded: Loaded,
    arguments: str,
    names: tuple[str, ...],
    root: str | None,
    style: Style = "agent-skills",
) -> Invoked:
    """Return a loaded skill with its arguments filled in, once, in its envelope.

    ``style`` is that of the tools that its reader has.
    """
    filled = render_invocation(loaded.body, arguments, names=names, folder=root)
    body = replace(loaded, text=filled.text, body=filled.text)
    notes = (*loaded.notes, *filled.notes)
    options = StyleOptions(envelope="extended", root=root)
    text = render_context(body, options, filled.notes, style=style)
    return Invoked(loaded.id, text, notes)
