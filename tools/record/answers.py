"""What an answer is: text or JSON, free of this machine and of this moment."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_TIMES: Final = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(?:Z|\+00:00)")
_SECONDS: Final = re.compile(r"\b\d+(?:\.\d+)? (?:s|ms|seconds)\b")
MOST: Final = 20_000
"""Characters of an answer that are kept; of more, the beginning and a digest."""
_KEPT: Final = 2_000


@dataclass(frozen=True, slots=True)
class Answer:
    """One question, by a name that stays, and what came back."""

    case: str
    result: str


def answer(case: str, result: object, home: Path) -> Answer:
    """Return an answer in which ``home``, this Python and times are placeholders.

    Anything but text becomes JSON with sorted keys.
    """
    if not isinstance(result, str):
        result = json.dumps(result, sort_keys=True, ensure_ascii=False, default=str)
    for path in {str(home.resolve()), str(home)}:
        result = result.replace(path, "<home>")
    result = result.replace(sys.executable, "<python>")
    result = _TIMES.sub("<time>", result)
    return Answer(case, _SECONDS.sub("<duration>", result))


def shortened(given: Answer) -> Answer:
    """Return an answer that is not too long for the record, and still differs."""
    text = given.result
    if len(text) <= MOST:
        return given
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Answer(
        given.case, f"{text[:_KEPT]}\n... {len(text):,} characters, sha256 {digest}"
    )
