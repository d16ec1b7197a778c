"""Whether the right skill is found: queries with the skills that should answer them."""

from typing import TYPE_CHECKING

from satchel._lazy import lazy_door

if TYPE_CHECKING:
    from satchel.evals._case import EvalCase

__all__ = ["EvalCase"]

__getattr__ = lazy_door(__name__, {"_case": "EvalCase"})
