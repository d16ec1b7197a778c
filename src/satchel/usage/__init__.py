"""Events of use, handed to whoever wants them; a failing sink never fails a load.

What writes to disk, counts for Prometheus or makes spans is in modules of its own,
which are imported when they are used: ``satchel.usage.background`` and its stores,
``metrics``, ``tracing``.
"""

from satchel.usage.choosing import open_sink, usage_sinks
from satchel.usage.logs import LoggingSink
from satchel.usage.recording import ListSink, LoadsOnly, Sinks, UsageState, record

__all__ = [
    "ListSink",
    "LoadsOnly",
    "LoggingSink",
    "Sinks",
    "UsageState",
    "open_sink",
    "record",
    "usage_sinks",
]
