"""Render a catalog as the section of a system prompt, within a token budget."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final, Literal

from satchel.errors import SkillNotFoundError
from satchel.model import Descriptor, Finding, LazyTuple, Rendered, SkillGroup, Style
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

# What words leave, so that some skills that fit a message have room behind them: a
# share, and so many tokens, but never more than a quarter. What ids may take, where not
# all have room. A list of some has half of them at least, and not only a
# few: less leads nowhere, and a map says more.
FOR_MATCHES: Final = 0.03
MATCH_TOKENS: Final = 60
FOR_IDS: Final = 0.85
FEWEST: Final = 100
# From so many on, half of the ids have more tokens than a note behind a list.
MANY: Final = 1_000

# A section this near to its budget is not tried any longer, to save time.
CLOSE_ENOUGH: Final = 0.98


@dataclass(frozen=True)
class SkillLines:
    """The skills of a section, side by side: ids, ids as shown, descriptions.

    ``featured`` are the ids that come first where not all have room.
    """

    entries: Sequence[Descriptor]
    featured: Sequence[str]

    @cached_property
    def ids(self) -> tuple[str, ...]:
        entries = self.entries
        if isinstance(entries, LazyTuple):  # not one is read for its id
            return tuple(entries.ids)
        return tuple(entry.id for entry in entries)

    @cached_property
    def shown(self) -> list[str]:
        return list(map(clean_line, self.ids))

    @cached_property
    def descriptions(self) -> list[str]:
        return [clean_line(entry.description) for entry in self.entries]


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
    fitting = None
    if budget_tokens is not None:
        fitting = _BudgetFit(layout, lines, budget_tokens, counter, find_tool)
        if isinstance(layout, Lean) and fitting.is_hopeless():
            return fitting.overview(layout)
    whole = list(map(layout.entry, lines.shown, lines.descriptions))
    text = layout.section(whole, "")
    tokens = counter.count(text)
    if fitting is None or tokens <= fitting.budget:
        return Rendered(text, tokens, counter.name, budget_tokens)
    return fitting.degrade(whole)


@dataclass(frozen=True, slots=True)
class _BudgetFit:
    """One section on its way into its budget."""

    layout: Layout
    lines: SkillLines
    budget: int
    counter: TokenCounter
    find_tool: str | None

    def is_hopeless(self) -> bool:
        """Tell whether so many skills have no room even for half of their ids.

        Then nothing but those that are featured is read.
        """
        if len(self.lines.ids) < MANY:
            return False
        half = sorted(self.lines.shown, key=len)[: len(self.lines.ids) // 2]
        entries = [self.layout.entry(shown, None) for shown in half]
        return not self._fits(self.layout.section(entries, ""))

    def degrade(self, whole: list[str]) -> Rendered:
        """Return the second stage, or the third, or the fourth."""
        ids, featured = self.lines.ids, set(self.lines.featured)
        if isinstance(self.layout, Lean):
            return self._telling(whole) or self.overview(self.layout)
        # Names first, the cheap question: where they do not fit, no cut can.
        names = [
            line if id in featured else self.layout.entry(shown, None)
            for id, shown, line in zip(ids, self.lines.shown, whole, strict=True)
        ]
        note = f"Only names are listed{self._hint('search the descriptions')}"
        text = self.layout.section(names, note)
        if not self._fits(text):
            return self._first_names(names)
        shortened = self._shortened(whole)
        bare = tuple(id for id in ids if id not in featured)
        return shortened or self._rendered(text, names_only=bare)

    def _telling(self, whole: list[str]) -> Rendered | None:
        """Return ids and the words that tell them apart; None where too few fit."""
        lines, places = self.lines, {id: at for at, id in enumerate(self.lines.ids)}
        first = [places[id] for id in dict.fromkeys(lines.featured) if id in places]
        # The shortest ids, so that most have room.
        others = sorted({*places.values()}.difference(first))
        others.sort(key=lambda at: len(lines.shown[at]))

        def listing(count: int, texts: Mapping[int, str]) -> Rendered:
            entries, cut, bare = [whole[at] for at in first], list[str](), list[str]()
            for at in sorted(others[:count]):
                text = texts.get(at, "")
                if text == lines.descriptions[at]:
                    entries.append(whole[at])
                    continue
                entries.append(self.layout.entry(lines.shown[at], text or None))
                (cut if text else bare).append(lines.ids[at])
            left = len(others) - count
            note = self._told(len(first), len(cut), len(bare), left)
            return self._rendered(
                self.layout.section(entries, note),
                shortened=tuple(cut),
                names_only=tuple(bare),
                left_out=tuple(lines.ids[at] for at in sorted(others[count:])),
            )

        def has_room(count: int, share: float = FOR_IDS) -> bool:
            return listing(count, {}).tokens <= share * self.budget

        count = len(others)
        if not has_room(count // 2, 1):  # the cheap question first
            return None
        if not has_room(count, 1):
            count = _most(count, has_room)
        if count < len(others) and count < max(FEWEST, len(others) // 2):
            return None
        # Only a library that is over its budget needs it.
        from satchel.prompt._telling import TellingWords

        telling, listed = TellingWords(lines.shown, lines.descriptions), others[:count]
        order = list(filter({*listed}.__contains__, telling.order))

        def words(number: int) -> Rendered:
            counts = Counter(order[:number])
            return listing(count, {at: telling.text(at, n) for at, n in counts.items()})

        left = max(FOR_MATCHES * self.budget, MATCH_TOKENS)
        room = self.budget - min(left, self.budget / 4)
        return words(_most(len(order), lambda n: words(n).tokens <= room))

    def _told(self, first: int, cut: int, bare: int, left: int) -> str:
        """Return what was done to a list, and how to search all of it."""
        done = [
            f"{_counted(count, *nouns)} {what}"
            for count, what, *nouns in (
                (cut, "cut short to the most distinctive words", *_DESCRIPTIONS),
                (bare, "left out", *(("is", "are") if cut else _DESCRIPTIONS)),
                (left, "not listed", "more skill is", "more skills are"),
            )
            if count
        ]
        hint = self._hint("search them whole", " first" if left else "")
        note = f"{', '.join(done)}{hint}"
        one, many = "skill, pinned or in use, is", "skills, pinned or in use, are"
        return f"{_counted(first, one, many)} first. {note}" if first else note

    def overview(self, layout: Lean) -> Rendered:
        """Return where to search, the featured skills, and a map of the library."""
        # Only a library that is too large needs it.
        from satchel.prompt._overview import group, group_lines

        ids = self.lines.ids
        places = {id: at for at, id in enumerate(ids)}
        lines = {
            id: layout.entry(
                self.lines.shown[places[id]],
                clean_line(self.lines.entries[places[id]].description),
            )
            for id in self.lines.featured
            if id in places
        }
        featured = list(lines)
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
        count = _counted(len(ids), *_DESCRIPTIONS)
        note = f"{count} cut short{self._hint('search them whole')}"
        return tuple(ids), self.layout.section(entries, note)

    def _first_names(self, names: list[str]) -> Rendered:
        """Return the section with as many names as fit, or the line that counts all."""
        ids = self.lines.ids
        if not self._fits(self._names(names, 0)):
            return self._counted_only()
        count = _most(len(ids) - 1, lambda n: self._fits(self._names(names, n)))
        text = self._names(names, count)
        return self._rendered(text, names_only=ids[:count], left_out=ids[count:])

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
        self, text: str, *, groups: tuple[SkillGroup, ...] = (), **ids: tuple[str, ...]
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


def _most(high: int, fits: Callable[[int], bool]) -> int:
    """Return the most that fits, of 0 (which is not tried) to ``high``, by halves."""
    # Counters of real models are slow: a dozen counts for a thousand names.
    return bisect_left(range(high), 1, key=lambda number: not fits(number + 1))


_DESCRIPTIONS: Final = ("description is", "descriptions are")


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
    return fit_budget(
        _layout(format, style, locations, first, role),
        SkillLines(entries, featured),
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
