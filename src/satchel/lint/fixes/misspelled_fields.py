"""Keys that are nearly known ones, renamed to what they are read as."""

import re
from typing import Final

from satchel.lint.fixes.page import Page, fixer
from satchel.spec.correcting import entry_text, set_entry
from satchel.spec.misspelled import Slip, slips_in

__all__ = ["misspelled_fields"]

_METADATA: Final = "metadata"


@fixer("misspelled-field", "unknown-field", partly=True)
def misspelled_fields(page: Page) -> str | None:
    """Write each key as it is meant, where that one is not there as well."""
    text: str | None = page.text
    for slip in slips_in(page.manifest.frontmatter):
        if slip.counts and text is not None:
            text = _renamed(text, slip)
    return text


def _renamed(text: str, slip: Slip) -> str | None:
    """Return the text with one key written as it is meant."""
    around = _METADATA if slip.within else slip.written
    entry = entry_text(text, around)
    if not entry:
        return None
    before = r"[\s{,]" if slip.within else r"\A"
    key = re.compile(rf"({before})([\"']?){re.escape(slip.written)}\2(?=\s*:)")
    renamed, count = key.subn(rf"\g<1>\g<2>{slip.meant}\g<2>", entry)
    return set_entry(text, around, renamed) if count == 1 else None
