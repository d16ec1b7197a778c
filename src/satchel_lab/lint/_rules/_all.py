"""Every rule: the modules of this package have those of one subject each."""

import pkgutil
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Final

from satchel.model import Finding
from satchel_lab.lint import _rules
from satchel_lab.lint._context import LintContext, LintRule


def _registered() -> Iterator[LintRule]:
    for module in pkgutil.iter_modules(_rules.__path__):
        if not module.name.startswith("_"):
            home = import_module(f"{_rules.__name__}.{module.name}")
            yield from (one for one in vars(home).values() if isinstance(one, LintRule))


# A warning while a pack is written; a pack for others must be finished.
RULES: Final = tuple(sorted(_registered(), key=lambda rule: rule.name))
"""By name, which is the order in which they run."""


def lint_pack(
    pack: LintContext, rules: Iterable[LintRule] | None = None
) -> Iterator[Finding]:
    """Yield what rules find in a pack, by default all; paths are relative to it."""
    for rule in RULES if rules is None else rules:
        yield from rule(pack)


def rules_for(is_on: Callable[[LintRule], bool]) -> tuple[LintRule, ...]:
    """Return the rules for which ``is_on`` is true."""
    return tuple(filter(is_on, RULES))
