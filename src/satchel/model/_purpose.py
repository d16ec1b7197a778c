"""Why a file of a source is read: for a load, or for a scan and a copy."""

from contextvars import ContextVar
from typing import Final

# Whether what is being read in this context is loaded by a model or a user.
#
# A source that fetches from another server tells it which requests are loads.
IS_LOAD: Final = ContextVar("satchel_is_load", default=False)
# The key of ``_meta`` in a request over MCP that says so.
PURPOSE_KEY: Final = "satchel/purpose"
# The value for a request that is not a load.
SYNC: Final = "sync"
