"""What a file of a source is read for: a load, or a look and a copy."""

from contextvars import ContextVar
from typing import Final

IS_LOAD: Final = ContextVar("satchel_is_load", default=False)
"""Whether a model or a user loads what is being read in this context.

A source that fetches from another server marks by it what is a load there.
"""
PURPOSE_KEY: Final = "satchel/purpose"
"""The key of ``_meta`` in a request over MCP that says so."""
SYNC: Final = "sync"
"""The value for a request that is no load."""
