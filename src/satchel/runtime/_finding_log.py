"""Findings as a person meets them: logged, raised, and in the text of a Satchel."""

from collections.abc import Generator, Sequence
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
from satchel.model import Catalog, Finding, findings_of, kinds_of
from satchel.text import plural, printable

if TYPE_CHECKING:
    from satchel.catalog import Registry


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


def unknown_disabled_error(
    findings: Sequence[Finding], latest: Catalog
) -> ConfigError | None:
    """Return the error for a name in ``disabled`` that no skill has, or None."""
    # Not for what the environment switches off, which may be meant for another program,
    # nor while a source is away, for then nobody can tell.
    for finding in findings_of(findings, {"disabled-unknown"}):
        if finding.path == "disabled":
            if latest.incomplete_source is not None:
                return None
            return ConfigError("disabled", f"{finding.message}; {finding.fix}")
    return None


def _error_for(finding: Finding, latest: Catalog) -> SkillError:
    match finding.code:
        case DuplicateSkillError.code:
            return latest.unresolved[0].error
        case SourceUnavailableError.code:
            return SourceUnavailableError(finding.path, finding.message)
        case "disabled-unknown" | "rule-names-nothing":
            return ConfigError(finding.path, finding.message)
        case NoSkillsError.code:
            return NoSkillsError(finding.path, finding.message)
        case _:
            return SkillManifestError(finding.path, finding.message, finding.line)


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
