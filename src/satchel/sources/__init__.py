"""Places that packs come from, and functions that make a source of each kind.

Whatever needs more than the file system is imported when it is first asked for.
"""

from typing import TYPE_CHECKING

from satchel._lazy import lazy_door
from satchel.sources._factories import (
    archive,
    cached,
    folder,
    http,
    layered,
    load_plugin_sources,
    mcp,
    memory,
    only,
    package,
    packages,
    prefixed,
    released,
    renamed,
    resource,
    roles,
    usual,
)
from satchel.sources._local import LocalSource
from satchel.sources._memory import MemorySource as MemorySource

if TYPE_CHECKING:
    from satchel.sources._archive import ArchiveSource as ArchiveSource
    from satchel.sources._headers import checked_headers as checked_headers
    from satchel.sources._http._client import retry_after_s as retry_after_s
    from satchel.sources._http._network import (
        CheckedBackend as CheckedBackend,
        RequestRefusedError as RequestRefusedError,
        request_deadline as request_deadline,
        resolve_host as resolve_host,
    )
    from satchel.sources._http._source import (
        HttpSource as HttpSource,
        PinnedSource as PinnedSource,
    )
    from satchel.sources._http._urls import parse_url as parse_url
    from satchel.sources._layered import (
        LAYERS as LAYERS,
        LayeredSource as LayeredSource,
        LayerExplanation as LayerExplanation,
        local_layers as local_layers,
    )
    from satchel.sources._legacy import (
        LegacySource as LegacySource,
        LegacySourceAdapter as LegacySourceAdapter,
        as_source as as_source,
    )
    from satchel.sources._mcp._source import McpSource as McpSource
    from satchel.sources._release import (
        ReleaseSource as ReleaseSource,
        is_release as is_release,
    )
    from satchel.sources._wrappers import SourceWrapper as SourceWrapper

__all__ = [
    "LocalSource",
    "archive",
    "cached",
    "folder",
    "http",
    "layered",
    "load_plugin_sources",
    "mcp",
    "memory",
    "only",
    "package",
    "packages",
    "prefixed",
    "released",
    "renamed",
    "resource",
    "roles",
    "usual",
]

__getattr__ = lazy_door(
    __name__,
    {
        "_archive": "ArchiveSource",
        "_headers": "checked_headers",
        "_http._client": "retry_after_s",
        "_http._network": "CheckedBackend RequestRefusedError request_deadline "
        "resolve_host",
        "_http._source": "HttpSource PinnedSource",
        "_http._urls": "parse_url",
        "_layered": "LAYERS LayerExplanation LayeredSource local_layers",
        "_legacy": "LegacySource LegacySourceAdapter as_source",
        "_mcp._source": "McpSource",
        "_release": "ReleaseSource is_release",
        "_wrappers": "SourceWrapper",
    },
)
