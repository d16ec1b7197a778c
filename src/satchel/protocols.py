"""What Satchel asks of the parts that others may write: sources, sinks, rankers."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    NamedTuple,
    Protocol,
    TypeAlias,
    cast,
    runtime_checkable,
)

from satchel.model import (
    ApprovalAnswer,
    Catalog,
    Conflict,
    Descriptor,
    Excluded,
    FileReader,
    FileStat,
    Finding,
    Found,
    Limits,
    Manifest,
    Question,
    Reply,
    Severity,
    SourceStatus,
)

# To read skills needs neither, and every command would wait for them.
if TYPE_CHECKING:
    from satchel.model import Hit, Job, Outcome, UsageEvent

__all__ = [
    "Approval",
    "Approver",
    "Clock",
    "Ranker",
    "Report",
    "Runner",
    "SourceAbilities",
    "TokenCounter",
    "UsageSink",
]

Approval: TypeAlias = Reply | ApprovalAnswer | bool
"""The answer of a person; True is ``yes_once``, False ``no``."""

Approver: TypeAlias = Callable[[Question], Approval | Awaitable[Approval]]
"""A function that asks a person before something is done."""


class Verifier(Protocol):
    """Says whether bytes are those that somebody reviewed; asked at each load."""

    def problem_of(self, skill: Descriptor) -> Finding | None:
        """Return what is wrong with a SKILL.md as it was catalogued.

        A skill with a finding that is an error is neither listed nor loaded.
        """
        ...

    def verify(self, skill: Descriptor, path: str, digest: str) -> str:
        """Return who vouches for the bytes of this digest: a lock, a release, a signer.

        Raises:
            DigestMismatchError: Others were reviewed.
        """
        ...


class Runner(Protocol):
    """Runs scripts of skills, each where it can do no harm; safe across threads.

    An attribute ``kind`` may say how, such as ``bubblewrap``; a person's yes is for it.
    """

    def run(self, job: "Job") -> "Outcome":
        """Run one script to its end, and all that it started.

        What cannot be run is an outcome with the ending ``refused``; what is raised
        becomes an error for the model. Returns soon after ``job.cancelled`` is set.
        """
        ...


class Report(Protocol):
    """What a check says of packs; printed, it is a line for each finding."""

    @property
    def packs(self) -> int:
        """How many packs were checked."""
        ...

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong, by path, line and code."""
        ...

    @property
    def summary(self) -> str:
        """The last line: how many packs, how many findings of each severity."""
        ...

    def count(self, severity: Severity) -> int:
        """Return how many findings are of exactly this severity."""
        ...

    def fails(self, on: Severity = "error") -> bool:
        """Return whether a finding is at least so severe."""
        ...


class PanelRow(NamedTuple):
    """A line of a panel: what it is about, what is the case, and what to do.

    ``level`` is a severity of findings, or empty where all is well.
    """

    name: str
    text: str
    level: str = ""
    fix: str = ""


class Panel(Protocol):
    """What a product adds to a skill's page: values, of which the page makes markup."""

    def rows(
        self, skill: Descriptor, catalog: Catalog, limits: Limits
    ) -> Sequence[PanelRow]:
        """Return the lines; they may have text of the pack.

        Raises:
            SkillError: The pack cannot be read now.
        """
        ...


@runtime_checkable
class SkillSource(Protocol):
    """A place that packs come from: read-only, uncached, safe across threads.

    Everything it returns is untrusted. A source raises only `SkillError`s; anything
    else that escapes it is treated as `SourceUnavailableError` by the registry.
    Third parties can check theirs with `satchel.testing.SourceContract`.

    `SourceAbilities` has what a source may offer beyond this.
    """

    @property
    def label(self) -> str:
        """Short name for messages and metrics, free of credentials."""
        ...

    def scan(self) -> Iterable[Found | Finding]:
        """Yield each pack once, sorted by key, and findings.

        Cheap: no file body is read.

        Raises:
            SourceUnavailableError: No answer now; the same call may work later.
        """
        ...

    def manifest(self, key: str) -> bytes | Manifest:
        """Return the raw SKILL.md, or a manifest where there is no file.

        Raises:
            SkillNotFoundError: The source answered, and has no such pack.
            LimitExceededError: The file is over ``Limits.skill_md_bytes``.
            ReferenceUnreadableError: It is there and cannot be read.
            SourceUnavailableError: As for `scan`.
        """
        ...

    def files(self, key: str) -> Iterable[FileStat]:
        """Yield every regular file of the pack, SKILL.md included, sorted by path.

        Raises:
            SkillNotFoundError, LimitExceededError, SourceUnavailableError: As above.
        """
        ...

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        """Return one file's raw bytes; ``path`` is relative and uses ``/``.

        Raises:
            ReferenceEscapesError: ``path`` would leave the pack, or goes through a
                link or to something that is not a regular file.
            ReferenceNotFoundError: The pack has no such file.
            ReferenceUnreadableError: It is there and cannot be read.
            LimitExceededError: It is larger than ``limit_bytes``.
            SourceUnavailableError: As for `scan`.
        """
        ...

    def close(self) -> None:
        """Release what the source uses; a second call does nothing."""
        ...


@runtime_checkable
class LegacySource(Protocol):
    """A source of the earlier system; its readers are optional."""

    @property
    def name(self) -> str:
        """The name of the source."""
        ...

    def iter_skills(self) -> Iterable[object]:
        """Return whole skills: ``body``, and fields, also on ``manifest``."""
        ...


class SourceAbilities(FileReader, Protocol):
    """What a source may offer beyond `SkillSource`, with defaults.

    A source inherits this and overrides what it offers. One that does not inherit it,
    but has attributes of these names, is wrapped once, by `with_abilities`.

    Attributes:
        near: Whether reading is fast, as from a local disk; None is unknown.
        root: The folder of this machine that has the packs; empty for none.
        tree: The manifests of plugins of a source without one, by path.
        missing_ok: Whether a ``root`` that is not there is a folder without packs.
        remote: The kind of place that skills are fetched from (``MCP server``). It is
            shown wherever a skill of the source is listed, and nothing of the source is
            read before a caller asks for it.
        yields: Whether no skill of the source takes the place of another source's.
        trusted: Whether its packs may be listed and loaded.
        precedence: The lower one wins an id; None makes a conflict an error.
        release: The id of the release that the source holds; None if it never has one.
        progress: Any value that changes while a scan makes progress. A first scan is
            waited for as long as it changes or packs are yielded.
        limits_reads: Whether the source limits concurrent reads itself.
        finds_one: Whether `scan_one` costs less than a scan.
    """

    missing_ok: bool = False
    remote: str = ""
    yields: bool = False
    trusted: bool = True
    precedence: int | None = None
    limits_reads: bool = False
    finds_one: bool = False

    @property
    def release(self) -> str | None:
        """The id of the release that it holds; None if it never holds one."""
        return None

    @property
    def progress(self) -> object:
        """How far a scan got."""
        return None

    def scan_one(self, key: str, location: str) -> Found | None:
        """Return one pack as a scan would find it now; None where it would not.

        Raises:
            SkillNotFoundError, SourceUnavailableError: There is no such pack.
        """
        del location
        packs = (item for item in self.scan() if isinstance(item, Found))
        return next((pack for pack in packs if pack.key == key), None)

    def identify_at(self, manifest: Manifest, key: str) -> str | None:
        """Return the id of the pack ``key``; None leaves it out, as filtered."""
        del key
        return manifest.name

    def scan(self) -> Iterable[Found | Finding]:
        """As `SkillSource.scan`."""
        ...


class FullSource(SkillSource, SourceAbilities, Protocol):
    """A source that has every ability."""


def with_abilities(source: SkillSource) -> FullSource:
    """Return a source with every ability; what it does not offer has its default."""
    # A Protocol that is not runtime-checkable allows no `isinstance`.
    if SourceAbilities in type(source).__mro__:
        return cast("FullSource", source)
    return cast("FullSource", CompleteSource(source))


def index_key(source: SkillSource) -> object:
    """Return all that decides what a source finds, next to files; None if unknown.

    Only what is kept by such a key is used again by another process.
    """
    # Looked up on the class: a wrapper of somebody else may pass attributes on.
    key = getattr(type(source), "index_key", None)
    return key.fget(source) if isinstance(key, property) and key.fget else None


class CompleteSource:
    """A source of someone else: its own attributes, else the defaults."""

    def __init__(self, source: SkillSource) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the source has
        if name.startswith("_"):  # not set yet, as while a copy is being made
            raise AttributeError(name)
        source = self._source
        if hasattr(source, name):
            return getattr(source, name)
        # A source defines `scan_one` because it costs less than a scan.
        if name == "finds_one":
            return hasattr(source, "scan_one")
        if name == "identify_at" and isinstance(source, NamesSkills):

            def identify_at(manifest: Manifest, _: str) -> str | None:
                return source.identify(manifest)

            return identify_at
        default = getattr(SourceAbilities, name)
        # Bound to this wrapper, so that a default method calls the source's own
        # members.
        bound = callable(default) or isinstance(default, property)
        return default.__get__(self) if bound else default


@runtime_checkable
class NamesSkills(Protocol):
    """A source that decides under which id a pack enters the catalog, or whether."""

    def identify(self, manifest: Manifest) -> str | None:
        """Return the id for this manifest; None leaves the pack out, as filtered."""
        ...


class CatalogView(Protocol):
    """What prompt, search and load ask of a catalog.

    `satchel.model.Catalog` has all of it in memory. A catalog of another kind, such as
    a view on a database, implements this.
    """

    @property
    def entries(self) -> Sequence[Descriptor]:
        """What a prompt lists, sorted by id by code point."""
        ...

    @property
    def findings(self) -> Sequence[Finding]:
        """The findings of the sources and packs."""
        ...

    @property
    def readers(self) -> Mapping[str, FileReader]:
        """What reads the files of each source, by its label."""
        ...

    @property
    def incomplete_source(self) -> SourceStatus | None:
        """The first source that has never answered in full; it may hold any id."""
        ...

    def get(self, skill_id: str) -> Descriptor | None:
        """Return the listed descriptor of exactly this id, or None."""
        ...

    def exclusion_of(self, skill_id: str) -> Excluded | None:
        """Return why the pack of this id is not listed; None where it is unknown."""
        ...

    def conflict_of(self, skill_id: str) -> Conflict | None:
        """Return the unresolved conflict over this id, or None."""
        ...

    def replacement_of(self, skill_id: str) -> str:
        """Return the listed skill that replaces this one; empty for none."""
        ...


class Ranker(Protocol):
    """Finds the skills of a catalog that match a query."""

    def rank(self, catalog: CatalogView, query: str, k: int) -> "Sequence[Hit]":
        """Return at most ``k`` hits, best first, ties by id."""
        ...


class UsageSink(Protocol):
    """Takes usage events; if it fails, no load fails with it."""

    def record(self, event: "UsageEvent") -> None:
        """Take one event."""
        ...


class UsedApprovals(Protocol):
    """Remembers for which calls an approval was used; see `satchel.runtime`."""

    def use(self, key: str) -> bool:
        """Store the key for good, and return whether it is new, as one atomic step.

        If it raises, the key could not be stored, and the call is not made.
        """
        ...


class TokenCounter(Protocol):
    """Counts what a text costs a model."""

    @property
    def name(self) -> str:
        """What to call the count: an estimate says that it is one."""
        ...

    def count(self, text: str) -> int:
        """Return how many tokens ``text`` costs; 0 for no text."""
        ...


class Clock(Protocol):
    """Tells the time; tests bring their own."""

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        ...

    def now(self) -> float:
        """Return seconds since the epoch."""
        ...
