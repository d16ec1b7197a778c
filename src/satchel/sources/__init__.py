"""Places that packs come from, and functions that make a source of each kind.

Each is imported when it is first asked for.
"""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel.sources._client_folders import (
        CLIENT_FOLDERS as CLIENT_FOLDERS,
        PROJECT_FOLDERS as PROJECT_FOLDERS,
        ClientFolders as ClientFolders,
        count_packs as count_packs,
        usual,
        usual_folders as usual_folders,
    )
    from satchel.sources._folder_search import FolderSearch as FolderSearch
    from satchel.sources._layered import (
        LAYERS as LAYERS,
        LayeredSource as LayeredSource,
        LayerExplanation as LayerExplanation,
        layered,
        local_layers as local_layers,
    )
    from satchel.sources._local import LocalSource as LocalSource, folder
    from satchel.sources._memory import MemorySource as MemorySource, memory
    from satchel.sources._packages import (
        load_plugin_sources,
        package,
        packages,
        resource,
        roles,
    )
    from satchel.sources._products import archive, http, mcp, released
    from satchel.sources._unlisted import Entries as Entries
    from satchel.sources._wrappers import (
        SourceWrapper as SourceWrapper,
        cached,
        only,
        prefixed,
        renamed,
    )

__all__ = [
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
        "_client_folders": "CLIENT_FOLDERS PROJECT_FOLDERS ClientFolders count_packs "
        "usual usual_folders",
        "_folder_search": "FolderSearch",
        "_layered": "LAYERS LayerExplanation LayeredSource layered local_layers",
        "_local": "LocalSource folder",
        "_memory": "MemorySource memory",
        "_packages": "load_plugin_sources package packages resource roles",
        "_products": "archive http mcp released",
        "_unlisted": "Entries",
        "_wrappers": "SourceWrapper cached only prefixed renamed",
    },
)
