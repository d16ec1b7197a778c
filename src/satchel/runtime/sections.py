"""The catalog sections of one Satchel: its counter, its budget."""

from typing import TYPE_CHECKING

from satchel.model import SKILL_FILE, Catalog, Rendered, Style
from satchel.protocols import TokenCounter

if TYPE_CHECKING:  # the renderer costs start-up time
    from satchel.prompt import Format

__all__ = ["Sections"]


class Sections:
    """Renders sections, and gives the last one again where nothing has changed."""

    def __init__(self, counter: TokenCounter, budget_tokens: int | None) -> None:
        self._counter = counter
        self._budget = budget_tokens
        self._last: tuple[Catalog, tuple[object, ...], Rendered] | None = None

    def of(
        self,
        catalog: Catalog,
        style: Style,
        format: "Format" = "xml-id",  # noqa: A002 - the word users of the CLI know
        budget_tokens: int | str | None = "default",
    ) -> Rendered:
        """Return the section; a text as ``budget_tokens`` means the own budget."""
        asked = (style, format, budget_tokens)
        if self._last is not None:
            of, how, rendered = self._last
            if of is catalog and how == asked:
                return rendered
        rendered = self.render(catalog, style, format, budget_tokens)
        self._last = (catalog, asked, rendered)
        return rendered

    def render(
        self,
        catalog: Catalog,
        style: Style,
        format: "Format" = "xml-id",  # noqa: A002
        budget_tokens: int | str | None = "default",
    ) -> Rendered:
        """Render anew."""
        from satchel.prompt import render

        own = self._budget
        return render(
            catalog,
            format=format,
            budget_tokens=own if isinstance(budget_tokens, str) else budget_tokens,
            counter=self._counter,
            style=style,
            locations=_locations(catalog) if format == "xml-spec" else {},
        )


def _locations(catalog: Catalog) -> dict[str, str]:
    """Return the absolute path of each SKILL.md that lies in a folder."""
    from pathlib import Path

    folders = {
        label for label, reader in catalog.readers.items() if hasattr(reader, "root")
    }
    return {
        entry.id: str(Path(entry.origin.location).absolute() / SKILL_FILE)
        for entry in catalog.entries
        if entry.source in folders
    }
