"""Numbers and booleans where `metadata` expects text."""

from collections.abc import Iterator, Mapping

from satchel.lint._context import LintContext, rule
from satchel.model import Finding


@rule("metadata-not-text")
def metadata_scalars(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning on each value that YAML reads as a number or a boolean."""
    # agentskills.io/specification: "a map from string keys to string values". The
    # profile reports lists and mappings.
    written = pack.manifest.frontmatter.get("metadata")
    if not isinstance(written, Mapping):
        return
    for key, value in written.items():
        if isinstance(value, int | float):
            kind = "true or false" if isinstance(value, bool) else "a number"
            yield pack.finding_at("metadata-not-text", "metadata", key=key, kind=kind)
