"""Usage events on disk, as metrics and as spans, and reports of them."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel_server.usage import check_acts as check_acts
    from satchel_server.usage._calls import enter_call as enter_call
    from satchel_server.usage._cases import (
        QUERIES_VARIABLE as QUERIES_VARIABLE,
        suggest_cases as suggest_cases,
        weak_queries as weak_queries,
    )
    from satchel_server.usage._file_store import verify_chain as verify_chain
    from satchel_server.usage._location import parse_location as parse_location
    from satchel_server.usage._metrics import MetricsSink
    from satchel_server.usage._open import open_store as open_store
    from satchel_server.usage._publisher import report_to
    from satchel_server.usage._reader import (
        read_events as read_events,
        read_records as read_records,
    )
    from satchel_server.usage._records import (
        Records as Records,
        ended_unclosed as ended_unclosed,
        host_mark as host_mark,
        replica_name as replica_name,
    )
    from satchel_server.usage._report import (
        CORE_SHARE as CORE_SHARE,
        SkillStatus as SkillStatus,
        SkillUse as SkillUse,
        UsageReport as UsageReport,
        iso_day as iso_day,
        make_report as make_report,
        read_report as read_report,
    )
    from satchel_server.usage._store import EventStore as EventStore
    from satchel_server.usage._tracing import TracingSink
    from satchel_server.usage._upkeep import (
        erase_caller as erase_caller,
        merge_file as merge_file,
        open_tables as open_tables,
        prune_events as prune_events,
    )

__all__ = ["MetricsSink", "TracingSink", "report_to"]

__getattr__ = lazy_door(
    __name__,
    {
        "_calls": "enter_call",
        "_cases": "QUERIES_VARIABLE suggest_cases weak_queries",
        "_file_store": "verify_chain",
        "_location": "parse_location",
        "_open": "open_store",
        "_metrics": "MetricsSink",
        "_publisher": "report_to",
        "_reader": "read_events read_records",
        "_records": "Records ended_unclosed host_mark replica_name",
        "_report": (
            "CORE_SHARE SkillStatus SkillUse UsageReport iso_day make_report "
            "read_report"
        ),
        "_store": "EventStore",
        "_tracing": "TracingSink",
        "_upkeep": "erase_caller merge_file open_tables prune_events",
    },
)
