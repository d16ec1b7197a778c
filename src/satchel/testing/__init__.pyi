from satchel.testing._packs import write_pack as write_pack
from satchel_lab.testing import (
    ESCAPES as ESCAPES,
    PACKS as PACKS,
    Packs as Packs,
    Rehearsal as Rehearsal,
    SourceContract as SourceContract,
    assert_clean as assert_clean,
    assert_complete as assert_complete,
    assert_found as assert_found,
    assert_listed as assert_listed,
    assert_loaded as assert_loaded,
    call as call,
    rehearse as rehearse,
    user as user,
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
