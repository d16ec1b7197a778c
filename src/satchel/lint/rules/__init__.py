"""Every rule, in the order in which they are asked."""

from collections.abc import Iterator
from typing import Final

from satchel.lint.context import Context, Rule
from satchel.lint.rules.declared_files import declared_files
from satchel.lint.rules.doubts import doubts
from satchel.lint.rules.long_description import long_description
from satchel.lint.rules.readable import readable
from satchel.lint.rules.unlisted_reference import unlisted_reference
from satchel.model import Finding

__all__ = ["RULES", "lint_pack"]

RULES: Final[tuple[Rule, ...]] = (
    declared_files,
    readable,
    unlisted_reference,
    long_description,
    doubts,
)


def lint_pack(pack: Context) -> Iterator[Finding]:
    """Yield what every rule has to say of a pack; paths relative to the pack."""
    for rule in RULES:
        yield from rule(pack)
