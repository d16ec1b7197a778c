"""What an author or an operator should know about a pack: a value, no exception."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, cast

from satchel.errors import SkillError
from satchel.model._codes import code_entry

Severity = Literal["error", "warning", "note"]

# A message has text of packs: in a log it must not move the cursor or begin a line.
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f]")
_RANK: Final = {"error": 0, "warning": 1, "note": 2}


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
    return min(
        (finding.severity for finding in findings), key=_RANK.__getitem__, default=None
    )
