"""A SKILL.md with nothing behind its frontmatter (S2)."""

from collections.abc import Iterator

from satchel.lint.context import Context, rule
from satchel.lint.reading import body
from satchel.model import SKILL_FILE, Finding

__all__ = ["empty_body"]


@rule("empty-body")
def empty_body(pack: Context) -> Iterator[Finding]:
    """Yield a warning where loading the skill gives nothing to follow."""
    if pack.text.strip() and not body(pack).text.strip():
        yield Finding(
            "empty-body",
            "warning",
            "nothing stands behind the frontmatter: loading the skill tells nothing",
            SKILL_FILE,
            fix="write the instructions, or take the skill away",
        )
