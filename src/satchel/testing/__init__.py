"""Tools for tests of your own: skills, sources and whole loaders."""

from typing import TYPE_CHECKING

from satchel._lazy import lazy_door

if TYPE_CHECKING:
    from satchel.testing._assertions import (
        assert_clean,
        assert_complete,
        assert_found,
        assert_listed,
        assert_loaded,
        write_pack,
    )
    from satchel.testing._conformance._check import check_loader
    from satchel.testing._conformance._runtime import check_runtime as check_runtime
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
    "check_loader",
    "hostile_packs",
    "rehearse",
    "run_loader",
    "user",
    "write_pack",
]

__getattr__ = lazy_door(
    __name__,
    {
        "_assertions": "assert_clean assert_complete assert_found assert_listed "
        "assert_loaded write_pack",
        "_conformance._check": "check_loader",
        "_conformance._runtime": "check_runtime",
        "_rehearsal": "Rehearsal call rehearse user",
        "_source_contract": "ESCAPES PACKS Packs SourceContract",
        "hostile": "hostile_packs run_loader",
    },
)
