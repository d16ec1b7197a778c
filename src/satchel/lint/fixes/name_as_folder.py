"""A name that is its folder's, but for capitals, blanks or signs."""

from satchel.lint.fixes.page import Page, fixer
from satchel.spec import portable_name
from satchel.spec.correcting import set_entry

__all__ = ["name_as_folder"]


@fixer("name-characters", "name-not-folder", keys=("name",), fields=("name",))
def name_as_folder(page: Page) -> str | None:
    """Write the name as the folder has it: ``PDF Forms`` in ``pdf-forms``."""
    if portable_name(page.manifest.name) != page.folder:
        return None
    return set_entry(page.text, "name", f"name: {page.folder}\n")
