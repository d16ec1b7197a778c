"""What an author or an operator should know about a pack: a value, no exception.

And the table of codes: what each means, how severe it is, what it says, what to do.
Each code has a file, ``satchel/codes/CODE.md``; see docs/contributing/lint-rule.md.
"""

import os
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, cast

from satchel.errors import SkillError, shown
from satchel.model._lazy_tuple import LazyTuple

if TYPE_CHECKING:
    from importlib.abc import FileLoader
    from zipimport import zipimporter

# The import of pathlib takes longer than that of all values in this room.
# Read through the loader, for the package may be in a zip file.
_FOLDER: Final = os.path.join(os.path.dirname(os.path.dirname(__file__)), "codes")  # noqa: PTH118, PTH120
_FENCE: Final = "---\n"


class CodeEntry(NamedTuple):
    """One code; the default severity is first, the usual sentence has no name."""

    code: str
    severities: tuple[str, ...]
    messages: dict[str, str]
    fixes: dict[str, str]
    page: str


# The head of a page has `severity` (the default first), `message` and `fix`, and
# `message.NAME` for other sentences. An indented line continues the one above. An error
# that is raised has a severity only: its class makes the sentence.
@cache
def code_entry(code: str) -> CodeEntry:
    """Return the entry of a code; `OSError` where the table has none."""
    loader = cast("FileLoader | zipimporter", __spec__.loader)
    text = loader.get_data(os.path.join(_FOLDER, f"{code}.md")).decode()  # noqa: PTH118
    whole = text.replace("\r\n", "\n").removeprefix(_FENCE)
    head, _, page = whole.partition(f"\n{_FENCE}")
    fields: dict[str, str] = {}
    for line in head.replace("\n  ", " ").splitlines():
        key, _, value = line.partition(": ")
        fields[key] = value
    return CodeEntry(
        code,
        tuple(fields["severity"].split(", ")),
        _variants(fields, "message"),
        _variants(fields, "fix"),
        page,
    )


def _variants(fields: dict[str, str], kind: str) -> dict[str, str]:
    return {
        key.removeprefix(kind).removeprefix("."): value
        for key, value in fields.items()
        if key.partition(".")[0] == kind
    }


@cache
def codes() -> tuple[str, ...]:
    """Return every code, sorted."""
    from importlib.resources import files

    pages = files("satchel").joinpath("codes").iterdir()
    return tuple(sorted(page.name[:-3] for page in pages if page.name.endswith(".md")))


Severity = Literal["error", "warning", "note"]
# The most severe first.
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")

# A message has text of packs: in a log it must not move the cursor or begin a line.
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Finding:
    """What was noticed, where, and what to do about it.

    ``error`` means that something was refused, ``warning`` that it was repaired or
    is likely to fail elsewhere, ``note`` that it is worth knowing.

    ``path`` is relative to the pack or the source, as the producer knows it; the
    registry puts the pack's location in front. ``line`` counts from 1; None is the
    whole file. ``before`` and ``after`` are the text that a repair changed.
    """

    code: str
    severity: Severity
    message: str
    path: str = ""
    line: int | None = None
    fix: str = ""
    before: str = ""
    after: str = ""

    @classmethod
    def of(  # noqa: PLR0913 - what a finding has, all but the place by name
        cls,
        code: str,
        path: str = "",
        line: int | None = None,
        /,
        *,
        severity: Severity | None = None,
        sentence: str = "",
        before: str = "",
        after: str = "",
        **values: object,
    ) -> "Finding":
        """Make a finding from the table of codes.

        Args:
            code: A code that has a page in ``satchel/codes``.
            path: Where it was noticed, as in `Finding`.
            line: From 1; None for the whole file.
            severity: Where it is another than the code's default.
            sentence: The name of the sentence, where the code has several.
            before: Text that a repair changed.
            after: What it became.
            values: The values of the placeholders in the sentence and the fix.
        """
        entry = code_entry(code)
        values = shown(values)
        message = entry.messages[sentence].format_map(values)
        fix = entry.fixes.get(sentence, "").format_map(values)
        return cls(
            code,
            severity or cast("Severity", entry.severities[0]),
            _CONTROL.sub(_shown, message),
            path,
            line,
            _CONTROL.sub(_shown, fix),
            before,
            after,
        )

    @classmethod
    def of_error(
        cls, error: SkillError, path: str = "", line: int | None = None, fix: str = ""
    ) -> "Finding":
        """Make a finding of an error that was caught: its code and its sentence."""
        message = _CONTROL.sub(_shown, str(error))
        return cls(error.code, "error", message, path, line, fix)

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line) if part)
        head = f"{place}: " if place else ""
        return f"{head}{self.severity} {self.code}: {self.message}"


def _shown(control: re.Match[str]) -> str:
    return f"<U+{ord(control[0]):04X}>"


def worst(findings: Iterable[Finding]) -> Severity | None:
    severities: Iterable[Severity] = (finding.severity for finding in findings)
    return min(severities, key=SEVERITIES.index, default=None)


def finding_kind(finding: Finding) -> str:
    """Return what a lazy tuple of findings has for an id: its severity and code."""
    return f"{finding.severity} {finding.code}"


def kinds_of(findings: Sequence[Finding]) -> Sequence[str]:
    """Return severity and code of each, and make none."""
    if isinstance(findings, LazyTuple):
        return findings.ids
    return [finding_kind(finding) for finding in findings]


def findings_of(findings: Sequence[Finding], codes: Container[str]) -> list[Finding]:
    """Return the findings of some codes, and make no others."""
    kinds = enumerate(kinds_of(findings))
    return [findings[at] for at, kind in kinds if kind.partition(" ")[2] in codes]


# A folder below the one that was named, in which nothing was looked for.
UNSEARCHED: Final = "unsearched-folder"


def joined_findings(
    before: Sequence[Finding], findings: Sequence[Finding], after: Sequence[Finding]
) -> tuple[Finding, ...]:
    """Return all of them; those of a lazy tuple are made when they are asked for."""
    if not isinstance(findings, LazyTuple):
        return (*before, *findings, *after)
    first, end = len(before), len(before) + len(findings)

    def make(start: int, stop: int) -> Iterator[Finding]:
        yield from before[start:stop]
        yield from findings[max(0, start - first) : max(0, min(stop, end) - first)]
        yield from after[max(0, start - end) : max(0, stop - end)]

    ids = (*kinds_of(before), *findings.ids, *kinds_of(after))
    return LazyTuple(ids, make)
