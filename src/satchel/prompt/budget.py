"""Fit a section into a number of tokens, in stages, and say what it cost.

1. Everything in full.
2. Descriptions cut to one common length, about the longest that fits.
3. Names only.
4. The first names by order, and one line that counts the rest.

Each stage keeps the frame of the section and an element for each skill it lists.
Where not even the frame fits, one line tells the number of skills.
"""

from dataclasses import dataclass
from typing import Final

from satchel.model import Finding, Rendered
from satchel.prompt.layout import Layout
from satchel.prompt.shorten import shorten
from satchel.protocols import TokenCounter

__all__ = ["Lines", "fit"]

SHORTEST_CHARS: Final = 20
"""A description is not cut below this: C09's least for one that says anything."""

CLOSE_ENOUGH: Final = 0.98
"""A section this near to its budget is not tried any longer, to save time."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The skills of a section, side by side: ids, ids as shown, descriptions."""

    ids: tuple[str, ...]
    shown: list[str]
    descriptions: list[str]


def fit(
    layout: Layout,
    lines: Lines,
    *,
    budget_tokens: int | None,
    counter: TokenCounter,
    find_tool: str | None,
) -> Rendered:
    """Return the section in its first stage that is within ``budget_tokens``.

    Only the last resort, a line with the number of skills, may exceed the budget; the
    value's ``tokens`` tells.
    """
    whole = list(map(layout.entry, lines.shown, lines.descriptions))
    text = layout.section(whole, "")
    tokens = counter.count(text)
    if budget_tokens is None or tokens <= budget_tokens:
        return Rendered(text, tokens, counter.name, budget_tokens)
    fitting = _Fitting(layout, lines, budget_tokens, counter, find_tool)
    return fitting.degrade(whole)


@dataclass(frozen=True, slots=True)
class _Fitting:
    """One section on its way into its budget."""

    layout: Layout
    lines: Lines
    budget: int
    counter: TokenCounter
    find_tool: str | None

    def degrade(self, whole: list[str]) -> Rendered:
        """Return the second stage, or the third, or the fourth."""
        ids = self.lines.ids
        names = [self.layout.entry(shown, None) for shown in self.lines.shown]
        note = f"Only names are listed{self._hint('search the descriptions')}"
        text = self.layout.section(names, note)
        if not self._fits(text):
            return self._first_names(names)
        return self._shortened(whole) or self._rendered(text, names_only=ids)

    def _shortened(self, whole: list[str]) -> Rendered | None:
        """Return the section with descriptions cut as little as possible, or None."""
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
        for index, description in enumerate(self.lines.descriptions):
            if len(description) > limit:
                shown = self.lines.shown[index]
                entries[index] = self.layout.entry(shown, shorten(description, limit))
                ids.append(self.lines.ids[index])
        count = _count(len(ids), "description is", "descriptions are")
        note = f"{count} cut short{self._hint('search them whole')}"
        return tuple(ids), self.layout.section(entries, note)

    def _first_names(self, names: list[str]) -> Rendered:
        """Return the section with as many names as fit, or the line that counts all."""
        ids = self.lines.ids
        if not self._fits(self._names(names, 0)):
            count = _count(len(ids), "skill is", "skills are")
            note = f"{count} available and not listed{self._hint('find one')}"
            return self._rendered(self.layout.bare(note), left_out=ids)
        low, high = 0, len(names) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self._fits(self._names(names, middle)):
                low = middle
            else:
                high = middle - 1
        text = self._names(names, low)
        return self._rendered(text, names_only=ids[:low], left_out=ids[low:])

    def _names(self, names: list[str], listed: int) -> str:
        count = _count(len(names) - listed, "more skill is", "more skills are")
        note = f"{count} not listed{self._hint('find one')}"
        return self.layout.section(names[:listed], note)

    def _hint(self, purpose: str) -> str:
        if self.find_tool is None:
            return "."
        return f"; to {purpose}, call {self.find_tool} with a few words of the task."

    def _fits(self, text: str) -> bool:
        return self.counter.count(text) <= self.budget

    def _rendered(self, text: str, **ids: tuple[str, ...]) -> Rendered:
        done = ", ".join(
            f"{len(some)} {stage.replace('_', ' ')}"
            for stage, some in ids.items()
            if some
        )
        finding = Finding(
            "over-budget",
            "warning",
            f"{len(self.lines.ids)} skills do not fit {self.budget} tokens: {done}",
            fix="raise the budget, shorten descriptions, or take fewer sources",
        )
        return Rendered(
            text,
            self.counter.count(text),
            self.counter.name,
            self.budget,
            findings=(finding,),
            **ids,
        )


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
