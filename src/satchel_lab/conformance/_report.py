"""What came of a loader's trial, and how it is written down."""

import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files as resources
from typing import Any, Final, NamedTuple

from satchel.text import first_names


class Flaw(NamedTuple):
    """A way in which a loader fails a pack: its verdict, what it is, and the fix."""

    verdict: str
    what: str
    fix: str


_TEXTS: Final = resources(__package__ or "").joinpath("flaws.toml")
FLAWS: Final = {
    key: Flaw(**texts)
    for key, texts in tomllib.loads(_TEXTS.read_text("utf-8")).items()
}
"""By key, worst first."""

CONTRACT: Final = "contract"
"""The verdict on a runtime; the others are on loaders."""
VERDICTS: Final = tuple(dict.fromkeys(flaw.verdict for flaw in FLAWS.values()))
_EXAMPLES: Final = 5
_NAMED: Final = 12
_CELL_CHARS: Final = 100
_SHOWN_LINES: Final = 12
_SHOWN_CHARS: Final = 400


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What a loader did with one pack; ``flaw`` is a key of `FLAWS`, empty for none.

    ``text`` is the beginning of its SKILL.md.
    """

    name: str
    about: str
    flaw: str
    detail: str = ""
    where: str = ""
    text: str = ""
    size_bytes: int = 0

    @property
    def verdict(self) -> str:
        """``passed``, or how it failed."""
        return FLAWS[self.flaw].verdict if self.flaw else "passed"

    def __str__(self) -> str:
        """Return it as one line."""
        detail = f" ({self.detail})" if self.detail else ""
        what = f"{FLAWS[self.flaw].what}{detail}" if self.flaw else "passed"
        return f"{self.name}: {self.about}: {what}"


@dataclass(frozen=True, slots=True)
class FlawGroup:
    """The packs that fail for one cause; the first one is the smallest."""

    flaw: Flaw
    results: tuple[CaseResult, ...]

    @property
    def examples(self) -> tuple[CaseResult, ...]:
        """The smallest pack for each error and line, those of most packs first."""
        counts = Counter(map(_error, self.results))
        first = {_error(result): result for result in reversed(self.results)}
        errors = [error for error, _ in counts.most_common(_EXAMPLES)]
        return tuple(first[error] for error in errors)

    def count(self, result: CaseResult) -> int:
        """How many packs end with the error of this one, on the same line."""
        return sum(_error(other) == _error(result) for other in self.results)


@dataclass(frozen=True, slots=True)
class LoaderReport:
    """All of it. ``version`` is empty where the loader is no installed package.

    ``alone`` is, by pack, what the loader did with it in a folder of its own.
    """

    target: str
    version: str
    results: tuple[CaseResult, ...]
    shows_prompt: bool = False
    alone: Mapping[str, str] = field(default_factory=dict[str, str])
    label: str = "skills loader"

    @property
    def passed(self) -> int:
        """How many packs it passed."""
        return sum(not result.flaw for result in self.results)

    @property
    def score(self) -> str:
        """How many of how many."""
        return f"{self.passed}/{len(self.results)}"

    @property
    def counts(self) -> dict[str, int]:
        """How many packs by verdict, worst first, without those that nothing has."""
        counts = Counter(result.verdict for result in self.results if result.flaw)
        return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}

    @property
    def groups(self) -> tuple[FlawGroup, ...]:
        """What is wrong, by cause, worst first."""
        causes: dict[str, list[CaseResult]] = {}
        for result in self.results:
            if result.flaw:
                causes.setdefault(result.flaw, []).append(result)
        return tuple(
            FlawGroup(flaw, tuple(sorted(causes[key], key=_size)))
            for key, flaw in FLAWS.items()
            if key in causes
        )

    def to_text(self) -> str:
        """Return it for a terminal."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.target} {f'({self.version}) ' if self.version else ''}".rstrip()
        for group in self.groups:
            yield ""
            yield f"{group.flaw.verdict}: {group.flaw.what}: {_packs(group)}"
            for shown in group.examples:
                yield f"  {shown.name}: {shown.about}"
                if shown.detail:
                    place = f" at {shown.where}" if shown.where else ""
                    yield f"    {_plain(shown.detail)}{place} ({group.count(shown)})"
                if alone := self.alone.get(shown.name):
                    yield f"    alone: {_plain(alone)}"
            yield f"  fix: {group.flaw.fix}"
        yield ""
        yield f"{self.score} passed{self._rest()}"

    def _rest(self) -> str:
        counts = "".join(f", {n} {verdict}" for verdict, n in self.counts.items())
        return counts + ("" if self.shows_prompt else "; no prompt was looked at")

    def to_markdown(self, *, title: str = "", level: int = 1) -> str:
        """Return it for a page, with the smallest pack of each cause."""
        title = title or self.version or self.target
        parts = [f"{'#' * level} {title}: {self.score}", ""]
        parts += [f"`{self.target}` passed {self.passed} of {len(self.results)}"]
        parts[-1] += f"{self._rest()}."
        for group in self.groups:
            flaw, shown = group.flaw, group.results[0]
            heading = f"{flaw.verdict}: {flaw.what} ({_packs(group)})"
            parts += ["", f"{'#' * (level + 1)} {heading}", ""]
            parts += [f"The smallest is `{shown.name}`: {shown.about}.", ""]
            parts += _block(shown)
            if alone := self.alone.get(shown.name):
                parts += [f"Alone in a folder: {_plain(alone).rstrip('.')}.", ""]
            parts += _errors(group)
            parts += [f"**Fix:** {flaw.fix}.", ""]
            parts += _others(group)
        return "\n".join(parts).rstrip() + "\n"

    def to_json(self) -> str:
        """Return it for programs, by pack."""
        data: dict[str, Any] = {
            "loader": self.target,
            "version": self.version,
            "passed": self.passed,
            "packs": len(self.results),
            "shows_prompt": self.shows_prompt,
            "counts": self.counts,
            # A badge service reads these four.
            "schemaVersion": 1,
            "label": self.label,
            "message": self.score,
            "color": self._color(),
            "results": [
                {
                    "pack": result.name,
                    "verdict": result.verdict,
                    "flaw": result.flaw,
                    "detail": result.detail,
                    "where": result.where,
                }
                for result in self.results
            ],
        }
        return json.dumps(data, indent=1) + "\n"

    def to_svg(self) -> str:
        """Return a badge."""
        left, right = 7 * len(self.label) + 10, 7 * len(self.score) + 10
        color = _COLORS[self._color()]
        return _SVG.format(
            label=self.label,
            score=self.score,
            width=left + right,
            left=left,
            right=right,
            color=color,
            first=left / 2,
            second=left + right / 2,
        )

    def _color(self) -> str:
        if {"breaks-neighbours", "hangs", "leaks", CONTRACT} & {*self.counts}:
            return "red"
        return "yellow" if self.counts else "brightgreen"


_COLORS: Final = {"red": "#b32", "yellow": "#a80", "brightgreen": "#283"}
_SVG: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" \
aria-label="{label}: {score}">
<rect width="{left}" height="20" fill="#555"/>
<rect x="{left}" width="{right}" height="20" fill="{color}"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,sans-serif" font-size="11">
<text x="{first}" y="14">{label}</text>
<text x="{second}" y="14">{score}</text>
</g>
</svg>
"""


def _packs(group: FlawGroup) -> str:
    count = len(group.results)
    if group.flaw.verdict == CONTRACT:
        return "1 row"
    return f"{count} pack{'s' if count > 1 else ''}"


def _size(result: CaseResult) -> tuple[bool, int, str]:
    # What is one small text shows it best; a tree is never that.
    is_tree = result.name.startswith("tree/") or not result.text.strip()
    return is_tree, result.size_bytes, result.name


def _error(result: CaseResult) -> tuple[str, str]:
    return result.detail.partition(":")[0], result.where


def _errors(group: FlawGroup) -> list[str]:
    """Return what is raised where, as a table; nothing where nothing is raised."""
    rows = [
        f"| {group.count(shown)} | `{shown.name}` | `{_cell(shown.detail)}` "
        f"| {f'`{shown.where}`' if shown.where else ''} |"
        for shown in group.examples
        if shown.detail
    ]
    head = ["| packs | smallest | ends with | at |", "|--:|---|---|---|"]
    return [*head, *rows, ""] if rows else []


def _others(group: FlawGroup) -> list[str]:
    names = [f"`{result.name}`" for result in group.results[1:]]
    if not names:
        return []
    return [f"Also: {first_names(names, _NAMED)}.", ""]


def _cell(text: str) -> str:
    return _plain(text)[:_CELL_CHARS].replace("|", "\\|")


def _plain(text: str) -> str:
    return ascii(text)[1:-1].replace("`", "'").replace("\\\\", "\\")


def _block(result: CaseResult) -> list[str]:
    """Return the pack's text as a block, where it can be shown and is short."""
    lines = result.text.splitlines()[:_SHOWN_LINES]
    text = "\n".join(lines)[:_SHOWN_CHARS]
    if not text.strip():
        return []
    written = "\n".join(ascii(line)[1:-1] for line in text.split("\n"))
    more = ["..."] if len(text) < len(result.text.rstrip()) else []
    return ["````text", written, *more, "````", ""]
