"""Plugins and marketplaces: which plugin each pack of a folder belongs to.

Manifests are data of somebody else: they are read within a limit, no link is followed,
no path leads out of the plugin, and nothing is fetched.
"""

# ruff: noqa: PTH112 - keys are texts, as a source has them
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from posixpath import join, normpath
from typing import Any, Final, cast

from satchel.errors import ReferenceEscapesError, SkillError
from satchel.files import check_read_size, escape_name, path_problem, read_confined
from satchel.model import (
    DEFAULT_LIMITS,
    MARKETPLACES,
    SKILL_FILE,
    FileReader,
    Finding,
    Found,
)
from satchel.protocols import SkillSource, with_abilities
from satchel.skill_md import YamlProblem, YamlTree, read_tree
from satchel.sources import SourceWrapper
from satchel.text import slug

# What may name a plugin, in its root; the first one that has a name counts. Before the
# marketplaces are those of Agent Plugins 1.0.0, Gemini CLI and apm.
_MANIFESTS: Final = (
    *(".claude-plugin/plugin.json", ".codex-plugin/plugin.json"),
    *(".cursor-plugin/plugin.json", ".github/plugin/plugin.json"),
    *(".plugin/plugin.json", "plugin.json", "gemini-extension.json", "apm.yml"),
    *MARKETPLACES,
)
_ENDS: Final = tuple(f"/{name}" for name in _MANIFESTS)
# Faults that are reported of all manifests, and characters of a path in one: no system
# opens a longer one.
_MOST: Final = 100
_LONGEST: Final = 1_025


@dataclass(frozen=True, slots=True)
class Plugin:
    """A manifest of a plugin, or an entry of a marketplace; keys are as of the source.

    ``folder`` is its root and ``file`` what names it. ``skills`` are the folders that
    it lists, None where it lists none: a marketplace means only those.
    """

    name: str
    folder: str
    file: str
    skills: tuple[str, ...] | None
    is_entry: bool

    def lists(self, key: str) -> bool:
        """Tell whether a pack below its root is a part of it."""
        if self.skills is None or not self.is_entry:
            return True
        return any(not at or f"{key}/".startswith(f"{at}/") for at in self.skills)


def is_manifest(path: str) -> bool:
    """Tell whether a path ends as that of a file that may name plugins."""
    return f"/{path}".endswith(_ENDS)


class PluginTree:
    """The plugins of a source; each manifest is read once, when it is needed.

    ``read`` has what the files of a folder name, by the folders of the plugins;
    ``texts`` each good file by its key; ``problems`` what is wrong with the others.
    """

    def __init__(self, reader: FileReader, shown: str) -> None:
        self.read: dict[str, dict[str, list[Plugin]]] = {}
        self.texts: dict[str, str] = {}
        self.problems: dict[Finding, None] = {}
        self._reader, self._shown = reader, shown.rstrip("/")

    def has_manifest(self, key: str) -> bool:
        """Tell whether there is a manifest, or a link, of this name."""
        root, tree = self._reader.root, self._reader.tree
        return os.path.lexists(join(root, key)) if root else key in tree

    def is_folder(self, key: str) -> bool:
        """Tell whether there is a folder of this name."""
        root, tree = self._reader.root, self._reader.tree
        return os.path.isdir(join(root, key)) if root else normpath(key) in tree

    def name_of(self, key: str) -> str:
        """Return the name of the plugin of a pack, as part of an id; empty for none."""
        plugin = self.owner_of(key)
        return slug(plugin.name) if plugin else ""

    def owner_of(self, key: str) -> Plugin | None:
        """Return the nearest plugin around a pack; None where that leaves it out."""
        folders = folders_around(key)
        for folder in folders:
            named = [p for above in folders for p in self._at(above).get(folder, ())]
            members = [plugin for plugin in named if plugin.lists(key)]
            if named:
                # A manifest, which comes first, leaves nothing out, but entries may.
                listed = {p.is_entry for p in named} == {p.is_entry for p in members}
                return members[0] if listed else None
        return None

    def where(self, file: str) -> str:
        """Return the path of a file as it is shown."""
        return escape_name(f"{self._shown}/{file}")

    def _at(self, folder: str) -> dict[str, list[Plugin]]:
        if folder not in self.read:
            plugins: dict[str, list[Plugin]] = {}
            for name in _MANIFESTS:
                if self.has_manifest(join(folder, name)):
                    for plugin in self._plugins_of(folder, name):
                        plugins.setdefault(plugin.folder, []).append(plugin)
            self.read[folder] = plugins
        return self.read[folder]

    def _plugins_of(self, folder: str, name: str) -> Iterator[Plugin]:
        file = join(folder, name)
        fields = self._fields(folder, name, file)
        is_entry = name in MARKETPLACES
        base = _mapping(fields.get("metadata")).get("pluginRoot")
        plugins = fields.get("plugins") if is_entry else [{**fields, "source": "."}]
        for entry in map(_mapping, _list(plugins)):
            source = entry.get("source")
            if _mapping(source).get("source") == "local":
                source = _mapping(source).get("path")
            if not (isinstance(source, str) and isinstance(entry.get("name"), str)):
                continue  # it is fetched from elsewhere
            root = self._inside(folder, f"{base}/{source}", file) if base else None
            if root is None or not self.is_folder(root):
                root = self._inside(folder, source, file)
            if root is not None:
                paths: object = entry.get("skills")
                paths = [paths] if isinstance(paths, str) else paths
                keys = [self._inside(root, path, file) for path in _list(paths)]
                skills = tuple(key for key in keys if key is not None)
                listed = skills if isinstance(paths, list) else None
                yield Plugin(entry["name"], root, file, listed, is_entry)

    def _inside(self, folder: str, path: object, file: str) -> str | None:
        """Return a path below a folder as a key; None, and a finding, for any other."""
        text = str(path)[:_LONGEST]
        plain = normpath(text.removesuffix(SKILL_FILE) or ".")
        if plain == ".":
            return folder
        if problem := path_problem(plain):
            self._report(file, f"{text!r} is no path in it: {problem}")
            return None
        return join(folder, plain)

    def _fields(self, folder: str, name: str, file: str) -> Mapping[str, Any]:
        """Return what a file says; nothing, and a finding, where it cannot be read."""
        line: int | None = None
        problem = "expected an object"
        try:
            data = self._bytes_of(folder, name, file)
            text = data.decode("utf-8-sig")
            is_yaml = name.endswith(".yml")
            value: object = (
                read_tree(data, DEFAULT_LIMITS) if is_yaml else json.loads(text)
            )
            if isinstance(value, YamlProblem):
                problem, line = value.message, value.line
            fields = value.root if isinstance(value, YamlTree) else value
            if isinstance(fields, dict):
                self.texts[file] = text
                return _mapping(cast("object", fields))
        except (SkillError, ValueError, RecursionError) as error:
            problem = getattr(error, "msg", "") or str(error)
            line = getattr(error, "lineno", None)
        self._report(file, problem, line)
        return {}

    def _bytes_of(self, folder: str, name: str, file: str) -> bytes:
        root, most = self._reader.root, DEFAULT_LIMITS.file_bytes
        if root:
            return read_confined(root, name, most, folder=folder, owner=file)
        data = self._reader.tree[file]
        if data is None:
            raise ReferenceEscapesError(file, name, detail="a link is not followed")
        check_read_size(name, len(data), most)
        return data

    def _report(self, file: str, problem: str, line: int | None = None) -> None:
        finding = Finding.of("plugin-manifest", self.where(file), line, problem=problem)
        if len(self.problems) < _MOST:
            self.problems[finding] = None


def folders_around(key: str) -> list[str]:
    """Return the folders around a pack, its own first and that of the source last."""
    parts = key.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts), -1, -1)]


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


class PluginNamesSource(SourceWrapper):
    """The packs of a source, and the plugin of each.

    It is in the stamp of the pack, too, so that a new name is seen.
    """

    # The base has no key for an index, which knows nothing of manifests.

    def __init__(self, source: SkillSource) -> None:
        super().__init__(source)
        self._tree = self._new_tree()

    def _new_tree(self) -> PluginTree:
        return PluginTree(with_abilities(self._source), self.label)

    def name_of(self, key: str) -> str:
        """Return the name of a pack's plugin; empty where it has none."""
        return self._tree.name_of(key)

    def scan(self) -> Iterable[Found | Finding]:
        """Return the packs, and what is wrong with the manifests."""
        self._tree = self._new_tree()
        packs = (
            self._stamped(item) if isinstance(item, Found) else item
            for item in super().scan()
        )
        return [*packs, *self._tree.problems]

    def scan_one(self, key: str, location: str) -> Found | None:
        """Return one pack as a scan would find it."""
        pack = with_abilities(self._source).scan_one(key, location)
        return pack and self._stamped(pack)

    def _stamped(self, pack: Found) -> Found:
        return replace(pack, stamp=(pack.stamp, self.name_of(pack.key)))
