"""The plugins that packs of one name are of, for the advice on what to do."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from satchel.model import Conflict, Descriptor, FileReader
from satchel.products import has_product, import_product


class PluginNames:
    """Names the plugins in conflicts; the manifests of a source are read once."""

    def __init__(self, readers: Mapping[str, FileReader]) -> None:
        self._readers = readers
        self._plugins: dict[str, Any] = {}  # of another product

    def added(self, conflict: Conflict) -> Conflict:
        """Return a conflict with the plugins of its owners, if nobody has won it."""
        if conflict.preferred or not has_product("satchel_store"):
            return conflict
        names = tuple(map(self._name_of, conflict.owners))
        return replace(conflict, plugins=names) if any(names) else conflict

    def _name_of(self, owner: Descriptor) -> str:
        label = owner.source
        if label not in self._plugins:
            room = import_product("satchel_store.plugins", "to read plugins")
            self._plugins[label] = room.PluginTree(self._readers[label], label)
        name: str = self._plugins[label].name_of(owner.origin.key)
        return name
