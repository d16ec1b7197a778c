"""Hidden characters, and tags of our own envelope, in any file (E01, X12)."""

from collections.abc import Iterator

from satchel.errors import SkillError
from satchel.lint.context import Context, rule
from satchel.model import SKILL_FILE, Finding
from satchel.text import find_doubts
from satchel.text.decoding import is_text

__all__ = ["doubts"]


@rule("envelope-breakout", "hidden-text")
def doubts(pack: Context) -> Iterator[Finding]:
    """Yield what each file that is text should be doubted for.

    A sync looks at SKILL.md alone; a check has the time to look at all.
    """
    for path in (SKILL_FILE, *pack.descriptor.resources):
        try:
            data = pack.read(path)
        except SkillError:  # `readable` says so
            continue
        if is_text(data):
            yield from find_doubts(data, path)
