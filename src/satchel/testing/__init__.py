"""Tools for tests of your own: of skills, sources and agents."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel.testing._assertions import (
        assert_clean,
        assert_complete,
        assert_found,
        assert_listed,
        assert_loaded,
        write_pack,
    )
    from satchel.testing._rehearsal import Rehearsal, call, rehearse, user
    from satchel.testing._source_contract import (
        ESCAPES as ESCAPES,
        PACKS as PACKS,
        Packs as Packs,
        SourceContract,
    )

__all__ = [
    "Rehearsal",
    "SourceContract",
    "assert_clean",
    "assert_complete",
    "assert_found",
    "assert_listed",
    "assert_loaded",
    "call",
    "rehearse",
    "user",
    "write_pack",
]

__getattr__ = lazy_door(
    __name__,
    {
        "_assertions": "assert_clean assert_complete assert_found assert_listed "
        "assert_loaded write_pack",
        "_rehearsal": "Rehearsal call rehearse user",
        "_source_contract": "ESCAPES PACKS Packs SourceContract",
    },
)
