"""Render a catalog as the section of a system prompt, within a token budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from satchel.errors import SkillNotFoundError
from satchel.model import Descriptor, Finding, Rendered, SkillGroup, Style
from satchel.prompt._formats import (
    JsonList,
    Layout,
    Lean,
    Markdown,
    XmlId,
    XmlSpec,
    shorten,
)
from satchel.protocols import CatalogView, TokenCounter
from satchel.text import EstimateCounter, clean_line, plural

# A description is not cut below this: a shorter one says nothing.
SHORTEST_CHARS: Final = 20

# A section this near to its budget is not tried any longer, to save time.
CLOSE_ENOUGH: Final = 0.98


@dataclass(frozen=True, slots=True)
class SkillLines:
    """The skills of a section, side by side: ids, ids as shown, descriptions.

    ``featured`` are the ids that come first where not all have room.
    """

    entries: Sequence[Descriptor]
    featured: Sequence[str]
    ids: tuple[str, ...]
    shown: list[str]
    descriptions: list[str]


def fit_budget(
    layout: Layout,
    lines: SkillLines,
    *,
    budget_tokens: int | None,
    counter: TokenCounter,
    find_tool: str | None,
) -> Rendered:
    """Return the section in its first stage that is within ``budget_tokens``.

    Only the last resort, a line with the number of skills, may exceed the budget; the
    value's ``tokens`` shows it.
    """
    whole = list(map(layout.entry, lines.shown, lines.descriptions))
    text = layout.section(whole, "")
    tokens = counter.count(text)
    if budget_tokens is None or tokens <= budget_tokens:
        return Rendered(text, tokens, counter.name, budget_tokens)
    fitting = _BudgetFit(layout, lines, budget_tokens, counter, find_tool)
    return fitting.degrade(whole)


@dataclass(frozen=True, slots=True)
class _BudgetFit:
    """One section on its way into its budget."""

    layout: Layout
    lines: SkillLines
    budget: int
    counter: TokenCounter
    find_tool: str | None

    def degrade(self, whole: list[str]) -> Rendered:
        """Return the second stage, or the third, or the fourth."""
        ids, featured = self.lines.ids, set(self.lines.featured)
        # Names first, the cheap question: where they do not fit, no cut can.
        names = [
            line if id in featured else self.layout.entry(shown, None)
            for id, shown, line in zip(ids, self.lines.shown, whole, strict=True)
        ]
        note = f"Only names are listed{self._hint('search the descriptions')}"
        text = self.layout.section(names, note)
        if not self._fits(text):
            if isinstance(self.layout, Lean):
                return self._overview(self.layout, whole)
            return self._first_names(names)
        shortened = self._shortened(whole)
        bare = tuple(id for id in ids if id not in featured)
        return shortened or self._rendered(text, names_only=bare)

    def _overview(self, layout: Lean, whole: list[str]) -> Rendered:
        """Return where to search, the featured skills, and a map of the library."""
        # Only a library that is too large needs it.
        from satchel.prompt._overview import group, group_lines

        ids = self.lines.ids
        lines = dict(zip(ids, whole, strict=True))
        featured = [id for id in dict.fromkeys(self.lines.featured) if id in lines]
        groups = group(self.lines.entries)
        words = sum(one.kind == "word" for one in groups)
        count = f"{plural(len(ids), 'skill')} {'is' if len(ids) == 1 else 'are'}"
        note = f"{count} available, too many to list{self._hint('find one', ' first')}"
        # Words go first, which are many; the last to go are featured skills.
        rows = len(featured)
        while True:
            for fewer in (0, words // 2, words, len(groups)):
                part = groups[: len(groups) - fewer]
                shown = [lines[id] for id in featured[:rows]]
                text = layout.overview(shown, note, group_lines(part, len(ids)))
                if self._fits(text):
                    left = tuple(id for id in ids if id not in featured[:rows])
                    return self._rendered(text, groups=part, left_out=left)
            if not rows:
                return self._counted_only()
            rows //= 2

    def _shortened(self, whole: list[str]) -> Rendered | None:
        """Return the section with descriptions cut as little as possible, or None."""
        # By halves, since each try counts the tokens of the whole section.
        best = None
        low = SHORTEST_CHARS
        high = max(map(len, self.lines.descriptions))
        while low < high:
            # The first try is the shortest: where it fails, none can succeed.
            limit = low if best is None else (low + high) // 2
            ids, text = self._cut(whole, limit)
            tokens = self.counter.count(text)
            if tokens <= self.budget:
                best = ids, text
                low = limit + 1
                if tokens >= self.budget * CLOSE_ENOUGH:
                    break
            elif best is None:
                return None
            else:
                high = limit
        return best and self._rendered(best[1], shortened=best[0])

    def _cut(self, whole: list[str], limit: int) -> tuple[tuple[str, ...], str]:
        entries = list(whole)
        ids: list[str] = []
        featured = set(self.lines.featured)
        for index, description in enumerate(self.lines.descriptions):
            if len(description) > limit and self.lines.ids[index] not in featured:
                shown = self.lines.shown[index]
                entries[index] = self.layout.entry(shown, shorten(description, limit))
                ids.append(self.lines.ids[index])
        count = _counted(len(ids), "description is", "descriptions are")
        note = f"{count} cut short{self._hint('search them whole')}"
        return tuple(ids), self.layout.section(entries, note)

    def _first_names(self, names: list[str]) -> Rendered:
        """Return the section with as many names as fit, or the line that counts all."""
        ids = self.lines.ids
        if not self._fits(self._names(names, 0)):
            return self._counted_only()
        # Counters of real models are slow: a dozen counts for a thousand names.
        low, high = 0, len(names) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self._fits(self._names(names, middle)):
                low = middle
            else:
                high = middle - 1
        text = self._names(names, low)
        return self._rendered(text, names_only=ids[:low], left_out=ids[low:])

    def _counted_only(self) -> Rendered:
        ids = self.lines.ids
        count = _counted(len(ids), "skill is", "skills are")
        note = f"{count} available and not listed{self._hint('find one')}"
        return self._rendered(self.layout.bare(note), left_out=ids)

    def _names(self, names: list[str], listed: int) -> str:
        count = _counted(len(names) - listed, "more skill is", "more skills are")
        note = f"{count} not listed{self._hint('find one')}"
        return self.layout.section(names[:listed], note)

    def _hint(self, purpose: str, when: str = "") -> str:
        if self.find_tool is None:
            return "."
        tool = f"{self.find_tool}{when}"
        return f"; to {purpose}, call {tool} with a few words of the task."

    def _fits(self, text: str) -> bool:
        return self.counter.count(text) <= self.budget

    def _rendered(
        self,
        text: str,
        *,
        groups: tuple[SkillGroup, ...] = (),
        **ids: tuple[str, ...],
    ) -> Rendered:
        stages = ((stage.replace("_", " "), some) for stage, some in ids.items())
        done = ", ".join(f"{len(some)} {stage}" for stage, some in stages if some)
        finding = Finding.of(
            "over-budget", count=len(self.lines.ids), budget=self.budget, done=done
        )
        return Rendered(
            text,
            self.counter.count(text),
            self.counter.name,
            self.budget,
            findings=(finding,),
            groups=groups,
            **ids,
        )


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


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
        budget_tokens: At most this many: descriptions are cut first, then names
            only are listed, then the first names, in the format ``lean`` a map of
            the library; None is no limit.
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
    return fit_budget(
        _layout(format, style, locations, first, role),
        SkillLines(
            entries,
            featured,
            tuple(entry.id for entry in entries),
            [clean_line(entry.id) for entry in entries],
            [clean_line(entry.description) for entry in entries],
        ),
        budget_tokens=budget_tokens,
        counter=counter,
        find_tool=find_tool,
    )


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
    match format or ("lean" if style == "lean" else "xml-id"):
        case "lean":
            return Lean(style)
        case "xml-id":
            return XmlId(style)
        case "xml-spec":
            return XmlSpec(locations)
        case "markdown":
            return Markdown(
                None if highlight is None else clean_line(highlight),
                None if role is None else clean_line(role),
            )
        case "json":
            return JsonList()
