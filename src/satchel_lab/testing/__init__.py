"""What `satchel.testing` offers that no part of the heart needs: agents, sources."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel_lab.testing._rehearsal import (
        Rehearsal as Rehearsal,
        assert_loaded as assert_loaded,
        call as call,
        rehearse as rehearse,
        user as user,
    )
    from satchel_lab.testing._source_contract import (
        ESCAPES as ESCAPES,
        PACKS as PACKS,
        Packs as Packs,
        SourceContract as SourceContract,
    )

__getattr__ = lazy_door(
    __name__,
    {
        "_rehearsal": "Rehearsal assert_loaded call rehearse user",
        "_source_contract": "ESCAPES PACKS Packs SourceContract",
    },
)
