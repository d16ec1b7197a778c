"""Usage events: made, given to sinks, stored, and counted in a report.

A sink that fails never fails a load. What writes to disk, counts for Prometheus or
makes spans is imported when it is used.
"""

from typing import TYPE_CHECKING

from satchel._lazy import lazy_door
from satchel.usage._location import (
    VARIABLE as VARIABLE,
    open_sink,
    parse_location as parse_location,
    state_file,
    usage_sinks,
)
from satchel.usage._sinks import (
    EventSink,
    ListSink,
    LoadsOnly,
    LoggingSink,
    Sinks,
    UsageState,
)

if TYPE_CHECKING:
    from satchel.usage._events import (
        UsageEvents as UsageEvents,
        owned_sinks as owned_sinks,
    )
    from satchel.usage._file_store import verify_chain
    from satchel.usage._metrics import MetricsSink
    from satchel.usage._owners import OwnerLookup as OwnerLookup
    from satchel.usage._publisher import report_to
    from satchel.usage._queries import (
        QUERIES_VARIABLE as QUERIES_VARIABLE,
        record_query as record_query,
        suggest_cases as suggest_cases,
    )
    from satchel.usage._reader import read_records
    from satchel.usage._records import (
        Records as Records,
        ended_unclosed as ended_unclosed,
        host_mark as host_mark,
    )
    from satchel.usage._report import (
        CORE_SHARE as CORE_SHARE,
        SkillStatus,
        SkillUse,
        UsageReport,
        make_report,
    )
    from satchel.usage._store import EventStore
    from satchel.usage._tracing import TracingSink

__all__ = [
    "EventSink",
    "EventStore",
    "ListSink",
    "LoadsOnly",
    "LoggingSink",
    "MetricsSink",
    "Sinks",
    "SkillStatus",
    "SkillUse",
    "TracingSink",
    "UsageReport",
    "UsageState",
    "make_report",
    "open_sink",
    "read_records",
    "report_to",
    "state_file",
    "usage_sinks",
    "verify_chain",
]

__getattr__ = lazy_door(
    __name__,
    {
        "_events": "UsageEvents owned_sinks",
        "_file_store": "verify_chain",
        "_metrics": "MetricsSink",
        "_owners": "OwnerLookup",
        "_publisher": "report_to",
        "_queries": "QUERIES_VARIABLE record_query suggest_cases",
        "_reader": "read_records",
        "_records": "Records ended_unclosed host_mark",
        "_report": "CORE_SHARE SkillStatus SkillUse UsageReport make_report",
        "_store": "EventStore",
        "_tracing": "TracingSink",
    },
)
