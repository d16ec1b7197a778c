"""A reference that the manifest does not list."""

from collections.abc import Iterator

from satchel.lint._context import LintContext, rule
from satchel.model import SKILL_FILE, Finding


@rule("unlisted-reference")
def unlisted_reference(pack: LintContext) -> Iterator[Finding]:
    """Yield each file below ``references/`` that a closed pack does not list."""
    if not (pack.manifest.declares_files or pack.profile == "strict"):
        return
    listed = frozenset(pack.descriptor.resources)
    line = pack.line_of("references") or pack.line_of("metadata.references")
    for file in pack.descriptor.files:
        if file.path.startswith("references/") and file.path not in listed:
            name = file.path.removeprefix("references/")
            yield Finding.of(
                "unlisted-reference",
                SKILL_FILE,
                line,
                severity="error" if pack.profile == "strict" else "warning",
                path=file.path,
                name=name,
            )
