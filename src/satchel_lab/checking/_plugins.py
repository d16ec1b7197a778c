"""Findings on plugins: what a manifest says that the folder does not hold."""

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from itertools import chain

from satchel.files import escape_name
from satchel.model import MARKETPLACES, SKILL_FILE, Catalog, Finding
from satchel.text import first_names
from satchel_store.plugins import Plugin, PluginTree, folders_around


def plugin_findings(catalog: Catalog, *, whole: bool = False) -> Iterator[Finding]:
    """Yield the findings on the plugins in each folder that was named.

    A manifest that cannot be read, and packs that no plugin has, of a marketplace; as a
    ``whole`` also what a manifest says that is not so, which is of use to its author.
    """
    owners = chain.from_iterable(one.owners for one in catalog.unresolved)
    packs = chain(catalog, owners, (one.descriptor for one in catalog.excluded))
    keys: dict[str, set[str]] = defaultdict(set)
    for origin in chain.from_iterable(pack.origins for pack in packs):
        keys[origin.source].add(origin.key)
    for label, reader in catalog.readers.items():
        plugins = PluginTree(reader, label)
        if not (whole or any(map(plugins.has_manifest, MARKETPLACES))):
            continue
        # By path, so that equal folders have equal findings.
        for file, names in _left_out(plugins, sorted(keys[label])).items():
            listed, where = first_names(names), plugins.where(file)
            yield Finding.of("not-in-plugin", where, names=listed)
        if whole:
            yield from _contradictions(plugins, keys[label])
        yield from plugins.problems


def _left_out(plugins: PluginTree, keys: list[str]) -> dict[str, list[str]]:
    """Return the packs that no plugin has, by the marketplace above them."""
    packs: dict[str, list[str]] = defaultdict(list)
    left = [key for key in keys if plugins.owner_of(key) is None]
    # One that lists nothing of this folder leaves nothing out.
    listing = {plugin.file for plugin in _every(plugins)}
    for key in left:
        above = folders_around(key)
        files = (f"{at}/{name}".lstrip("/") for at in above for name in MARKETPLACES)
        if file := next((file for file in files if file in listing), ""):
            packs[file].append(escape_name(key))
    return packs


def _contradictions(plugins: PluginTree, keys: set[str]) -> Iterator[Finding]:
    from satchel_lab.checking._library import made_in  # a list of skills does without

    for plugin in _every(plugins):
        plugins.owner_of(plugin.folder)  # reads the manifest of one without packs, too
    every = _every(plugins)
    manifests = {one.folder: one for one in reversed(every) if not one.is_entry}
    places = set(chain.from_iterable(map(folders_around, keys)))
    by_name: dict[tuple[str, str], Plugin] = {}
    for plugin in every:
        name, folder = plugin.name, plugin.folder
        file, text = plugins.where(plugin.file), plugins.texts[plugin.file]
        line, here = _line_of(text, name), escape_name(folder or ".")
        own = manifests.get(folder, plugin)
        other = by_name.setdefault((name, made_in(folder)), plugin)
        report = partial(Finding.of, "plugin-manifest", file, name=name)
        if not plugins.is_folder(folder):
            yield report(line, sentence="no-folder", path=here)
        is_twice = other is not plugin and other.file == plugin.file
        if other.folder != folder or is_twice:
            there = escape_name(other.folder or ".")
            yield report(line, sentence="twice", path=there, other=here)
        if plugin.is_entry and own.name != name:
            its = plugins.where(own.file)
            yield report(line, sentence="renamed", other=own.name, path=its)
        for path in sorted(set(plugin.skills or ()) - places):
            at, shown = _line_of(text, path.rpartition("/")[2]), escape_name(path)
            yield report(at or line, sentence="no-skill", path=shown, file=SKILL_FILE)


def _every(plugins: PluginTree) -> list[Plugin]:
    """Return each plugin that was read, in the order of the files."""
    folders = chain.from_iterable(read.values() for read in plugins.read.values())
    return [*chain.from_iterable(folders)]


def _line_of(text: str, value: str) -> int | None:
    """Return the line of the first text that ends in this value; None for none."""
    place = text.find(f'{value}"')
    return None if place < 0 else text.count("\n", 0, place) + 1
