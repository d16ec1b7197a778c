"""Findings on a library: collected, logged, raised, and summarised."""

from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from satchel.errors import (
    ConfigError,
    DuplicateSkillError,
    NoSkillsError,
    SkillError,
    SkillManifestError,
    SourceUnavailableError,
)
from satchel.model import SKILL_FILE, Catalog, Finding
from satchel.policy import Policy
from satchel.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from satchel.catalog import Registry
    from satchel.model import SourceStatus
    from satchel.runtime._tool_registry import ToolRegistry


MAX_LINES_PER_CODE: Final = 10
"""Findings of one code that get a line each; more of them are counted in one."""

_WARNED_CODES: Final = frozenset(
    {
        "broken-link",
        "link-leaves-root",
        "misspelled-field",
        "no-skills",
        "disabled-unknown",
    }
)
"""Warnings that say that something is not here, or not read as it was meant."""

_logging_off: ContextVar[bool] = ContextVar("satchel_unlogged", default=False)


@contextmanager
def without_logging() -> Generator[None]:
    """Log nothing here: whoever asks prints the findings for a person to read."""
    token = _logging_off.set(True)
    try:
        yield
    finally:
        _logging_off.reset(token)


def needs_attention(finding: "Finding") -> bool:
    """Tell whether something was refused, unreachable, in conflict, or not found."""
    return finding.severity == "error" or finding.code in _WARNED_CODES


def finding_line(finding: "Finding") -> str:
    """Return a finding and its fix as one line without control characters."""
    fix = f"; fix: {finding.fix}" if finding.fix else ""
    return printable(f"{finding}{fix}", keep="")


class FindingLog:
    """Logs what is new since it was last told of the state of a library."""

    def __init__(self) -> None:
        """Know of nothing yet."""
        self._told: frozenset[Finding] = frozenset()

    def tell(self, findings: "Iterable[Finding]") -> None:
        """Log, at WARNING, each loud finding that was not there the last time."""
        loud = tuple(filter(needs_attention, findings))
        new = [each for each in loud if each not in self._told]
        self._told = frozenset(loud)
        if not new or _logging_off.get():
            return
        import logging  # costs start-up time, and mostly there is nothing to say

        logger = logging.getLogger("satchel")
        for line in _log_lines(new):
            logger.warning("%s", line)


def _log_lines(findings: "Iterable[Finding]") -> list[str]:
    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.code, []).append(finding)
    lines: list[str] = []
    for code, alike in by_code.items():
        if len(alike) <= MAX_LINES_PER_CODE:
            lines += map(finding_line, alike)
        else:
            first = finding_line(alike[0])
            lines.append(
                f"{len(alike):,} findings {code}, all in Satchel.findings; "
                f"the first: {first}"
            )
    return lines


def first_error(findings: "Iterable[Finding]", latest: "Catalog") -> SkillError | None:
    """Return the first loud finding as an error, the others as its notes.

    None where there is none.
    """
    loud = tuple(filter(needs_attention, findings))
    if not loud:
        return None
    error = _error_for(loud[0], latest)
    for line in _log_lines(loud[1:]):
        error.add_note(line)
    return error


def _error_for(finding: "Finding", latest: "Catalog") -> SkillError:
    match finding.code:
        case DuplicateSkillError.code:
            conflict = latest.unresolved[0]
            first, second = (each.origin.location for each in conflict.owners[:2])
            return DuplicateSkillError(conflict.id, first, second, conflict.fix)
        case SourceUnavailableError.code:
            return SourceUnavailableError(finding.path, finding.message)
        case "disabled-unknown":
            return ConfigError(finding.path, finding.message)
        case NoSkillsError.code:
            return NoSkillsError(finding.path, finding.message)
        case _:
            return SkillManifestError(finding.path, finding.message, finding.line)


MAX_LABELS: Final = 3
"""Sources that a message names."""


def all_findings(
    registry: "Registry",
    found: tuple[Finding, ...],
    policy: Policy,
    offers: "Callable[[], ToolRegistry]",
) -> tuple[Finding, ...]:
    """Return what there is to say of the library, of its tools and of its policy.

    ``found`` is what `library_findings` gives; then tools that packs name and nobody
    offers, and rules of the policy that raised.
    ``offers`` is asked only where a pack names tools.
    """
    latest = registry.latest
    missing = offers().missing(latest) if _names_tools(latest) else ()
    return (*found, *missing, *policy.problems)


def library_findings(
    registry: "Registry", named: frozenset[str], advice: str = ""
) -> tuple[Finding, ...]:
    """Return what was found, and which sources, ids and folders give nothing.

    Sources that do not answer, ids that several packs claim, what the sources and
    packs told, folders that were named and hold no pack. ``advice`` is what to do
    where nothing says which skills are meant.
    """
    latest = registry.latest
    empty = [
        empty_folder_finding(state.label)
        for state in latest.sources
        if state.label in named and not state.packs and not state.error
    ]
    if not (registry.catalog.entries or empty):
        empty = list(_nothing_listed(latest, advice))
    return (
        *unavailable_sources(latest),
        *_unresolved_conflicts(latest, registry.catalog),
        *latest.findings,
        *empty,
        *_unused_disabled(registry),
    )


def _unused_disabled(registry: "Registry") -> "Iterator[Finding]":
    """Yield what is switched off by a name that nothing has."""
    for switch in registry.unused_disabled:
        kind = "skill" if switch.kind == "skill" else "source"
        names = (
            [entry.id for entry in registry.latest.entries]
            if kind == "skill"
            else [state.label for state in registry.latest.sources]
        )
        from satchel.text import nearest

        close = nearest(switch.pattern, names, 1)
        fix = f"write {close[0]!r}, or " if close else ""
        yield Finding.of(
            "disabled-unknown",
            switch.where.strip("`"),
            kind=kind,
            pattern=switch.pattern,
            fix=fix,
            option=switch.fix,
        )


def _nothing_listed(latest: Catalog, advice: str) -> "Iterator[Finding]":
    """Yield that no skill is listed at all, where nothing else says why."""
    if latest.unresolved or any(state.error for state in latest.sources):
        return
    reasons = Counter(held.reason for held in latest.excluded)
    if "refused" in reasons:
        return
    why = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    labels = ", ".join(state.label for state in latest.sources[:MAX_LABELS])
    yield Finding(
        "no-skills",
        "warning",
        f"no skill is listed{f': {why}' if why else ''}",
        labels,
        fix=advice or "add skills, or look whether this is the place that was meant",
    )


def unavailable_sources(latest: Catalog) -> "Iterator[Finding]":
    """Yield an error for each source that did not answer."""
    for state in latest.sources:
        if state.error:
            yield Finding(
                SourceUnavailableError.code,
                "error",
                f"the source did not answer: {state.error}",
                state.label,
                fix="check its address, its rights and that it runs; the next sync "
                f"asks again{'' if state.partial else ', its last answer is in use'}",
            )


def _unresolved_conflicts(latest: Catalog, in_use: Catalog) -> "Iterator[Finding]":
    """Yield an error for each id that several packs claim."""
    for conflict in latest.unresolved:
        holder = in_use.get(conflict.id)
        ends = (
            "none of them is listed"
            if holder is None
            else f"{holder.origin.location} had it first and keeps it until this "
            "process ends"
        )
        yield Finding(
            DuplicateSkillError.code,
            "error",
            f"{conflict.id!r} is claimed by {conflict.places}; {ends}",
            f"{conflict.owners[1].origin.location}/{SKILL_FILE}",
            fix=conflict.fix,
        )


def _names_tools(catalog: Catalog) -> bool:
    """Tell whether some pack names a tool."""
    return any(entry.tools for entry in catalog.entries) or any(
        held.descriptor.tools for held in catalog.excluded
    )


def empty_folder_finding(label: str) -> Finding:
    """Return what there is to say of a folder that was named and holds no pack."""
    return Finding.of("no-skills", label, sentence="folder")


MAX_SOURCE_LINES: Final = 3
"""Sources that get a line each."""
MAX_CODE_LINES: Final = 4
"""Kinds of what is wrong that get a line each."""
MAX_LINE_CHARS: Final = 200
"""Characters of a line; paths may be long, and errors of a source longer."""


def summary(registry: "Registry", findings: "Iterable[Finding]") -> str:
    """Return the summary of a library as it is now."""
    catalog = registry.catalog
    states = catalog.sources
    kinds: dict[str, list[Finding]] = {}
    for finding in filter(needs_attention, findings):
        kinds.setdefault(finding.code, []).append(finding)
    excluded = len(catalog.excluded)
    counts = [
        f"{_counted(len(catalog), 'skill')} from {_counted(len(states), 'source')}"
    ]
    counts += [f"{excluded:,} not listed (see .catalog.withheld)"] if excluded else []
    lines = [", ".join(counts)]
    lines += [f"  {_source_line(state)}" for state in states[:MAX_SOURCE_LINES]]
    if len(states) > MAX_SOURCE_LINES:
        lines.append(f"  and {_counted(len(states) - MAX_SOURCE_LINES, 'source')} more")
    shown = MAX_CODE_LINES if len(kinds) <= MAX_CODE_LINES else MAX_CODE_LINES - 1
    lines += [f"  {_code_line(alike)}" for alike in list(kinds.values())[:shown]]
    if len(kinds) > shown:
        lines.append(f"  and {len(kinds) - shown} more kinds of trouble")
    if kinds:
        first = next(iter(kinds.values()))[0]
        lines.append(f"to do: {first.fix}; .findings has everything")
    return "\n".join(map(_cut_line, lines))


def _source_line(state: "SourceStatus") -> str:
    away = f", did not answer: {state.error}" if state.error else ""
    return f"{state.label}: {_counted(state.packs, 'pack')}{away}"


def _code_line(alike: "list[Finding]") -> str:
    more = f" (and {len(alike) - 1:,} more {alike[0].code})" if len(alike) > 1 else ""
    return f"{alike[0]}{more}"


def _cut_line(line: str) -> str:
    text = printable(line, keep="")
    return text if len(text) <= MAX_LINE_CHARS else f"{text[: MAX_LINE_CHARS - 1]}…"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
