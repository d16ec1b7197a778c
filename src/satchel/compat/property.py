"""One thing about a pack by which loaders differ."""

from collections.abc import Callable
from dataclasses import dataclass

from satchel.compat.reading import Reading

__all__ = ["Property"]


@dataclass(frozen=True, slots=True)
class Property:
    """What a pack may be like.

    ``key`` is stable; ``about`` is a noun phrase, as the head of a table's row;
    ``fix`` says, in the imperative, how a pack loses it; ``applies`` finds it.
    """

    key: str
    about: str
    fix: str
    applies: Callable[[Reading], bool]
