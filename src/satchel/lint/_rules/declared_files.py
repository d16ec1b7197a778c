"""Declared files that are missing, unsafe, or of a kind that is never listed."""

from collections.abc import Iterator
from dataclasses import replace

from satchel.lint._context import LintContext, rule
from satchel.model import SKILL_FILE, Finding


@rule()
def declared_files(pack: LintContext) -> Iterator[Finding]:
    """Yield the findings on declared files, with the line that declares each."""
    for finding in pack.file_findings:
        # Each message begins with the field that it is about.
        field = finding.message.partition(" ")[0]
        line = pack.line_of(field) or pack.line_of(f"metadata.{field}")
        yield replace(finding, path=SKILL_FILE, line=line)
