"""Skills of a site: by anybody's index, or one release of ours by its pin."""

from satchel.sources.over_http.pinned import PinnedSource
from satchel.sources.over_http.source import HttpSource

__all__ = ["HttpSource", "PinnedSource"]
