"""A catalog section that does not fit: cut, and listed in part, within its budget."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from satchel.model import Finding, Rendered, SkillGroup
from satchel.prompt._formats import Lean, SkillLines, shorten
from satchel.protocols import TokenCounter
from satchel.text import clean_line, plural

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
# A section this near to its budget is not tried any longer, to save time.
CLOSE_ENOUGH: Final = 0.98


@dataclass(frozen=True, slots=True)
class BudgetFit:
    """One section on its way into its budget."""

    lines: SkillLines
    budget: int
    counter: TokenCounter
    find_tool: str | None

    def is_hopeless(self) -> bool:
        """Tell whether so many skills have no room even for half of their ids.

        Then nothing but those that are featured is read.
        """
        half = sorted(self.lines.shown, key=len)[: len(self.lines.ids) // 2]
        entries = [self.lines.layout.entry(shown, None) for shown in half]
        return not self._fits(self.lines.layout.section(entries, ""))

    def degrade(self) -> Rendered:
        """Return the second stage, or the third, or the fourth."""
        ids, featured = self.lines.ids, set(self.lines.featured)
        if isinstance(self.lines.layout, Lean):
            return self._telling() or self.overview(self.lines.layout)
        # Names first, the cheap question: where they do not fit, no cut can.
        names = [
            line if id in featured else self.lines.layout.entry(shown, None)
            for id, shown, line in zip(
                ids, self.lines.shown, self.lines.whole, strict=True
            )
        ]
        note = f"Only names are listed{self._hint('search the descriptions')}"
        text = self.lines.layout.section(names, note)
        if not self._fits(text):
            return self._first_names(names)
        shortened = self._shortened()
        bare = tuple(id for id in ids if id not in featured)
        return shortened or self._rendered(text, names_only=bare)

    def _telling(self) -> Rendered | None:
        """Return ids and the words that tell them apart; None where too few fit."""
        lines, places = self.lines, {id: at for at, id in enumerate(self.lines.ids)}
        first = [places[id] for id in dict.fromkeys(lines.featured) if id in places]
        # The shortest ids, so that most have room.
        others = sorted({*places.values()}.difference(first))
        others.sort(key=lambda at: len(lines.shown[at]))

        def listing(count: int, texts: Mapping[int, str]) -> Rendered:
            entries, cut, bare = (
                [lines.whole[at] for at in first],
                list[str](),
                list[str](),
            )
            for at in sorted(others[:count]):
                text = texts.get(at, "")
                if text == lines.descriptions[at]:
                    entries.append(lines.whole[at])
                    continue
                entries.append(self.lines.layout.entry(lines.shown[at], text or None))
                (cut if text else bare).append(lines.ids[at])
            left = len(others) - count
            note = self._told(len(first), len(cut), len(bare), left)
            return self._rendered(
                self.lines.layout.section(entries, note),
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

    def _shortened(self) -> Rendered | None:
        """Return the section with descriptions cut as little as possible, or None."""
        # By halves, since each try counts the tokens of the whole section.
        best = None
        low = SHORTEST_CHARS
        high = max(map(len, self.lines.descriptions))
        while low < high:
            # The first try is the shortest: where it fails, none can succeed.
            limit = low if best is None else (low + high) // 2
            ids, text = self._cut(limit)
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

    def _cut(self, limit: int) -> tuple[tuple[str, ...], str]:
        entries = list(self.lines.whole)
        ids: list[str] = []
        featured = set(self.lines.featured)
        for index, description in enumerate(self.lines.descriptions):
            if len(description) > limit and self.lines.ids[index] not in featured:
                shown = self.lines.shown[index]
                entries[index] = self.lines.layout.entry(
                    shown, shorten(description, limit)
                )
                ids.append(self.lines.ids[index])
        count = _counted(len(ids), *_DESCRIPTIONS)
        note = f"{count} cut short{self._hint('search them whole')}"
        return tuple(ids), self.lines.layout.section(entries, note)

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
        return self._rendered(self.lines.layout.bare(note), left_out=ids)

    def _names(self, names: list[str], listed: int) -> str:
        count = _counted(len(names) - listed, "more skill is", "more skills are")
        note = f"{count} not listed{self._hint('find one')}"
        return self.lines.layout.section(names[:listed], note)

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
