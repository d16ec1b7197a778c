"""Numbers, switches and dates where `metadata` wants text (S11)."""

from collections.abc import Iterator, Mapping

from satchel.lint._context import LintContext, rule
from satchel.model import SKILL_FILE, Finding


@rule("metadata-not-text")
def metadata_scalars(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning on each value that YAML takes for something else than text.

    What is a list or a mapping is told of by the profile.

    Source: agentskills.io/specification: "a map from string keys to string values".
    """
    written = pack.manifest.frontmatter.get("metadata")
    if not isinstance(written, Mapping):
        return
    for key, value in written.items():
        if isinstance(value, int | float):
            kind = "true or false" if isinstance(value, bool) else "a number"
            yield Finding.of(
                "metadata-not-text",
                SKILL_FILE,
                pack.line_of("metadata"),
                key=key,
                kind=kind,
            )
