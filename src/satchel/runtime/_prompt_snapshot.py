"""The catalog as a conversation was told of it: the frozen section.

What changed since, and what is repeated.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import compress
from typing import Final, TypeVar

from satchel.errors import SkillError, echo
from satchel.model import Catalog, Descriptor, Loaded, Rendered, Style
from satchel.protocols import TokenCounter
from satchel.text import clean_line, escape_xml

_K = TypeVar("_K")
_V = TypeVar("_V")

MAX_SNAPSHOTS: Final = 512
"""Editions and views that one process remembers: catalogs times styles times
audiences."""
MAX_CHANGES: Final = 20
"""Skills that an account of what changed names one by one, of each kind."""


@dataclass(frozen=True, slots=True)
class PromptSnapshot:
    """One catalog as one style tells it; ``key`` is equal where all of it is.

    ``pinned`` keeps the texts of worn packs, by id, so that these stay as they are in
    the conversations of this edition, too. ``checked`` is the state of the offers whose
    names were found to be free.
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
    """The editions of one process, the least recently used go first. Thread-safe."""

    def __init__(self, maximum: int = MAX_SNAPSHOTS) -> None:
        self._maximum = maximum
        self._lock = threading.Lock()
        self._by_key: OrderedDict[str, PromptSnapshot] = OrderedDict()
        self._by_catalog: OrderedDict[tuple[int, Style], PromptSnapshot] = OrderedDict()
        self._views: OrderedDict[tuple[int, bytes], tuple[Catalog, Catalog]] = (
            OrderedDict()
        )

    def of(
        self, catalog: Catalog, style: Style, render: Callable[[], Rendered]
    ) -> PromptSnapshot:
        """Return the edition of a catalog, rendered once for each style."""
        place = id(catalog), style
        with self._lock:
            known = self._by_catalog.get(place)
            if known is not None and known.catalog is catalog:
                self._by_catalog.move_to_end(place)
                self._by_key.setdefault(known.key, known)
                self._by_key.move_to_end(known.key)
                return known
        edition = PromptSnapshot(_key(catalog, style), style, catalog, render())
        with self._lock:
            _cache(self._by_catalog, place, edition, self._maximum)
            _cache(self._by_key, edition.key, edition, self._maximum)
        return edition

    def get(self, key: str) -> PromptSnapshot | None:
        """Return the edition of that key, if this process remembers it."""
        with self._lock:
            edition = self._by_key.get(key)
            if edition is not None:
                self._by_key.move_to_end(key)
            return edition

    def view(
        self, catalog: Catalog, keep: Callable[[Descriptor], bool], *, whole: bool
    ) -> Catalog:
        """Return the catalog of what is kept: one object for equal answers.

        Where all of it is kept it is the catalog itself. ``whole`` asks for the packs
        that are not listed, too; else these stay.
        """
        kept = tuple(map(keep, catalog.entries))
        held = tuple(keep(each.descriptor) for each in catalog.excluded if whole)
        claimed = tuple(keep(each.owners[0]) for each in catalog.conflicts if whole)
        if all(kept) and all(held) and all(claimed):
            return catalog
        place = id(catalog), bytes((*kept, *held, *claimed))
        with self._lock:
            known = self._views.get(place)
            if known is not None and known[0] is catalog:
                self._views.move_to_end(place)
                return known[1]
        view = Catalog(
            tuple(compress(catalog.entries, kept)),
            tuple(compress(catalog.excluded, held)) if whole else catalog.excluded,
            tuple(compress(catalog.conflicts, claimed)) if whole else catalog.conflicts,
            catalog.findings,
            catalog.sources,
            catalog.readers,
        )
        with self._lock:
            _cache(self._views, place, (catalog, view), self._maximum)
        return view


def describe_changes(before: Catalog, after: Catalog, active: frozenset[str]) -> str:
    """Return what a reader of ``before`` has to know of ``after``; empty if nothing.

    Ids in order; ``active`` ones that changed are to be loaded again.
    """
    added = [e for e in after.entries if e.id not in before]
    removed = [e.id for e in before.entries if e.id not in after]
    changed = [
        e for e in after.entries if (old := before.get(e.id)) is not None and old != e
    ]
    said = [
        *_list_changes(
            "New", [f"{_shown(e.id)} ({clean_line(e.description)})" for e in added]
        ),
        *_list_changes(
            "Changed",
            [
                _shown(e.id) + (" (load it again)" if e.id in active else "")
                for e in changed
            ],
        ),
        *_list_changes("Gone", [_shown(id) for id in removed]),
    ]
    return f"The list of skills has changed. {' '.join(said)}" if said else ""


def _list_changes(kind: str, items: list[str]) -> list[str]:
    if not items:
        return []
    more = len(items) - MAX_CHANGES
    rest = f" and {more} more" if more > 0 else ""
    return [f"{kind}: {', '.join(items[:MAX_CHANGES])}{rest}."]


def _shown(id: str) -> str:
    return clean_line(id)


def _key(catalog: Catalog, style: Style) -> str:
    """Return a short digest of all that a section of this catalog can depend on."""
    state = sha256(style.encode())
    for entry in catalog.entries:
        line = f"{entry.id}\0{entry.description}\0{entry.digest}\0"
        state.update(line.encode("utf-8", "surrogatepass"))
        for path in (*entry.resources, *entry.tools):
            state.update(path.encode("utf-8", "surrogatepass") + b"\0")
    return state.hexdigest()[:16]


def _cache(kept: OrderedDict[_K, _V], key: _K, value: _V, maximum: int) -> None:
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > maximum:
        kept.popitem(last=False)


MAX_NAMED_SKILLS: Final = 20
"""Skills that are named without their text."""
_HEAD: Final = (
    "## Skills in use\nThese were loaded earlier in this conversation, and still hold:"
)


def reinject(
    ids: Iterable[str],
    load: Callable[[str], Loaded],
    *,
    budget_tokens: int,
    counter: TokenCounter,
    render: Callable[[Loaded], str],
) -> str:
    """Return the texts of these skills, newest first, or nothing where there are none.

    Args:
        ids: The skills, newest first.
        load: Gives the SKILL.md of one.
        budget_tokens: The texts cost at most this; a skill that does not fit is named.
        counter: Counts tokens.
        render: Writes it.
    """
    texts: list[str] = []
    no_room: list[str] = []
    gone: list[str] = []
    left = budget_tokens
    for id in ids:
        try:
            text = render(load(id))
        except SkillError:
            gone.append(id)
            continue
        cost = counter.count(text)
        if cost > left:
            no_room.append(id)
            continue
        left -= cost
        texts.append(text)
    if no_room:
        texts.append(
            f"In use too, and left out for lack of room: {_named(no_room)}. Load again "
            "what you need."
        )
    if gone:
        texts.append(f"In use before, and no longer available: {_named(gone)}.")
    return "\n\n".join((_HEAD, *texts)) if texts else ""


def _named(ids: list[str]) -> str:
    """Return ids for a system prompt: without markup, and not more than a few.

    They come from a stored state, and so may be anything.
    """
    more = len(ids) - MAX_NAMED_SKILLS
    names = ", ".join(escape_xml(clean_line(echo(id))) for id in ids[:MAX_NAMED_SKILLS])
    return names + (f" and {more:,} more" if more > 0 else "")
