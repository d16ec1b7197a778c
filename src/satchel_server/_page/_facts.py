"""What the page shows of a library, for one caller: a list, filters, findings."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from operator import attrgetter
from typing import Final, NamedTuple

from satchel.model import (
    SEVERITIES,
    SKILL_FILE,
    Descriptor,
    Excluded,
    Finding,
    Hit,
    SourceStatus,
    respelled,
)
from satchel.runtime import View
from satchel.text import EstimateCounter, clean_line, list_line
from satchel.usage import OwnerLookup, UsageState
from satchel_server._errors import is_machine_path
from satchel_server._library import ServedLibrary

PAGE_SIZE: Final = 50
# What narrows a list, next to words; an order is no filter.
FILTERS: Final = ("source", "owner", "tag", "finding")
# Choices of one filter; the most frequent ones.
_MAX_CHOICES: Final = 200
_count: Final = EstimateCounter().count


@dataclass(frozen=True, slots=True)
class ListPage:
    """A page of skills, each with its hit where words were searched."""

    rows: Sequence[tuple[Descriptor, Hit | None]]
    total: int
    number: int = 1
    pages: int = 1
    read_as: Mapping[str, str] = field(default_factory=dict[str, str])
    partial: bool = False


class Cost(NamedTuple):
    """Estimated tokens at each level of disclosure: in the catalog, loaded, files."""

    line: int
    instructions: int
    files: int


class LibraryFacts:
    """What one caller's catalog has, by skill; made once for a catalog. Thread-safe."""

    def __init__(self, library: ServedLibrary, view: View) -> None:
        self.catalog: Final = view.catalog
        self._library = library
        self._who = view.settings.who
        # What is about all skills is for those who may have all of them.
        is_whole = not view.settings.only and self.catalog is library.catalog
        self.is_whole: Final = is_whole
        latest = library.labels_in(library.skills.registry.latest)
        self._labels = latest | library.labels_in(library.catalog)
        lookup = OwnerLookup(lambda: library.skills.registry.sources)
        self.owner: Callable[[Descriptor], str] = lookup.of

    def source(self, entry: Descriptor) -> str:
        """Return the public name of the source of a skill."""
        return self._labels.get(entry.source, "")

    @property
    def usage(self) -> UsageState:
        return self._library.skills.usage_state

    @property
    def sources(self) -> list[tuple[str, SourceStatus]]:
        """Each source by its public name, as far as one's own skills go."""
        states = self._library.skills.registry.latest.sources
        if not self.is_whole:
            own = Counter(entry.source for entry in self.catalog)
            states = tuple(
                replace(s, packs=own[s.label]) for s in states if own[s.label]
            )
        return [(self._labels.get(state.label, ""), state) for state in states]

    @cached_property
    def findings(self) -> dict[str, list[Finding]]:
        """The findings of each pack by its id, worst first; others by an empty id."""
        excluded = (item.descriptor for item in self.catalog.excluded)
        entries = (*self.catalog.entries, *excluded)
        ids = {o.location: entry.id for entry in entries for o in entry.origins}
        by_pack: dict[str, list[Finding]] = {}
        every = self._library.skills.findings
        for finding in sorted(every, key=lambda f: SEVERITIES.index(f.severity)):
            pack = finding.path
            while pack and pack not in ids:
                pack = pack.rpartition("/")[0]
            path = finding.path[len(pack) + 1 :] if pack else finding.path
            path, message, fix = map(self.public, (path, finding.message, finding.fix))
            shown = replace(finding, path=path, message=message, fix=fix)
            by_pack.setdefault(ids.get(pack, ""), []).append(shown)
        return by_pack

    @cached_property
    def choices(self) -> dict[str, list[tuple[str, int]]]:
        """The values of each filter, with how many skills each has."""
        choices: dict[str, list[tuple[str, int]]] = {}
        for name in FILTERS:
            having = map(partial(self._values, name), self.catalog.entries)
            counts = Counter(chain.from_iterable(having))
            del counts[""]
            most = counts.most_common(_MAX_CHOICES)
            # Severities come before the codes of findings.
            choices[name] = sorted(most, key=lambda c: (c[0] not in SEVERITIES, c[0]))
        return choices

    def _values(self, name: str, entry: Descriptor) -> Collection[str]:
        """Return what a skill has for a filter."""
        match name:
            case "source":
                return (self.source(entry),)
            case "owner":
                return (self.owner(entry),)
            case "tag":
                return entry.keywords
            case _:
                findings = self.findings.get(entry.id, ())
                return {word for f in findings for word in (f.severity, f.code)}

    def listing(self, view: View, asked: Mapping[str, str], number: int) -> ListPage:
        """Return the skills that fit, as `View.rank` orders them, or by id."""
        requested = {name: asked[name].casefold() for name in FILTERS if asked[name]}
        fits = partial(self._fits, requested)
        if asked["q"]:
            # Not `find`: what people type here is no query of an agent to keep.
            hits = view.rank(asked["q"], PAGE_SIZE, fits)
            listed = ((self.catalog.get(hit.id), hit) for hit in hits)
            rows = [(entry, hit) for entry, hit in listed if entry is not None]
            is_partial = any(hit.partial for hit in hits)
            return ListPage(rows, len(rows), 1, 1, respelled(hits), is_partial)
        entries: Sequence[Descriptor] = self.catalog.entries
        if requested:
            entries = [*filter(fits, entries)]
        if asked["sort"] == "cost":
            entries = sorted(entries, key=attrgetter("size"), reverse=True)
        pages = max(1, -(-len(entries) // PAGE_SIZE))
        number = min(max(number, 1), pages)
        shown = entries[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
        return ListPage([(entry, None) for entry in shown], len(entries), number, pages)

    def _fits(self, requested: Mapping[str, str], entry: Descriptor) -> bool:
        return all(
            value in map(str.casefold, self._values(name, entry))
            for name, value in requested.items()
        )

    def public(self, text: str) -> str:
        """Return a text without the paths of this machine that begin a source."""
        for label, reader in self._library.catalog.readers.items():
            for path in filter(is_machine_path, {label, getattr(reader, "root", "")}):
                text = text.replace(path, self._labels.get(label, "skills"))
        return text

    @cached_property
    def excluded(self) -> tuple[Excluded, ...]:
        """The packs that are not listed, without those that the policy hides."""
        decide, who = self._library.skills.policy.decide, self._who
        return tuple(
            item
            for item in self.catalog.excluded
            if decide("list", item.id, who).verdict != "deny"
        )

    def exclusion(self, name: str) -> Excluded | None:
        """Return why a pack that is called so is not listed; None where it is not."""
        for item in self.excluded:
            folder = item.descriptor.origin.location.rpartition("/")[2]
            if name in (item.id, item.descriptor.name, folder):
                return item
        return None


def cost_of(entry: Descriptor) -> Cost:
    """Return what a skill costs, by the sizes of its files."""
    line = list_line(clean_line(entry.id), clean_line(entry.description))
    files = (stat.size for stat in entry.files if stat.path != SKILL_FILE)
    return Cost(_count(line), (entry.size + 3) // 4, sum((s + 3) // 4 for s in files))
