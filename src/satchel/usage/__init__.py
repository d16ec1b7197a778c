"""Events of use, handed to whoever wants them; a failing sink never fails a load."""

from satchel.usage.logs import LoggingSink
from satchel.usage.recording import ListSink, record

__all__ = ["ListSink", "LoggingSink", "record"]
