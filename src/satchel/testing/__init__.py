"""What others can test their own parts with: a source, or a whole loader."""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from satchel.testing.contract import ESCAPES, PACKS, Packs, SourceContract
    from satchel.testing.hostile import hostile_packs, run_loader

__all__ = [
    "ESCAPES",
    "PACKS",
    "Packs",
    "SourceContract",
    "hostile_packs",
    "run_loader",
]

_HOSTILE: Final = frozenset({"hostile_packs", "run_loader"})


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for."""
    if name not in __all__:
        message = f"module 'satchel.testing' has no attribute {name!r}"
        raise AttributeError(message)
    home = "hostile" if name in _HOSTILE else "contract"
    value: object = getattr(import_module(f"satchel.testing.{home}"), name)
    globals()[name] = value
    return value
