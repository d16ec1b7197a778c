"""What the page shows of a library, for one caller: rows, filters, findings, state."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from platform import node
from typing import Final

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
from satchel.text import EstimateCounter, clean_line, list_line, plural
from satchel.usage import OwnerLookup
from satchel_server._errors import is_machine_path
from satchel_server._library import ServedLibrary

PAGE_SIZE: Final = 50
# Choices of one filter; the most frequent ones.
_MAX_CHOICES: Final = 200
_DIGEST_CHARS: Final = 12
_count: Final = EstimateCounter().count


@dataclass(frozen=True, slots=True)
class Filters:
    """What the caller looks for; empty is everything."""

    q: str = ""
    source: str = ""
    owner: str = ""
    tag: str = ""
    finding: str = ""
    sort: str = ""

    def as_query(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__slots__}

    @property
    def narrow(self) -> bool:
        """Whether a filter is set, next to the words."""
        return bool(self.source or self.owner or self.tag or self.finding)


@dataclass(frozen=True, slots=True)
class Cost:
    """Estimated tokens at each level of disclosure: in the catalog, loaded, files."""

    line: int
    instructions: int
    files: int


@dataclass(frozen=True, slots=True)
class Row:
    """One skill in the list, with the hit where words were searched."""

    entry: Descriptor
    source: str
    owner: str
    cost: Cost
    findings: tuple[Finding, ...]
    hit: Hit | None = None

    @property
    def worst(self) -> str:
        """The severest of its findings; empty for none."""
        severities = {finding.severity for finding in self.findings}
        return next((s for s in SEVERITIES if s in severities), "")


@dataclass(frozen=True, slots=True)
class RowPage:
    """A page of rows, and what there is before and after it."""

    rows: tuple[Row, ...]
    total: int
    number: int = 1
    read_as: Mapping[str, str] = field(default_factory=dict[str, str])
    partial: bool = False

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // PAGE_SIZE))

    @property
    def first(self) -> int:
        return (self.number - 1) * PAGE_SIZE + 1


class LibraryFacts:
    """What one caller's catalog has, by skill; made once for a catalog. Thread-safe."""

    def __init__(self, library: ServedLibrary, view: View) -> None:
        self.catalog: Final = view.catalog
        self._library = library
        self._who = view.settings.who
        # What is about all skills is for those who may have all of them.
        is_whole = not view.settings.only and self.catalog is library.catalog
        self.is_whole: Final = is_whole
        self.labels = library.labels_in(library.skills.registry.latest)
        self.labels = {**self.labels, **library.labels_in(library.catalog)}
        self._owner_of = OwnerLookup(lambda: library.skills.registry.sources).of

    @cached_property
    def owners(self) -> dict[str, str]:
        """The owner of each skill that has one, by its id."""
        pairs = ((entry.id, self.owner(entry)) for entry in self.catalog)
        return {skill_id: owner for skill_id, owner in pairs if owner}

    def owner(self, entry: Descriptor) -> str:
        return self._owner_of(entry)

    @cached_property
    def findings(self) -> dict[str, tuple[Finding, ...]]:
        """The findings of each pack that has some, by its id; paths are in the pack."""
        listed, excluded = self.catalog.entries, self.catalog.excluded
        entries = (*listed, *(item.descriptor for item in excluded))
        places = {o.location: entry.id for entry in entries for o in entry.origins}
        by_id: dict[str, list[Finding]] = {}
        for finding in self._library.skills.findings:
            place, path = _place_of(finding.path, places)
            if place in places:
                inside = _moved(finding, path, self.public)
                by_id.setdefault(places[place], []).append(inside)
        return {skill_id: tuple(its) for skill_id, its in by_id.items()}

    @cached_property
    def other_findings(self) -> tuple[Finding, ...]:
        """The findings that are of no pack here: of sources, folders and rules."""
        entries = (*self.catalog, *(item.descriptor for item in self.catalog.excluded))
        places = {o.location: "" for entry in entries for o in entry.origins}
        every = self._library.skills.findings
        others = (f for f in every if _place_of(f.path, places)[0] not in places)
        return tuple(_moved(f, self.public(f.path), self.public) for f in others)

    @cached_property
    def choices(self) -> dict[str, list[tuple[str, str]]]:
        """The values of each filter, with how many skills each has."""
        entries = self.catalog.entries
        sources = Counter(self.labels.get(entry.source, "") for entry in entries)
        tags = Counter(tag for entry in entries for tag in entry.keywords)
        codes: Counter[str] = Counter()
        for skill_id, findings in self.findings.items():
            if skill_id in self.catalog:
                codes.update(
                    {f.severity for f in findings} | {f.code for f in findings}
                )
        owners = Counter(self.owners.values())
        return {
            "source": _choices(sources),
            "owner": _choices(owners),
            "tag": _choices(tags),
            "finding": sorted(_choices(codes), key=_by_severity),
        }

    def prepare(self) -> None:
        """Make all that a list needs, which takes a while for many skills."""
        _ = self.choices, self.excluded

    def sources(self) -> list[tuple[str, SourceStatus]]:
        """Return each source by its public name, as far as one's own skills go."""
        states = self._library.skills.registry.latest.sources
        if not self.is_whole:
            own = Counter(entry.source for entry in self.catalog)
            states = tuple(
                replace(s, packs=own[s.label]) for s in states if own[s.label]
            )
        return [(self.labels.get(state.label, ""), state) for state in states]

    @cached_property
    def _by_cost(self) -> Sequence[Descriptor]:
        return sorted(self.catalog.entries, key=attrgetter("size"), reverse=True)

    def rows(self, view: View, filters: Filters, number: int) -> RowPage:
        """Return the skills that fit, as `View.rank` orders them, or by id."""

        def fits(entry: Descriptor) -> bool:
            return self._fits(entry, filters)

        if filters.q:
            # Not `find`: what people type here is no query of an agent to keep.
            hits = view.rank(filters.q, PAGE_SIZE, fits)
            listed = ((self.catalog.get(hit.id), hit) for hit in hits)
            rows = tuple(self.row(entry, hit) for entry, hit in listed if entry)
            partial = any(hit.partial for hit in hits)
            return RowPage(rows, len(rows), 1, respelled(hits), partial)
        entries = self._by_cost if filters.sort == "cost" else self.catalog.entries
        if filters.narrow:
            entries = [entry for entry in entries if fits(entry)]
        pages = max(1, -(-len(entries) // PAGE_SIZE))
        number = min(max(number, 1), pages)
        start = (number - 1) * PAGE_SIZE
        rows = tuple(map(self.row, entries[start : start + PAGE_SIZE]))
        return RowPage(rows, len(entries), number)

    def _fits(self, entry: Descriptor, filters: Filters) -> bool:
        if filters.source and self.labels.get(entry.source, "") != filters.source:
            return False
        if filters.owner and self.owners.get(entry.id, "") != filters.owner:
            return False
        tag = filters.tag.casefold()
        if tag and tag not in map(str.casefold, entry.keywords):
            return False
        findings = self.findings.get(entry.id, ()) if filters.finding else ()
        fitting = (filters.finding in (f.severity, f.code) for f in findings)
        return not filters.finding or any(fitting)

    def row(self, entry: Descriptor, hit: Hit | None = None) -> Row:
        source = self.labels.get(entry.source, "")
        findings = self.findings.get(entry.id, ())
        return Row(entry, source, self.owner(entry), cost_of(entry), findings, hit)

    def public(self, text: str) -> str:
        """Return a text without the paths of this machine that begin a source."""
        for label, reader in self._library.catalog.readers.items():
            for path in filter(is_machine_path, {label, getattr(reader, "root", "")}):
                text = text.replace(path, self.labels.get(label, "skills"))
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

    def not_listed(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield the id of each pack that is not listed, why, a detail, and a fix."""
        for item in self.excluded:
            detail, fix = map(self.public, (item.detail, item.fix))
            yield item.id, item.reason, detail, fix
        for conflict in self.catalog.unresolved:
            places = f"{plural(len(conflict.owners), 'pack')} claim this id"
            owners = self.public(conflict.places)
            fix = self.public(conflict.fix)
            yield conflict.id, "conflict", f"{places}: {owners}", fix


@dataclass(frozen=True, slots=True)
class State:
    """The line of state that each page has."""

    skills: int
    release: str
    replica: str
    away: tuple[str, ...]
    not_listed: int
    waiting: int
    lost: int
    problem: str


def state_of(library: ServedLibrary, facts: LibraryFacts) -> State:
    catalog, usage = facts.catalog, library.skills.usage_state
    sources, is_whole = facts.sources(), facts.is_whole
    away = tuple(label for label, state in sources if state.error)
    releases = {state.release for _, state in sources if state.release}
    one = short_digest(releases.pop()) if len(releases) == 1 else ""
    return State(
        len(catalog),
        plural(len(releases), "release") if releases else one and f"release {one}",
        clean_line(node()) if is_whole else "",
        away,
        len(facts.excluded) + len(catalog.unresolved),
        usage.waiting if is_whole else 0,
        usage.lost if is_whole else 0,
        "use is not recorded now" if usage.problem and is_whole else "",
    )


def cost_of(entry: Descriptor) -> Cost:
    """Return what a skill costs, by the sizes of its files."""
    line = list_line(clean_line(entry.id), clean_line(entry.description))
    files = (stat.size for stat in entry.files if stat.path != SKILL_FILE)
    return Cost(_count(line), (entry.size + 3) // 4, sum((s + 3) // 4 for s in files))


def short_digest(digest: str) -> str:
    return digest.rpartition(":")[2][:_DIGEST_CHARS]


def _place_of(path: str, places: Mapping[str, str]) -> tuple[str, str]:
    """Return the pack that a path is in, and the rest; the whole path for none."""
    place = path
    while place and place not in places:
        place = place.rpartition("/")[0]
    return (place, path[len(place) + 1 :]) if place else (path, "")


def _moved(finding: Finding, path: str, public: Callable[[str], str]) -> Finding:
    texts = map(public, (finding.message, finding.fix))
    message, fix = texts
    return Finding(finding.code, finding.severity, message, path, finding.line, fix)


def _choices(counts: Counter[str]) -> list[tuple[str, str]]:
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MAX_CHOICES]
    return [(value, f"{value} ({count:,})") for value, count in sorted(most) if value]


def _by_severity(choice: tuple[str, str]) -> tuple[int, str]:
    severities: Sequence[str] = SEVERITIES
    is_one = choice[0] in severities
    return (severities.index(choice[0]) if is_one else len(severities), choice[0])
