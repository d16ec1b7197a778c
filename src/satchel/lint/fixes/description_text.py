"""A description that YAML takes for a list or a mapping."""

from satchel.lint.fixes.page import Page, fixer
from satchel.spec.correcting import set_entry
from satchel.spec.quoting import quoted

__all__ = ["description_text"]


@fixer("description-not-text", keys=("description",))
def description_text(page: Page) -> str | None:
    """Put the description in quotes, as it is written."""
    line = f"description: {quoted(page.manifest.description)}\n"
    return set_entry(page.text, "description", line)
