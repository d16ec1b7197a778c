"""For programs, and for the next run's baseline."""

import json
from typing import Final

from satchel.lint.report import Report, fingerprint
from satchel.model import Finding

__all__ = ["SCHEMA_VERSION", "render"]

SCHEMA_VERSION: Final = 1


def render(report: Report) -> str:
    """Return one object; all but ASCII is escaped, so that any locale can carry it."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "profile": report.profile,
        "packs": report.packs,
        "known": report.known,
        "findings": [_entry(finding) for finding in report.findings],
    }
    return json.dumps(document, indent=2).replace("\x7f", "\\u007f")


def _entry(finding: Finding) -> dict[str, object]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "path": finding.path,
        "line": finding.line,
        "message": finding.message,
        "fix": finding.fix,
        "before": finding.before,
        "after": finding.after,
        "fingerprint": fingerprint(finding),
    }
