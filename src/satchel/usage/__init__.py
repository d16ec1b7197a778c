"""Usage events: made of loads, and given to sinks. A sink that fails fails no load.

What writes them to disk, counts them or makes spans is in `satchel_server.usage`.
"""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door
from satchel.usage._location import (
    VARIABLE as VARIABLE,
    open_sink,
    state_file as state_file,
    usage_sinks,
)
from satchel.usage._sinks import (
    DAY_S as DAY_S,
    EVERY_KIND as EVERY_KIND,
    DeferredEvent as DeferredEvent,
    Event as Event,
    EventSink,
    ListSink,
    LoadsOnly as LoadsOnly,
    LoggingSink,
    Sinks as Sinks,
    UsageState,
    make_event as make_event,
)

if TYPE_CHECKING:
    from satchel.usage._events import (
        UsageEvents as UsageEvents,
        owned_sinks as owned_sinks,
    )
    from satchel.usage._owners import OwnerLookup as OwnerLookup
    from satchel.usage._queries import record_query as record_query
    from satchel.usage._redaction import INVALID as INVALID

__all__ = [
    "EventSink",
    "ListSink",
    "LoggingSink",
    "UsageState",
    "open_sink",
    "usage_sinks",
]

__getattr__ = lazy_door(
    __name__,
    {
        "_events": "UsageEvents owned_sinks",
        "_owners": "OwnerLookup",
        "_queries": "record_query",
        "_redaction": "INVALID",
    },
)
