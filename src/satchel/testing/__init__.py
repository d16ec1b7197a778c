"""Tools for tests of your own: skills, sources and whole loaders."""

from typing import TYPE_CHECKING, Final

from satchel._lazy import lazy_door

if TYPE_CHECKING:
    from satchel.testing._assertions import (
        assert_clean,
        assert_complete,
        assert_found,
        assert_listed,
        assert_loaded,
    )
    from satchel.testing._packs import write_pack
    from satchel.testing._rehearsal import Rehearsal, call, rehearse, user
    from satchel.testing._source_contract import ESCAPES, PACKS, Packs, SourceContract
    from satchel.testing.hostile import hostile_packs, run_loader

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

_LAZY: Final = {
    "assert_clean": "satchel.testing._assertions",
    "assert_complete": "satchel.testing._assertions",
    "assert_found": "satchel.testing._assertions",
    "assert_listed": "satchel.testing._assertions",
    "assert_loaded": "satchel.testing._assertions",
    "write_pack": "satchel.testing._packs",
    "Rehearsal": "satchel.testing._rehearsal",
    "call": "satchel.testing._rehearsal",
    "rehearse": "satchel.testing._rehearsal",
    "user": "satchel.testing._rehearsal",
    "ESCAPES": "satchel.testing._source_contract",
    "PACKS": "satchel.testing._source_contract",
    "Packs": "satchel.testing._source_contract",
    "SourceContract": "satchel.testing._source_contract",
    "hostile_packs": "satchel.testing.hostile",
    "run_loader": "satchel.testing.hostile",
}

__getattr__ = lazy_door(__name__, _LAZY)
