"""What `satchel.testing` offers that no part of the heart needs: agents, sources."""

from satchel_lab.testing._assertions import (
    assert_clean as assert_clean,
    assert_complete as assert_complete,
    assert_found as assert_found,
    assert_listed as assert_listed,
    assert_loaded as assert_loaded,
)
from satchel_lab.testing._rehearsal import (
    Rehearsal as Rehearsal,
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
