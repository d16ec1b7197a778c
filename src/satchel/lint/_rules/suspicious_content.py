"""Hidden characters, and tags of our own envelope, in any file."""

from collections.abc import Iterator

from satchel.errors import SkillError
from satchel.lint._context import LintContext, rule
from satchel.model import SKILL_FILE, Finding
from satchel.text import content_warnings, is_text


@rule("envelope-breakout", "hidden-text")
def suspicious_content(pack: LintContext) -> Iterator[Finding]:
    """Yield the suspicious content of each text file."""
    # A sync looks only at SKILL.md; a check has the time to look at all files.
    for path in (SKILL_FILE, *pack.descriptor.resources):
        try:
            data = pack.read(path)
        except SkillError:  # `readable` reports it
            continue
        if is_text(data):
            yield from content_warnings(data, path)
