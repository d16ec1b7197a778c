"""Findings drawn from packs that no rule was written on, for people to judge."""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from satchel.text import decode, is_text
from satchel_lab.checking import check
from satchel_lab.lint import LintSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from satchel.model import Finding

MOST: Final = 50
# Lines of the file that are shown on both sides of a finding.
_AROUND: Final = 12
_LONGEST: Final = 300
_DIGEST_CHARS: Final = 16


@dataclass(frozen=True, slots=True)
class DrawnFinding:
    """A finding, and the digest of what it is about: code, message and its line."""

    finding: Finding
    digest: str
    line: str


def draw(
    folder: Path, seed: int, codes: Iterable[str] = ()
) -> dict[str, list[DrawnFinding]]:
    """Return at most `MOST` findings of each code of a rule, by the same seed the same.

    Of one message and line, which copies of a pack share, one is drawn.
    """
    settings = LintSettings(select=frozenset(codes) or None)
    found = check([str(folder)], settings=settings).findings
    by_code: defaultdict[str, dict[str, DrawnFinding]] = defaultdict(dict)
    for finding in found:
        drawn = _drawn(finding)
        by_code[finding.code].setdefault(drawn.digest, drawn)
    chance = random.Random(seed)  # noqa: S311 - the same each time
    result: dict[str, list[DrawnFinding]] = {}
    for code in sorted(by_code):
        pool = [by_code[code][digest] for digest in sorted(by_code[code])]
        result[code] = chance.sample(pool, min(MOST, len(pool)))
    return result


def _drawn(finding: Finding) -> DrawnFinding:
    lines = _lines(Path(finding.path))
    at = (finding.line or 0) - 1
    line = lines[at] if 0 <= at < len(lines) else ""
    what = f"{finding.code}\0{finding.message}\0{line.strip()}"
    data = what.encode("utf-8", "backslashreplace")
    return DrawnFinding(finding, hashlib.sha256(data).hexdigest()[:_DIGEST_CHARS], line)


def _lines(path: Path) -> list[str]:
    data = path.read_bytes() if path.is_file() else b""
    return decode(data).text.split("\n") if data and is_text(data) else []


def page(code: str, drawn: list[DrawnFinding], folder: Path) -> str:
    """Return what a reader judges: numbered findings, each with the text around it."""
    return "\n".join(_page(code, drawn, folder)) + "\n"


def _page(code: str, drawn: list[DrawnFinding], folder: Path) -> Iterator[str]:
    yield f"# {code}: {len(drawn)} findings"
    for number, one in enumerate(drawn, start=1):
        finding = one.finding
        path = Path(finding.path).relative_to(folder)
        yield f"\n## {number}. {one.digest}\n"
        yield f"{finding.severity}, {path}:{finding.line or ''}\n"
        yield f"message: {finding.message}\n\nfix: {finding.fix}\n"
        at = finding.line or 1
        lines = _lines(Path(finding.path))
        for row in range(max(1, at - _AROUND), min(len(lines), at + _AROUND) + 1):
            mark = ">" if row == finding.line else " "
            yield f"    {mark}{row:5} {lines[row - 1][:_LONGEST]}"
