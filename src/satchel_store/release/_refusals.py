"""What is not handed to others: neither `satchel build` nor `satchel pack` does it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from satchel.model import Catalog, Descriptor, Finding, Limits
from satchel.products import import_product

UNFINISHED_CODE: Final = "left-to-fill-in"


def is_refused(finding: Finding) -> bool:
    """Return whether a pack with this finding is not handed to others."""
    return finding.severity == "error" or finding.code == UNFINISHED_CODE


def unfinished(
    entry: Descriptor, catalog: Catalog, limits: Limits
) -> Iterator[Finding]:
    """Yield, as errors, what a listed pack leaves to fill in.

    Raises:
        ProductMissingError: ``satchel_lab``, which has the rules, is not installed.
    """
    checking = import_product("satchel_lab.checking", "a release")
    for finding in checking.check_entry(entry, catalog, limits, UNFINISHED_CODE):
        yield replace(finding, severity="error")
