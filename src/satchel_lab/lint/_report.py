"""What a check found, as values that the reporters print."""

import hashlib
import posixpath
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from shlex import join
from typing import Final, Literal, NamedTuple, TypeAlias

from satchel.lazy import lazy_pattern
from satchel.model import SEVERITIES, FailOn, Finding, Severity
from satchel.text import count_severities, plural, unsearched_folders


@dataclass(frozen=True, slots=True)
class SkillFix:
    """A file that can be fixed: its bytes before and after, and the codes that go."""

    path: str
    before: bytes
    after: bytes
    codes: frozenset[str]

    @property
    def diff(self) -> str:
        from satchel.text import unified_lines

        before, after = _shown(self.before), _shown(self.after)
        if before == after:
            return ""
        head = (f"--- {self.path}", f"+++ {self.path}")
        return "".join(f"{line}\n" for line in (*head, *unified_lines(before, after)))

    @property
    def changes(self) -> "tuple[LineChange, ...]":
        from satchel.text import LineMatcher

        old = _LINE.findall(self.before.decode())
        new = _LINE.findall(self.after.decode())
        return tuple(
            LineChange(start + 1, end - start, "".join(new[first:last]))
            for what, start, end, first, last in LineMatcher(old, new).get_opcodes()
            if what != "equal"
        )


# A line as findings count it: by LF, not by all line ends of Unicode.
_LINE: Final = lazy_pattern(r"[^\n]*\n|[^\n]+")


class LineChange(NamedTuple):
    """Lines to replace: the first, counted from 1, their number, and the new text."""

    line: int
    lines: int
    text: str


def _shown(data: bytes) -> str:
    return _LINE_END.sub("\n", data.decode())


_LINE_END: Final = lazy_pattern(r"\r+\n")


_OF_DESCRIPTIONS: Final = frozenset(
    [
        *("description-lacks-when", "description-late-point", "description-limits"),
        *("description-lines", "description-markup", "long-description"),
    ]
)
# Code to the codes that are left out on the same line.
# `conflict-marker` leaves them out in its whole file.
COVERED_BY: Final[Mapping[str, frozenset[str]]] = {
    # An unknown field is one that some clients know, or that `convert` moves.
    "unknown-field": frozenset({"client-only-field", "spec-incompatible"}),
    # An invalid name is not the name of the folder either.
    "name-characters": frozenset({"hidden-text", "name-not-folder"}),
    "name-too-long": frozenset({"name-not-folder"}),
    "field-kind": frozenset({"allowed-tools-form"}),
    # A description that is missing or cut is judged when it is whole.
    "left-to-fill-in": _OF_DESCRIPTIONS,
    "description-not-text": _OF_DESCRIPTIONS,
    "description-comment-cut": _OF_DESCRIPTIONS,
    # Both sides of a merge and its marks are not text in any language.
    "conflict-marker": frozenset(
        [
            *("description-markup", "duplicate-key", "json-syntax", "name-characters"),
            *("name-not-folder", "name-too-long", "python-syntax", "shell-syntax"),
            *("stray-text", "unindented-text"),
        ]
    ),
}
_WHOLE_FILE: Final = "conflict-marker"

_Place: TypeAlias = tuple[str, int | None]


def without_repeats(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings in their order, without those that another one covers."""
    # Two passes: what covers a finding may come after it.
    findings = tuple(findings)
    codes: dict[_Place, set[str]] = defaultdict(set)
    for finding in findings:
        place = finding.path, finding.line
        codes[place].add(finding.code)
        if finding.code == _WHOLE_FILE:
            codes[finding.path, None].add(finding.code)
    return tuple(one for one in findings if not _is_covered(one, codes))


def _is_covered(finding: Finding, codes: Mapping[_Place, set[str]]) -> bool:
    here = codes[finding.path, finding.line]
    if _WHOLE_FILE in codes.get((finding.path, None), ()):
        here = here | {_WHOLE_FILE}
    return any(finding.code in COVERED_BY.get(code, ()) for code in here)


Likeness: TypeAlias = Literal["name", "files", "description"]


@dataclass(frozen=True, slots=True, order=True)
class NewExecutable:
    """A file that runs; ``why`` shows it: ``mode``, ``#!``, ``scripts/``, ``.sh``."""

    path: str
    new: bool
    why: str


@dataclass(frozen=True, slots=True, order=True)
class SimilarPacks:
    """Two packs that are similar: one that is new or changed, and another."""

    path: str
    other: str
    likeness: Likeness


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryChange:
    """How a library differs from what it was at ``rev``; paths of packs, sorted."""

    # `review` are new findings of what a reviewer must see, `hidden` those of text that
    # is made to deceive, whatever the settings turn off. `moved` are packs that are the
    # same in another place, from and to. `skills` and `tokens` are those of the
    # catalog section, before and after.

    rev: str
    review: tuple[Finding, ...] = ()
    hidden: tuple[Finding, ...] = ()
    executables: tuple[NewExecutable, ...] = ()
    similar: tuple[SimilarPacks, ...] = ()
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    removed: tuple[str, ...] = ()
    skills: tuple[int, int] = (0, 0)
    tokens: tuple[int, int] = (0, 0)

    @property
    def packs(self) -> str:
        kinds = ("added", "changed", "moved", "removed")
        counts = ((len(getattr(self, kind)), kind) for kind in kinds)
        parts = [f"{count:,} {kind}" for count, kind in counts if count]
        return ", ".join(parts) or "no pack changed"

    @property
    def cost(self) -> str:
        before, after = self.tokens
        return (
            f"{self.skills[0]:,} -> {self.skills[1]:,} skills, "
            f"{before:,} -> {after:,} tokens ({after - before:+,})"
        )


# The version of a report as JSON, which a baseline is.
SCHEMA_VERSION: Final = 1
# Codes that a summary names before it only counts them.
_MAX_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The findings of some packs, by path, line and code.

    ``packs`` counts those that were checked, ``known`` the findings that a baseline
    has, ``turned_off`` those that ``turned_off_by`` turned off (words for people), and
    ``turned_off_in_packs`` those that packs turned off themselves. ``not_run`` are the
    codes of rules that did not run. ``fixes`` are fixes for some of the findings,
    ``change`` is set where a change was checked. ``locations`` are the folders of the
    packs, ``places`` what was checked, as it is printed, ``unsearched`` a note for each
    folder in there in which no packs were looked for.
    """

    packs: int
    findings: tuple[Finding, ...]
    profile: str = "spec"
    known: int = 0
    turned_off: int = 0
    turned_off_by: str = ""
    turned_off_in_packs: int = 0
    not_run: tuple[str, ...] = ()
    fixes: tuple[SkillFix, ...] = ()
    change: LibraryChange | None = None
    locations: frozenset[str] = frozenset()
    places: tuple[str, ...] = ()
    unsearched: tuple[Finding, ...] = ()

    def __str__(self) -> str:
        return "\n".join([*map(str, self.findings), self.summary])

    def count(self, severity: Severity) -> int:
        """Return how many findings are of exactly this severity."""
        return sum(finding.severity == severity for finding in self.findings)

    @property
    def cost(self) -> str:
        """What a changed catalog costs a prompt, and how many packs are not in it."""
        if self.change is None:
            return ""
        unlisted = self.packs - self.change.skills[1]
        typed = join(("satchel", "doctor", *self.places))
        of_all = f"; {unlisted:,} of {plural(self.packs, 'pack')} not listed: {typed}"
        return f"{self.change.cost}{of_all if unlisted > 0 else ''}"

    def fails(self, on: FailOn = "error") -> bool:
        """Tell whether a finding is at least as severe as ``on``."""
        return any_fails(self.findings, on)

    def pack_of(self, finding: Finding) -> str:
        """Return the folder of the pack that a finding is about, or an empty string."""
        place = finding.path
        while place and place not in self.locations:
            place = place.rpartition("/")[0]
        return place

    @property
    def fixable(self) -> int:
        """How many of the findings `satchel check --fix` removes."""
        fixes = self.fix_of_finding()
        return sum((finding.path, finding.code) in fixes for finding in self.findings)

    def fix_of_finding(self) -> dict[tuple[str, str], SkillFix]:
        """Return the fixes by the path and the code of the findings they remove."""
        return {(fix.path, code): fix for fix in self.fixes for code in fix.codes}

    @property
    def summary(self) -> str:
        """One line: how many packs, how many findings, and what is left out."""
        new = "" if self.change is None else "new "
        findings = count_severities(self.findings, new) or f"no {new}findings"
        left_out = ", ".join(self._left_out())
        return (
            f"{plural(self.packs, 'pack')} checked: {findings}"
            f"{f' ({left_out})' if left_out else ''}"
        )

    def _left_out(self) -> list[str]:
        parts: list[str] = []
        if self.known:
            where = "baseline" if self.change is None else "library before"
            parts.append(f"{self.known:,} more in the {where}")
        if self.turned_off:
            parts.append(f"{self.turned_off:,} turned off by {self.turned_off_by}")
        if self.turned_off_in_packs:
            parts.append(f"{self.turned_off_in_packs:,} turned off in the packs")
        if len(self.not_run) > _MAX_NAMED:
            parts.append(f"{len(self.not_run)} codes not looked for")
        elif self.not_run:
            parts.append(f"not looked for: {', '.join(self.not_run)}")
        unsearched = unsearched_folders(self.unsearched)
        return [*parts, unsearched] if unsearched else parts


def fingerprint(finding: Finding) -> str:
    """Return 16 hex digits that stay the same while only the line changes."""
    path = posixpath.normpath(finding.path)
    # No line: an edit above a finding must not make it a new one.
    what = f"{finding.code}\0{path}\0{finding.message}"
    # A path may have lone surrogates, which UTF-8 cannot encode.
    return hashlib.sha256(what.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def any_fails(findings: Iterable[Finding], on: FailOn) -> bool:
    """Tell whether a finding is at least as severe as ``on``."""
    severe = () if on == "never" else SEVERITIES[: SEVERITIES.index(on) + 1]
    return any(finding.severity in severe for finding in findings)
