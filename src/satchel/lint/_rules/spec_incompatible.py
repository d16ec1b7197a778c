"""Fields of a dialect that keep a manifest from being valid elsewhere."""

from collections.abc import Iterator

from satchel.lint._context import LintContext, rule
from satchel.model import SKILL_FILE, Finding
from satchel.skill_md import SPEC_FIELDS, to_spec


@rule("spec-incompatible")
def spec_incompatible(pack: LintContext) -> Iterator[Finding]:
    """Yield one note where a conversion would make the fields valid."""
    written = pack.manifest.frontmatter
    # Where profile `strict` was chosen, its fields are there on purpose.
    chosen = pack.profile == "strict" and not pack.by_dialect
    if chosen or written.keys() <= SPEC_FIELDS:
        return
    # Fields that a conversion moves into metadata; any other keeps the pack invalid.
    moved = [field for field in written if field not in to_spec(written)]
    others = [field for field in written if field not in {*SPEC_FIELDS, *moved}]
    if moved and not others:
        yield Finding.of(
            "spec-incompatible",
            SKILL_FILE,
            pack.line_of(moved[0]),
            fields=", ".join(moved),
        )
