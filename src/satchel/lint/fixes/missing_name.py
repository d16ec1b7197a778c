"""A pack without a name: its folder's is used, and may as well be written."""

from satchel.lint.fixes.page import Page, fixer
from satchel.spec import portable_name
from satchel.spec.correcting import set_entry

__all__ = ["missing_name"]


@fixer("missing-name", keys=("name",))
def missing_name(page: Page) -> str | None:
    """Write the folder's name, where it is one that every client takes."""
    if portable_name(page.folder) != page.folder:
        return None
    return set_entry(page.text, "name", f"name: {page.folder}\n", first=True)
