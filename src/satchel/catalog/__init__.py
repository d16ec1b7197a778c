"""Sources in, catalogs out: the registry and what it is made of."""

from typing import TYPE_CHECKING

from satchel.catalog._assembly import (
    CatalogRules as CatalogRules,
    DisabledPattern as DisabledPattern,
    is_listed as is_listed,
    is_pattern as is_pattern,
)
from satchel.catalog._packs import (
    RETIRED_STATUSES as RETIRED_STATUSES,
    PackDigests as PackDigests,
    ParseOptions as ParseOptions,
    ScannedPack as ScannedPack,
    is_tool_allowed as is_tool_allowed,
)
from satchel.catalog._registry import Health as Health, Registry as Registry
from satchel.catalog._source_scanner import SourceScanner as SourceScanner
from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel.catalog._conflicts import (
        PluginNames as PluginNames,
        conflict_finding as conflict_finding,
    )
    from satchel.catalog._descriptor_builder import allow as allow

__getattr__ = lazy_door(
    __name__,
    {"_conflicts": "PluginNames conflict_finding", "_descriptor_builder": "allow"},
)
