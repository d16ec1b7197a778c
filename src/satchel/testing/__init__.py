"""What others can test with: their skills, a source of theirs, a whole loader."""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from satchel.testing.claims import (
        assert_clean,
        assert_complete,
        assert_found,
        assert_listed,
        assert_loaded,
    )
    from satchel.testing.contract import ESCAPES, PACKS, Packs, SourceContract
    from satchel.testing.hostile import hostile_packs, run_loader
    from satchel.testing.packs import write_pack
    from satchel.testing.rehearsal import Rehearsal, call, rehearse, user

__all__ = [
    "ESCAPES",
    "PACKS",
    "Packs",
    "Rehearsal",
    "SourceContract",
    "assert_clean",
    "assert_complete",
    "assert_found",
    "assert_listed",
    "assert_loaded",
    "call",
    "hostile_packs",
    "rehearse",
    "run_loader",
    "user",
    "write_pack",
]

_HOMES: Final = {
    "Rehearsal": "rehearsal",
    "assert_clean": "claims",
    "assert_complete": "claims",
    "assert_found": "claims",
    "assert_listed": "claims",
    "assert_loaded": "claims",
    "call": "rehearsal",
    "hostile_packs": "hostile",
    "rehearse": "rehearsal",
    "run_loader": "hostile",
    "user": "rehearsal",
    "write_pack": "packs",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for."""
    if name not in __all__:
        message = f"module 'satchel.testing' has no attribute {name!r}"
        raise AttributeError(message)
    home = _HOMES.get(name, "contract")
    value: object = getattr(import_module(f"satchel.testing.{home}"), name)
    globals()[name] = value
    return value
