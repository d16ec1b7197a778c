"""Fences out of place, and entries that are no YAML."""

from satchel.lint.fixes.page import Page, fixer
from satchel.spec.correcting import corrected

__all__ = ["frontmatter"]


@fixer(
    "bad-escape",
    "bad-quotes",
    "block-text",
    "control-characters",
    "frontmatter-in-code-block",
    "indentation",
    "kept-as-text",
    "marked-keys",
    "no-closing-fence",
    "no-opening-fence",
    "odd-fence",
    "reserved-character",
    "stray-text",
    "tab-indentation",
    "text-after-closing-fence",
    "text-before-frontmatter",
    "unindented-text",
    "unquoted-colon",
)
def frontmatter(page: Page) -> str | None:
    """Write the frontmatter down the way it was read."""
    return corrected(page.text, page.limits)
