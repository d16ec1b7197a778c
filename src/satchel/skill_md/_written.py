"""What a SKILL.md says, field by field, whatever its profile and its dialect."""

from typing import NamedTuple

from satchel.model import DEFAULT_LIMITS, Finding, Json, Limits
from satchel.skill_md._frontmatter import find_span
from satchel.skill_md._opening import body_of
from satchel.skill_md._parser import read_frontmatter
from satchel.skill_md._verdict import duplicate_keys
from satchel.skill_md._writer import as_written


class WrittenFrontmatter(NamedTuple):
    """Fields and body of a SKILL.md; a number that JSON would change is its text."""

    fields: dict[str, Json]
    body: bytes
    repairs: tuple[Finding, ...] = ()


def read_as_written(
    data: bytes, limits: Limits = DEFAULT_LIMITS
) -> WrittenFrontmatter | Finding:
    """Return the fields of a SKILL.md, whatever the profile, or why it has none."""
    file = read_frontmatter(data, limits)
    if isinstance(file, Finding):
        return file
    span = find_span(data)
    repairs = file.repairs
    if file.tree.duplicates:
        repairs += duplicate_keys(file)
    if span is None or repairs:
        text = data.decode("utf-8", "surrogateescape")
        body = body_of(text).encode("utf-8", "surrogateescape")
    else:
        body = data[span.body :]
    return WrittenFrontmatter(as_written(file.tree), body, repairs)
