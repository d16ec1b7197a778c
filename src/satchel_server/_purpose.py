"""What a request for a skill says of itself: whether it is a load, or a look."""

from typing import Final

# The key of ``_meta`` in a request over MCP that says so.
PURPOSE_KEY: Final = "satchel/purpose"
# The value for a request that is not a load.
SYNC: Final = "sync"
