"""Findings on a library: collected, logged, raised, and summarised."""

import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fnmatch import fnmatchcase, translate
from itertools import chain
from typing import TYPE_CHECKING, Final, cast

from satchel.catalog import duplicate_error
from satchel.errors import (
    ConfigError,
    DuplicateSkillError,
    NoSkillsError,
    SkillError,
    SkillManifestError,
    SourceUnavailableError,
    echo,
)
from satchel.model import (
    SKILL_FILE,
    Catalog,
    Descriptor,
    Finding,
    LazyTuple,
    SourceStatus,
    joined_findings,
    kinds_of,
)
from satchel.text import first_names, plural, printable

if TYPE_CHECKING:
    from satchel.catalog import DisabledPattern, Registry
    from satchel.policy import Policy


# Findings of one code that get a line each; more of them are counted in one.
MAX_LINES_PER_CODE: Final = 10

# Warnings that say that something is not here, or not read as it was meant.
_WARNED_CODES: Final = frozenset(
    {
        "broken-link",
        "link-leaves-root",
        "lookalike-id",
        "misspelled-field",
        "no-skills",
        "disabled-unknown",
        "rule-names-nothing",
        "untrusted-pack-loses",
    }
)

_logging_off: ContextVar[bool] = ContextVar("satchel_unlogged", default=False)


@contextmanager
def without_logging() -> Generator[None]:
    """Log nothing here: the caller prints the findings for a person to read."""
    token = _logging_off.set(True)
    try:
        yield
    finally:
        _logging_off.reset(token)


def finding_line(finding: Finding) -> str:
    """Return a finding and its fix as one line without control characters."""
    fix = f"; fix: {finding.fix}" if finding.fix else ""
    # Names of packs are in it: they must not write lines of their own into a log.
    return printable(f"{finding}{fix}", keep="")


class FindingLog:
    """Logs each finding that needs attention once, for as long as it lasts."""

    logged: Sequence[Finding] = ()

    def write(self, findings: Sequence[Finding]) -> None:
        """Log, at WARNING, each such finding that was not there the last time."""
        before, self.logged = self.logged, findings
        if before:
            # Only those of now: what went away and comes back is logged again.
            old = frozenset(_urgent(before))
            findings = [finding for finding in _urgent(findings) if finding not in old]
        lines = () if _logging_off.get() else _log_lines(findings)
        if lines:
            import logging  # costs start-up time, and mostly there is nothing to say

            logger = logging.getLogger("satchel")
            for line in lines:
                logger.warning("%s", line)


def _urgent(findings: Sequence[Finding]) -> list[Finding]:
    places = _urgent_places(findings).values()
    return [findings[at] for at in sorted(at for alike in places for at in alike)]


def _urgent_places(findings: Sequence[Finding]) -> dict[str, list[int]]:
    """Return where those are that need attention, by code.

    Something was refused, unreachable, in conflict, or not found.
    """
    kinds = kinds_of(findings)
    codes: dict[str, str] = {}
    for kind in set(kinds):  # few, of very many findings
        severity, _, code = kind.partition(" ")
        if severity == "error" or code in _WARNED_CODES:
            codes[kind] = code
    places: dict[str, list[int]] = {}
    for at, kind in enumerate(kinds):
        if kind in codes:
            places.setdefault(codes[kind], []).append(at)
    return places


def _log_lines(findings: Sequence[Finding]) -> list[str]:
    """Return the lines on what needs attention among these."""
    lines: list[str] = []
    for code, alike in _urgent_places(findings).items():
        if len(alike) <= MAX_LINES_PER_CODE:
            lines += [finding_line(findings[at]) for at in alike]
        else:
            lines.append(
                f"{len(alike):,} findings {code}, all in Satchel.findings; "
                f"the first: {finding_line(findings[alike[0]])}"
            )
    return lines


def first_error(findings: Sequence[Finding], latest: Catalog) -> SkillError | None:
    """Return the first finding that needs attention as an error with notes."""
    urgent = _urgent(findings)
    if not urgent:
        return None
    error = _error_for(urgent[0], latest)
    for line in _log_lines(urgent[1:]):
        error.add_note(line)
    return error


def _error_for(finding: Finding, latest: Catalog) -> SkillError:
    match finding.code:
        case DuplicateSkillError.code:
            return duplicate_error(latest.unresolved[0])
        case SourceUnavailableError.code:
            return SourceUnavailableError(finding.path, finding.message)
        case "disabled-unknown" | "rule-names-nothing":
            return ConfigError(finding.path, finding.message)
        case NoSkillsError.code:
            return NoSkillsError(finding.path, finding.message)
        case _:
            return SkillManifestError(finding.path, finding.message, finding.line)


# Sources that a message names.
MAX_LABELS: Final = 3


def library_findings(
    registry: "Registry", named: frozenset[str], policy: "Policy", advice: str = ""
) -> tuple[Finding, ...]:
    """Return the findings of the sources and packs, and what gives or names nothing.

    ``advice`` is what to do if nothing says which skills are meant.
    """
    # Of `latest`: what an id's holder covers up in this process is wrong all the same.
    latest = registry.latest
    findings: list[Finding] = []
    empty: list[Finding] = []
    for state in latest.sources:
        if state.error:
            findings.append(_unavailable(state))
        elif not state.packs and state.label in named:
            empty.append(empty_folder_finding(state.label))
    conflicts = registry.conflict_findings() if latest.conflicts else ()
    if not (registry.catalog.entries or empty):
        empty = list(_nothing_listed(latest, advice))
    if registry.rules.disabled:
        empty += [_unused(pattern, latest) for pattern in registry.unused_disabled()]
    # Of skills that have not answered nobody can tell; of none, others do.
    if policy.rules and latest.entries and latest.incomplete_source is None:
        empty += _idle_rules(policy, registry)
    empty += _lookalikes(latest)
    # Of skills that have not answered nobody can tell, either.
    if latest.incomplete_source is None and (needing := [*latest.needing]):
        empty += need_findings(latest, needing)
    more = joined_findings(conflicts, latest.findings, empty)
    return joined_findings(findings, more, ())


def _unused(disabled: "DisabledPattern", latest: Catalog) -> Finding:
    from satchel.text import nearest

    names = [entry.id for entry in latest.entries]
    if disabled.kind == "source":
        names = [state.label for state in latest.sources]
    close = nearest(disabled.pattern, names, 1)
    return Finding.of(
        "disabled-unknown",
        disabled.where.strip("`"),
        kind=disabled.kind,
        pattern=disabled.pattern,
        fix=f"write {close[0]!r}, or " if close else "",
        option=disabled.fix,
    )


def _idle_rules(policy: "Policy", registry: "Registry") -> Iterator[Finding]:
    """Yield the rules that fit no skill, or no tool of those that they fit."""
    latest = registry.latest
    for number, rule in enumerate(policy.rules, 1):
        if rule.missing_ok:
            continue
        kind, given, names = "skill", rule.pattern, registry.ids
        fits = re.compile(translate(given)).match
        if given in names or any(map(fits, names)):
            if rule.tool is None:
                continue
            packs = chain(latest.entries, (one.descriptor for one in latest.excluded))
            kind, given = "tool", rule.tool
            names = {tool for pack in packs if fits(pack.id) for tool in pack.tools}
            if any(fnmatchcase(name, given) for name in names):
                continue
        from satchel.text import nearest

        close = nearest(echo(given), sorted(names), 1)
        fix = f"write {close[0]!r}, or " if close else ""
        yield Finding.of(
            "rule-names-nothing",
            "policy",
            number=number,
            rule=echo(str(rule)),
            kind=kind,
            fix=fix,
        )


def _lookalikes(latest: Catalog) -> Iterator[Finding]:
    """Yield each id that looks like another one: a reader may take it for that."""
    entries: object = latest.entries  # most catalogs need not be made for this
    ids = entries.ids if isinstance(entries, LazyTuple) else [e.id for e in latest]
    if all(map(str.isascii, ids)):
        return
    from satchel.text import folded

    by_look: dict[str, str] = {}
    for id in sorted(ids, key=lambda id: not id.isascii()):
        other = by_look.setdefault(folded(id), id)
        if other != id and not id.isascii():
            place = latest.entries[ids.index(id)].origin.location
            yield Finding.of("lookalike-id", place, id=id, other=other)


def _nothing_listed(latest: Catalog, advice: str) -> Iterator[Finding]:
    """Yield that no skill is listed at all, unless something else says why."""
    # One cause, one finding: a conflict or a dead source says it better.
    if latest.unresolved or any(state.error for state in latest.sources):
        return
    reasons = Counter(excluded.reason for excluded in latest.excluded)
    if "refused" in reasons:
        return
    why = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    labels = ", ".join(state.label for state in latest.sources[:MAX_LABELS])
    yield Finding.of(
        "no-skills",
        labels,
        why=f": {why}" if why else "",
        advice=advice or "add skills, or look whether this is the place that was meant",
    )


def unavailable_sources(latest: Catalog) -> list[Finding]:
    return [_unavailable(state) for state in latest.sources if state.error]


def _unavailable(state: SourceStatus) -> Finding:
    in_use = "" if state.partial else ", its last answer is in use"
    return Finding.of(
        "source-unavailable", state.label, problem=state.error, in_use=in_use
    )


def empty_folder_finding(label: str) -> Finding:
    return Finding.of("no-skills", label, sentence="folder")


# Sources that get a line each.
MAX_SOURCE_LINES: Final = 3
# Kinds of what is wrong that get a line each.
MAX_CODE_LINES: Final = 4
# Characters of a line; paths may be long, and errors of a source longer.
MAX_LINE_CHARS: Final = 200


def contents(catalog: Catalog) -> str:
    """Return how many skills there are, and from where, in a few words."""
    labels = [printable(state.label, keep="") for state in catalog.sources]
    where = labels[0] if len(labels) == 1 else plural(len(labels), "source")
    return f"{plural(len(catalog), 'skill')} from {where}"


def summary(registry: "Registry", findings: Sequence[Finding]) -> str:
    catalog = registry.catalog
    states = catalog.sources
    urgent = _urgent_places(findings).items()
    by_code = {code: (findings[alike[0]], len(alike)) for code, alike in urgent}
    excluded = len(catalog.excluded)
    rest = f", {excluded:,} not listed (see .catalog.excluded)" if excluded else ""
    skills, sources = plural(len(catalog), "skill"), plural(len(states), "source")
    lines = [f"{skills} from {sources}{rest}"]
    for state in states[:MAX_SOURCE_LINES]:
        away = f", did not answer: {state.error}" if state.error else ""
        lines.append(f"  {state.label}: {plural(state.packs, 'pack')}{away}")
    if len(states) > MAX_SOURCE_LINES:
        lines.append(f"  and {plural(len(states) - MAX_SOURCE_LINES, 'source')} more")
    shown = MAX_CODE_LINES if len(by_code) <= MAX_CODE_LINES else MAX_CODE_LINES - 1
    for first, count in list(by_code.values())[:shown]:
        more = f" (and {count - 1:,} more {first.code})" if count > 1 else ""
        lines.append(f"  {first}{more}")
    if len(by_code) > shown:
        lines.append(f"  and {len(by_code) - shown} more kinds of findings")
    if by_code:
        first = next(iter(by_code.values()))[0]
        lines.append(f"to do: {first.fix}; .findings has everything")
    return "\n".join(map(_cut_line, lines))


def _cut_line(line: str) -> str:
    text = printable(line, keep="")
    return text if len(text) <= MAX_LINE_CHARS else f"{text[: MAX_LINE_CHARS - 1]}…"


# Skills that a message names.
_MOST_NAMED: Final = 10
# Each takes a look at all; the next ones show when these are gone.
_MOST_CIRCLES: Final = 10


def need_findings(
    catalog: Catalog,
    entries: Iterable[Descriptor],
    is_around: Callable[[Descriptor, str], bool] = lambda _entry, _name: False,
) -> Iterator[Finding]:
    """Yield which of these skills need one that is missing, then circles.

    ``is_around`` tells whether one that the catalog does not have is somewhere else.
    """
    # Few packs need others, and a program that opens a folder would wait for these.
    from graphlib import CycleError, TopologicalSorter

    from satchel.load import needed_skill

    links: dict[str, list[str]] = {}
    paths: dict[str, str] = {}
    for entry in entries:
        paths[entry.id] = path = f"{entry.origin.location}/{SKILL_FILE}"
        needed = {name: needed_skill(catalog, entry, name) for name in entry.requires}
        links[entry.id] = [one.id for one in needed.values() if one is not None]
        gone = [name for name, one in needed.items() if one is None]
        if missing := [repr(name) for name in gone if not is_around(entry, name)]:
            names = first_names(missing, _MOST_NAMED)
            yield Finding.of("required-skill-missing", path, names=names)
    for _ in range(_MOST_CIRCLES):
        try:
            return TopologicalSorter(links).prepare()
        except CycleError as error:
            # From what is needed to what needs it, and the first one again.
            circle = cast("list[str]", error.args[1])[:0:-1]
            at = circle.index(min(circle))
            circle = circle[at:] + circle[:at]
            shown = circle[:_MOST_NAMED] + ["..."] * (len(circle) > _MOST_NAMED)
            way = " -> ".join([*shown, circle[0]])
            yield Finding.of("requires-circle", paths[circle[0]], way=way)
            links = {id: to for id, to in links.items() if id not in circle}
