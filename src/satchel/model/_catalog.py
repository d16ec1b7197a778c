"""The catalog: an immutable, ordered snapshot of what a sync found."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, Literal, Protocol, cast

from satchel.errors import DuplicateSkillError, rename_advice
from satchel.model._finding import Finding
from satchel.model._lazy_tuple import LazyById, LazyTuple
from satchel.model._pack import SKILL_FILE, Descriptor, FileStat

OnConflict = Literal["error", "precedence"]

# Retired skills that are followed from one to the next.
MAX_REPLACEMENTS: Final = 8

# Owners of one id that a message names.
MAX_OWNERS: Final = 3

ExclusionReason = Literal[
    "refused",
    "filtered",
    "untrusted",
    "unverified",
    "disabled",
    "shadowed",
    "deprecated",
    "hidden",
]

# Whether what is being read in this context is loaded by a model or a user.
#
# A source that fetches from another server tells it which requests are loads.
IS_LOAD: Final = ContextVar("satchel_is_load", default=False)


class FileReader(Protocol):
    """The part of a source that a load needs: one file's bytes, and what is there."""

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        """Return one file's raw bytes, at most ``limit_bytes`` of them."""
        ...

    def files(self, key: str) -> Iterable[FileStat]:
        """Return what the pack holds now, sorted by path."""
        ...

    near: bool | None = None
    """Whether reading is fast, as from a local disk; None is unknown."""

    root: str = ""
    """The folder of this machine that has the packs; empty for none."""

    tree: Mapping[str, bytes | None] = {}
    """Without a ``root``, manifests of plugins by path; None for a folder or a link."""

    def is_unchanged(self, key: str, stat: FileStat) -> bool | None:
        """Return whether size and mark are the same; None: look at all `files`."""
        del key, stat
        return None

    def local_skill_md(self, key: str, limit_bytes: int) -> bytes | None:
        """Return a SKILL.md that can be had at once; None if it has to be fetched."""
        return None if self.near is False else self.read(key, SKILL_FILE, limit_bytes)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two packs or more that claim one id.

    ``preferred`` is the one that a chosen precedence lists; None means that none was
    chosen, so that none of them is listed until one is. ``plugins`` are the plugins of
    the owners, as parts of ids; empty for none.
    """

    id: str
    owners: tuple[Descriptor, ...]
    preferred: Descriptor | None = None
    plugins: tuple[str, ...] = ()

    @property
    def places(self) -> str:
        """Where the owners are, for a message."""
        shown = [owner.origin.location for owner in self.owners[:MAX_OWNERS]]
        more = len(self.owners) - len(shown)
        return " and ".join([*shown, *([f"{more} more"] if more else [])])

    @property
    def fix(self) -> str:
        """The ways out, each with its line for code, command line and satchel.toml."""
        code, option, line = self._prefixes()
        return rename_advice(
            "put a prefix in front of ids: "
            f"options=Options({code}) in Satchel(...), {option} on the command line, "
            f"{line} in satchel.toml",
            "let the first one win: "
            'options=Options(on_conflict="precedence") in Satchel(...), '
            '--on-conflict precedence on the command line, on_conflict = "precedence" '
            "in satchel.toml",
        )

    @property
    def error(self) -> DuplicateSkillError:
        """The error that names the first two owners."""
        first, second = (owner.origin.location for owner in self.owners[:2])
        return DuplicateSkillError(self.id, first, second, self.fix)

    def _prefixes(self) -> tuple[str, str, str]:
        """Return a prefix that makes two ids of one: in code, option and setting."""
        first, second = self.owners[:2]
        one, other = (owner.origin.location.split("/") for owner in (first, second))
        # A prefix that is the same for both packs would not tell them apart.
        if len(set(self.plugins)) == len(self.owners):
            prefix = "{plugin}"
        elif one[-2:-1] != other[-2:-1]:
            prefix = "{parent}"
        elif one[:-1] == other[:-1]:
            prefix = "{folder}"
        elif first.source == second.source:
            prefix = "{path}"
        else:
            named = second.source
            return (
                f'prefix={{"{named}": "other-"}}',
                f"--prefix '{named}=other-'",
                f'prefix = {{ "{named}" = "other-" }}',
            )
        return f'prefix="{prefix}"', f"--prefix '{prefix}'", f'prefix = "{prefix}"'


@dataclass(frozen=True, slots=True)
class Excluded:
    """A pack that was found but is not listed, and why.

    ``deprecated`` and ``hidden`` packs still load; the others do not. Of a ``refused``
    pack nothing but the folder's name is known, which its descriptor's id then is.
    """

    descriptor: Descriptor
    reason: ExclusionReason
    detail: str = ""
    fix: str = ""

    @property
    def id(self) -> str:
        """The id of its descriptor."""
        return self.descriptor.id


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """How one source answered the last sync.

    ``packs`` counts the packs that it holds, refused ones included.
    ``error`` is empty where the source answered; else the packs are those of its
    last good answer. ``release`` is the release that it holds, if it is one.
    ``partial`` says that no answer was ever complete: there may be more packs.
    """

    label: str
    packs: int
    error: str = ""
    release: str = ""
    partial: bool = False

    @property
    def stale(self) -> bool:
        """Whether the last answer failed and an earlier one, if any, is in use."""
        return bool(self.error)


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What one sync changed: ids in order, ``total`` as listed afterwards."""

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    total: int = 0


@dataclass(frozen=True, slots=True)
class Catalog:
    """Descriptors by id, with the conflicts and findings of the sync.

    ``entries`` is what a prompt lists, sorted by id by code point. ``excluded`` packs
    were read and are not listed; some of them still load. ``readers`` maps a source's
    label to what reads its files; it takes no part in equality.
    """

    entries: tuple[Descriptor, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    findings: tuple[Finding, ...] = ()
    sources: tuple[SourceStatus, ...] = ()
    readers: Mapping[str, FileReader] = field(
        default_factory=dict[str, FileReader], compare=False, repr=False
    )
    tools_named: bool | None = field(default=None, compare=False, repr=False)
    """Whether a pack may name tools; None is unknown."""
    needs: Collection[str] | None = field(default=None, compare=False, repr=False)
    """The ids of listed skills that need others; None is unknown."""
    _by_id: Mapping[str, Descriptor] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        index: Mapping[str, Descriptor]
        entries: object = self.entries
        if isinstance(entries, LazyTuple):
            index = LazyById(cast("LazyTuple[Descriptor]", entries))
        else:
            index = {entry.id: entry for entry in self.entries}
        # A frozen dataclass allows no plain assignment.
        object.__setattr__(self, "_by_id", index)

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Descriptor]:
        return iter(self.entries)

    def __contains__(self, skill_id: object) -> bool:
        return isinstance(skill_id, str) and skill_id in self._by_id

    def get(self, skill_id: object) -> Descriptor | None:
        """Return the listed descriptor of exactly this id, or None."""
        # A model may write any JSON, also what cannot be hashed.
        return self._by_id.get(skill_id) if isinstance(skill_id, str) else None

    def exclusion_of(self, skill_id: str) -> Excluded | None:
        """Return why the pack of this id is not listed; None where it is unknown."""
        excluded: object = self.excluded
        if isinstance(excluded, LazyTuple) and skill_id not in excluded.ids:
            return None  # most need not be made for this
        exclusions = (e for e in self.excluded if e.descriptor.id == skill_id)
        return next(exclusions, None)

    def replacement_of(self, skill_id: str) -> str:
        """Return the listed skill that took the place of this one; empty for none.

        It says so itself (``metadata.replaces``), or a deprecated one leads to it,
        over a few steps at most. A skill that is listed needs none.
        """
        if skill_id in self:
            return ""
        retired = [e.descriptor for e in self.excluded if e.reason == "deprecated"]
        names = {skill_id}
        # Bounded: retired skills may name one another in a circle.
        for _ in range(MAX_REPLACEMENTS):
            successors = {entry.replaced_by for entry in retired if entry.id in names}
            successors |= {
                e.id for e in (*self, *retired) if not names.isdisjoint(e.replaces)
            }
            names = successors
            if listed := sorted(name for name in names if name in self):
                return listed[0]
        return ""

    @property
    def names_tools(self) -> bool:
        """Whether a pack, listed or not, names tools."""
        if self.tools_named is not None:
            return self.tools_named
        excluded = (excluded.descriptor for excluded in self.excluded)
        return any(entry.tools for entry in chain(self, excluded))

    @property
    def needing(self) -> Iterator[Descriptor]:
        """The listed skills that need others, by id."""
        ids = self.needs
        entries = self if ids is None else filter(None, map(self.get, sorted(ids)))
        return (entry for entry in entries if entry.requires)

    @property
    def incomplete_source(self) -> SourceStatus | None:
        """The first source that has never answered in full; it may hold any id."""
        return next((state for state in self.sources if state.partial), None)

    def conflict_of(self, skill_id: str) -> Conflict | None:
        """Return the unresolved conflict over this id, or None."""
        return next((c for c in self.unresolved if c.id == skill_id), None)

    @property
    def release(self) -> str:
        """The release that all of it comes from; empty where that is not one."""
        releases = {state.release for state in self.sources}
        return releases.pop() if len(releases) == 1 else ""

    def release_of(self, source: str) -> str:
        """Return the release that a source, by its label, holds; empty for none."""
        return next((s.release for s in self.sources if s.label == source), "")

    @property
    def unresolved(self) -> tuple[Conflict, ...]:
        """The conflicts that no precedence decided."""
        return tuple(c for c in self.conflicts if c.preferred is None)
