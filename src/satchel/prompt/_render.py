"""Render a catalog as the section of a system prompt, within a token budget."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from satchel.errors import SkillNotFoundError
from satchel.model import Descriptor, Rendered, Style
from satchel.prompt._formats import Layout, Lean, SkillLines
from satchel.protocols import CatalogView, TokenCounter
from satchel.text import EstimateCounter, clean_line

if TYPE_CHECKING:
    from satchel.prompt._budget import BudgetFit

# From so many on, half of the ids have more tokens than a note behind a list.
MANY: Final = 1_000

Format = Literal["lean", "xml-id", "markdown", "xml-spec", "json"]
WhenEmpty = Literal["omit", "empty"]

_NO_LOCATIONS: Final[Mapping[str, str]] = MappingProxyType({})


def render(  # noqa: PLR0913 - one call, its options all by name
    catalog: CatalogView,
    *,
    format: Format | None = None,  # noqa: A002 - the word that users know
    budget_tokens: int | None = 4000,
    counter: TokenCounter | None = None,
    style: Style = "lean",
    when_empty: WhenEmpty = "omit",
    locations: Mapping[str, str] = _NO_LOCATIONS,
    role: str | None = None,
    highlight: str | None = None,
    find_tool: str | None = "find_skills",
    featured: Sequence[str] = (),
) -> Rendered:
    """Return the catalog section: every listed skill by id, in code point order.

    Equal catalogs and options give equal bytes. Ids and descriptions are cleaned
    (`satchel.text.clean_line`) and escaped; no body is looked at. Without skills the
    text is empty, unless ``when_empty`` asks for the empty frame.

    Args:
        catalog: What to list.
        format: The shape of the text; None is ``lean`` for that style, and ``xml-id``
            for the others.
        budget_tokens: At most this many; None is no limit. In the format ``lean``
            each description is cut to the words that tell it from the others, then
            a map of the library is given. In the others descriptions are cut to one
            length, then names only are listed, then the first names.
        counter: Counts tokens; None is an estimate that says so.
        style: Whose load tool the text names.
        when_empty: What to give where there are no skills.
        locations: For ``xml-spec``: absolute paths of SKILL.md files by id.
        role: For ``markdown``: an id to name in a first line, and to highlight.
        highlight: For ``markdown``: an id to list first, marked with ``*``.
        find_tool: The tool that a line on what is left out points at; None for none.
        featured: Ids that keep their whole description where not all have room, the
            most important first; others than listed ones do not count.

    Raises:
        SkillNotFoundError: ``role`` or ``highlight`` is not listed.
    """
    counter = counter or EstimateCounter()
    if not catalog.entries and when_empty == "omit":
        return Rendered("", 0, counter.name, budget_tokens)
    first = role if role is not None else highlight
    entries = catalog.entries if first is None else _put_first(catalog, first)
    layout = _layout(format, style, locations, first, role)
    lines = SkillLines(layout, entries, featured)

    def fit(budget: int) -> "BudgetFit":
        from satchel.prompt._budget import BudgetFit

        return BudgetFit(lines, budget, counter, find_tool)

    # There may be no room even for the ids: then nearly nothing of the others is read.
    if (
        budget_tokens is not None
        and isinstance(layout, Lean)
        and len(lines.ids) >= MANY
    ):
        fitting = fit(budget_tokens)
        if fitting.is_hopeless():
            return fitting.overview(layout)
    text = layout.section(lines.whole, "")
    tokens = counter.count(text)
    if budget_tokens is None or tokens <= budget_tokens:
        return Rendered(text, tokens, counter.name, budget_tokens)
    return fit(budget_tokens).degrade()


def _put_first(catalog: CatalogView, id: str) -> tuple[Descriptor, ...]:
    chosen = catalog.get(id)
    if chosen is None:
        raise SkillNotFoundError(id)
    return (chosen, *(entry for entry in catalog.entries if entry is not chosen))


def _layout(
    format: Format | None,  # noqa: A002
    style: Style,
    locations: Mapping[str, str],
    highlight: str | None,
    role: str | None,
) -> Layout:
    name = format or ("lean" if style == "lean" else "xml-id")
    if name == "lean":
        return Lean(style)
    from satchel.prompt import _layouts as layouts

    match name:
        case "xml-id":
            return layouts.XmlId(style)
        case "xml-spec":
            return layouts.XmlSpec(locations)
        case "markdown":
            return layouts.Markdown(
                None if highlight is None else clean_line(highlight),
                None if role is None else clean_line(role),
            )
        case "json":
            return layouts.JsonList()
