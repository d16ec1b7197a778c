"""A description that YAML cuts at `` #``."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, rule
from satchel.model import SKILL_FILE, Finding

_PLAIN: Final = re.compile(
    r"^description:[ \t]+(?![\"'>|&*!\[{%@`#])([^\n]*(?:\n[ \t]+[^\n]*)*)", re.MULTILINE
)
_COMMENT: Final = re.compile(r"[ \t](#[^\n]*)")


@rule("description-comment-cut")
def description_comment_cut(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning where a description without quotes contains a space and ``#``."""
    # A comment begins there: every YAML parser drops the rest of the line silently.
    line = pack.line_of("description")
    if line is None or " #" not in pack.text:
        return
    match = _PLAIN.search(pack.text)
    cut = _COMMENT.search(match[0]) if match else None
    if match is None or cut is None or cut[1].rstrip() in pack.manifest.description:
        return
    yield Finding.of(
        "description-comment-cut",
        SKILL_FILE,
        line + match[0].count("\n", 0, cut.start()),
        rest=_shown(cut[1]),
    )


def _shown(text: str, chars: int = 40) -> str:
    text = text.rstrip()
    return repr(text if len(text) <= chars else f"{text[:chars]}...")
