"""JSON for programs, and for the baseline of the next run."""

from dataclasses import asdict
from typing import Final

from satchel_lab.lint._report import CheckReport, LibraryChange, fingerprint
from satchel_lab.lint._reporters._formats import as_json

SCHEMA_VERSION: Final = 1
_OF_FINDING: Final = (
    *("code", "severity", "path", "line", "message", "fix", "before", "after"),
)


def render(report: CheckReport) -> str:
    """Return one object in ASCII, with escapes, which every locale can print."""
    fixes = report.fix_of_finding()
    document: dict[str, object] = {
        "schema_version": SCHEMA_VERSION,
        "profile": report.profile,
        "packs": report.packs,
        **({"places": list(report.places)} if report.places else {}),
        "known": report.known,
        "turned_off": {
            "settings": report.turned_off,
            "packs": report.turned_off_in_packs,
        },
        "not_looked_for": list(report.not_run),
        "findings": [
            {
                **{key: getattr(finding, key) for key in _OF_FINDING},
                "fixable": (finding.path, finding.code) in fixes,
                "fingerprint": fingerprint(finding),
            }
            for finding in report.findings + report.unsearched
        ],
    }
    if report.change is not None:
        document["since"] = _since(report.change)
    return as_json(document)


def _since(change: LibraryChange) -> dict[str, object]:
    skills, tokens = change.skills, change.tokens
    return {
        "rev": change.rev,
        **{
            name: [{"path": f.path, "line": f.line, "code": f.code} for f in findings]
            for name, findings in (("review", change.review), ("hidden", change.hidden))
        },
        "executables": [asdict(file) for file in change.executables],
        "duplicates": [
            {"path": pair.path, "other": pair.other, "same": pair.likeness}
            for pair in change.similar
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
