"""A SKILL.md with nothing after its frontmatter."""

from collections.abc import Iterator

from satchel.lint._context import LintContext, body, rule
from satchel.model import SKILL_FILE, Finding


@rule("empty-body")
def empty_body(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning where loading the skill gives nothing to follow."""
    if pack.text.strip() and not body(pack).text.strip():
        yield Finding.of("empty-body", SKILL_FILE)
