"""Catalog sections: rendered once, and frozen for a whole conversation.

A provider's prompt cache holds as long as the first bytes stay the same. So a
conversation keeps its section, and what changed since is added once, behind it. State
that is stored elsewhere names a snapshot by its key alone; a process that does not know
the key begins a new one, and the provider's cache is lost once.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import compress
from typing import TYPE_CHECKING, Final

from satchel.files import LruCache
from satchel.model import (
    SKILL_FILE,
    Catalog,
    Descriptor,
    Hit,
    LazyTuple,
    Rendered,
    Style,
)
from satchel.protocols import TokenCounter

if TYPE_CHECKING:
    from satchel.prompt import Format

# Snapshots and views that one process remembers: catalogs times styles times users.
MAX_SNAPSHOTS: Final = 512


@dataclass(eq=False)
class PromptSections:
    """Renders sections, and gives the last one again if nothing has changed."""

    counter: TokenCounter
    budget_tokens: int | None
    _last: tuple[Catalog, tuple[object, ...], Rendered] | None = None

    def of(
        self,
        catalog: Catalog,
        style: Style,
        format: "Format | None" = None,  # noqa: A002 - the word users of the CLI know
        budget_tokens: int | str | None = "default",
        featured: tuple[str, ...] = (),
    ) -> Rendered:
        """Return the section; ``default`` stands for the budget of the Satchel."""
        options = (style, format, budget_tokens, featured)
        # One tuple, read and replaced whole: threads see an old section or a new one.
        last = self._last
        if last is not None and last[0] is catalog and last[1] == options:
            return last[2]
        rendered = self.render(catalog, style, format, budget_tokens, featured)
        self._last = (catalog, options, rendered)
        return rendered

    def render(
        self,
        catalog: Catalog,
        style: Style,
        format: "Format | None" = None,  # noqa: A002
        budget_tokens: int | str | None = "default",
        featured: tuple[str, ...] = (),
    ) -> Rendered:
        from satchel.prompt import render

        if isinstance(budget_tokens, str):
            budget_tokens = self.budget_tokens
        return render(
            catalog,
            format=format,
            budget_tokens=budget_tokens,
            counter=self.counter,
            style=style,
            locations=_skill_md_paths(catalog) if format == "xml-spec" else {},
            featured=featured,
        )

    def add_suggestions(
        self,
        section: Rendered,
        find: Callable[[str, int], list[Hit]],
        message: str | None,
    ) -> Rendered:
        """Return a section that lists few skills with those that fit a message."""
        if message is None or section.complete:
            return section
        from satchel.prompt import SUGGESTED, with_suggestions

        return with_suggestions(section, find(message, SUGGESTED), self.counter)


def _skill_md_paths(catalog: Catalog) -> dict[str, str]:
    from pathlib import Path

    folders = {label for label, reader in catalog.readers.items() if reader.root}
    return {
        entry.id: str(Path(entry.origin.location).absolute() / SKILL_FILE)
        for entry in catalog.entries
        if entry.source in folders
    }


@dataclass(frozen=True, slots=True)
class PromptSnapshot:
    """One catalog as one style shows it; ``key`` is equal where all of it is.

    ``pinned`` has the texts of always-on packs, by id, so that these stay as they are
    in the conversations of this snapshot, too. ``checked`` is the state of the tool
    registry whose names were checked to be free.
    """

    key: str
    style: Style
    catalog: Catalog
    section: Rendered
    checked: list[object] = field(
        default_factory=list[object], compare=False, repr=False
    )
    pinned: dict[str, str] = field(
        default_factory=dict[str, str], compare=False, repr=False
    )


class PromptSnapshots:
    """The snapshots of one process, the least recently used go first. Thread-safe."""

    def __init__(self) -> None:
        # A value holds its catalog, so no other catalog can have the same id meanwhile.
        self._by_catalog: LruCache[tuple[int, Style, tuple[str, ...]], PromptSnapshot]
        self._by_catalog = LruCache(MAX_SNAPSHOTS)
        self._by_key: LruCache[str, PromptSnapshot] = LruCache(MAX_SNAPSHOTS)
        self._views: LruCache[tuple[int, bytes], tuple[Catalog, Catalog]]
        self._views = LruCache(MAX_SNAPSHOTS)

    def of(
        self,
        catalog: Catalog,
        style: Style,
        render: Callable[..., Rendered],
        featured: tuple[str, ...] = (),
    ) -> PromptSnapshot:
        """Return the snapshot of a catalog, rendered once for each style.

        ``featured`` are ids that the section shows in full where it lists few.
        """

        def make() -> PromptSnapshot:
            section = render(catalog, style, featured=featured)
            key = _key(catalog, style, featured)
            return PromptSnapshot(key, style, catalog, section)

        snapshot = self._by_catalog.get((id(catalog), style, featured), make)
        self._by_key.put(snapshot.key, self._by_key.find(snapshot.key) or snapshot)
        return snapshot

    def get(self, key: str) -> PromptSnapshot | None:
        return self._by_key.find(key)

    def view(
        self, catalog: Catalog, include: Callable[[Descriptor], bool], *, whole: bool
    ) -> Catalog:
        """Return the catalog of what is included: one object for equal answers.

        ``whole`` asks for the packs that are not listed, too; else these stay.
        """
        # The answers themselves are the key: users of equal rights share one catalog,
        # and with it one rendered section.
        entries = tuple(map(include, catalog.entries))
        excluded = tuple(include(e.descriptor) for e in catalog.excluded if whole)
        conflicts = tuple(include(c.owners[0]) for c in catalog.conflicts if whole)
        choice = (*entries, *excluded, *conflicts)
        if all(choice):
            return catalog
        others = catalog.excluded, catalog.conflicts

        def make() -> tuple[Catalog, Catalog]:
            view = Catalog(
                tuple(compress(catalog.entries, entries)),
                tuple(compress(catalog.excluded, excluded)) if whole else others[0],
                tuple(compress(catalog.conflicts, conflicts)) if whole else others[1],
                catalog.findings,
                catalog.sources,
                catalog.readers,
            )
            return catalog, view

        return self._views.get((id(catalog), bytes(choice)), make)[1]


def _key(catalog: Catalog, style: Style, featured: tuple[str, ...]) -> str:
    """Return a short digest of all that a section of this catalog can depend on."""
    state = sha256("\0".join((style, *featured)).encode("utf-8", "surrogatepass"))
    lazy = catalog.entries
    stamp = lazy.stamp if isinstance(lazy, LazyTuple) else ""
    state.update(stamp.encode("ascii"))
    for entry in () if stamp else catalog.entries:  # not one is read for its key
        line = f"{entry.id}\0{entry.description}\0{entry.digest}\0"
        state.update(line.encode("utf-8", "surrogatepass"))
        for path in (*entry.resources, *entry.tools):
            state.update(path.encode("utf-8", "surrogatepass") + b"\0")
    return state.hexdigest()[:16]
