"""What changed between two texts, by lines, within a bound on the work."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate
from typing import Final

# Pairs of lines that are looked at: a second or two.
_STEPS: Final = 10_000_000
# Lines of the second text from which on some are passed by (`autojunk`).
_MANY: Final = 200
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")


# The time of the standard library grows with the square of the length, for some texts
# with the cube: a pack could keep a comparison busy for days.
class LineMatcher(SequenceMatcher[str]):
    """The standard library's, but that it stops looking once it has looked enough."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        super().__init__(None, old, new)
        self._left = _STEPS
        self._old, self._new = old, new
        # A line costs itself, and each place where the other text has it too, but for
        # those that the standard library passes by: more than 1 in 100 lines are it.
        most = len(new) // 100 + 1 if len(new) >= _MANY else len(new)
        places = {line: n for line, n in Counter(new).items() if n <= most}
        costs = (1 + places.get(line, 0) for line in old)
        self._costs = [0, *accumulate(costs)]

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        """Return what two ranges share; what their ends share once it is enough."""
        old_end = len(self._old) if ahi is None else ahi
        new_end = len(self._new) if bhi is None else bhi
        # Subtracted before the search, so that no single call exceeds the bound.
        self._left -= self._costs[old_end] - self._costs[alo]
        if self._left < 0:
            return self._edge(alo, old_end, blo, new_end)
        return super().find_longest_match(alo, old_end, blo, new_end)

    def _edge(self, old_at: int, old_end: int, new_at: int, new_end: int) -> Match:
        """Return what two ranges begin with alike, else what they end with."""
        old, new = self._old, self._new
        most = min(old_end - old_at, new_end - new_at)
        size = 0
        while size < most and old[old_at + size] == new[new_at + size]:
            size += 1
        if size:
            return Match(old_at, new_at, size)
        while size < most and old[old_end - size - 1] == new[new_end - size - 1]:
            size += 1
        return Match(old_end - size, new_end - size, size)


def unified_lines(old: str, new: str, context: int = 3) -> Iterator[str]:
    """Yield the lines of a unified diff, without its head and without line ends."""
    before, after = _LINE.findall(old), _LINE.findall(new)
    for group in LineMatcher(before, after).get_grouped_opcodes(context):
        first, last = group[0], group[-1]
        yield f"@@ -{_span(first[1], last[2])} +{_span(first[3], last[4])} @@"
        for tag, old_at, old_end, new_at, new_end in group:
            if tag == "equal":
                yield from _marked(" ", before[old_at:old_end])
                continue
            yield from _marked("-", before[old_at:old_end])
            yield from _marked("+", after[new_at:new_end])


def _span(begin: int, end: int) -> str:
    """Return lines as a hunk names them: from 1, and the one before where none is."""
    count = end - begin
    return str(begin + 1) if count == 1 else f"{begin + (count > 0)},{count}"


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"
