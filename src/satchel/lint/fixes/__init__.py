"""Every fixer, in the order in which they are asked: one mistake a file."""

from typing import Final

from satchel.lint.fixes.description_text import description_text
from satchel.lint.fixes.frontmatter import frontmatter
from satchel.lint.fixes.missing_name import missing_name
from satchel.lint.fixes.misspelled_fields import misspelled_fields
from satchel.lint.fixes.name_as_folder import name_as_folder
from satchel.lint.fixes.page import Fixer, Page
from satchel.lint.fixes.unlisted_references import unlisted_references

__all__ = ["FIXABLE", "FIXERS", "Fixer", "Page"]

FIXERS: Final[tuple[Fixer, ...]] = (
    frontmatter,  # the others need one that is YAML
    misspelled_fields,
    description_text,
    missing_name,
    name_as_folder,
    unlisted_references,
)
FIXABLE: Final = frozenset(code for fixer in FIXERS for code in fixer.codes)
"""The codes of findings that may be mended."""
