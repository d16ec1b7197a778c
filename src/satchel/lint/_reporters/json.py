"""For programs, and for the next run's baseline."""

from collections.abc import Container
from typing import Final

from satchel.lint._report import CheckReport, LibraryChange, fingerprint
from satchel.lint._reporters._formats import PLAIN_TEXT, TextOptions, as_json
from satchel.model import Finding

SCHEMA_VERSION: Final = 1


def render(report: CheckReport, view: TextOptions = PLAIN_TEXT) -> str:
    """Return one object; all but ASCII is escaped, so that any locale can carry it."""
    del view
    mending = report.mending()
    document: dict[str, object] = {
        "schema_version": SCHEMA_VERSION,
        "profile": report.profile,
        "packs": report.packs,
        **({"places": list(report.places)} if report.places else {}),
        "known": report.known,
        "turned_off": {"settings": report.off, "packs": report.inline},
        "not_looked_for": list(report.unasked),
        "findings": [_entry(finding, mending) for finding in report.findings],
    }
    if report.change is not None:
        document["since"] = _since(report.change)
    return as_json(document)


def _entry(finding: Finding, mending: Container[tuple[str, str]]) -> dict[str, object]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "path": finding.path,
        "line": finding.line,
        "message": finding.message,
        "fix": finding.fix,
        "before": finding.before,
        "after": finding.after,
        "fixable": (finding.path, finding.code) in mending,
        "fingerprint": fingerprint(finding),
    }


def _since(change: LibraryChange) -> dict[str, object]:
    skills, tokens = change.skills, change.tokens
    return {
        "rev": change.rev,
        "hidden": [
            {"path": each.path, "line": each.line, "code": each.code}
            for each in change.hidden
        ],
        "executables": [
            {"path": each.path, "new": each.new, "why": each.why}
            for each in change.executables
        ],
        "duplicates": [
            {"path": each.path, "other": each.other, "same": each.likeness}
            for each in change.twins
        ],
        "packs": {
            "added": list(change.added),
            "changed": list(change.changed),
            "moved": [{"from": origin, "to": to} for origin, to in change.moved],
            "removed": list(change.removed),
        },
        "catalog": {
            "skills": {"before": skills[0], "after": skills[1]},
            "tokens": {"before": tokens[0], "after": tokens[1]},
        },
    }
