"""Manifests of the dialect with fields of its own, as other clients see them (X07)."""

from collections.abc import Iterator

from satchel.lint._context import LintContext, rule
from satchel.model import SKILL_FILE, Finding
from satchel.skill_md import SPEC_FIELDS, to_spec


@rule("spec-incompatible")
def spec_incompatible(pack: LintContext) -> Iterator[Finding]:
    """Yield one note where a conversion alone would make the fields spec-valid.

    Nothing in profile ``strict``: whoever asks for it has chosen its fields.
    """
    written = pack.manifest.frontmatter
    chosen = pack.profile == "strict" and not pack.by_dialect
    if chosen or written.keys() <= SPEC_FIELDS:
        return
    moved = [field for field in written if field not in to_spec(written)]
    others = [field for field in written if field not in {*SPEC_FIELDS, *moved}]
    if moved and not others:
        yield Finding.of(
            "spec-incompatible",
            SKILL_FILE,
            pack.line_of(moved[0]),
            fields=", ".join(moved),
        )
