"""Declared files that are missing, unsafe, or of a kind that is never listed (A30)."""

from collections.abc import Iterator
from dataclasses import replace

from satchel.lint._context import LintContext, rule
from satchel.model import SKILL_FILE, Finding


@rule()
def declared_files(pack: LintContext) -> Iterator[Finding]:
    """Yield what is wrong with the declared files, with the line that declares them.

    Each message begins with the field that it is about.
    """
    for finding in pack.told:
        field = finding.message.partition(" ")[0]
        line = pack.line_of(field) or pack.line_of(f"metadata.{field}")
        yield replace(finding, path=SKILL_FILE, line=line)
