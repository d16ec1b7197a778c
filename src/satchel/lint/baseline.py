"""Findings that are known, and do not count."""

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, cast

from satchel.errors import ConfigError
from satchel.lint.report import Report, fingerprint
from satchel.lint.reporters.json import SCHEMA_VERSION
from satchel.model import Finding

__all__ = ["Baseline", "read_baseline"]


@dataclass(frozen=True, slots=True)
class Baseline:
    """How often each finding, by its fingerprint, is known already."""

    known: Counter[str]

    @classmethod
    def of(cls, report: Report) -> "Baseline":
        """Return what a report knows."""
        return cls(Counter(map(fingerprint, report.findings)))

    def subtract(self, report: Report) -> Report:
        """Return the report without what is known; a further one of a kind stays."""
        left = self.known.copy()
        new: list[Finding] = []
        for finding in report.findings:
            mark = fingerprint(finding)
            if left[mark] > 0:
                left[mark] -= 1
            else:
                new.append(finding)
        known = len(report.findings) - len(new)
        return replace(report, findings=tuple(new), known=known)


def read_baseline(path: str) -> Baseline:
    """Read what ``satchel check --format json`` wrote.

    Raises:
        OSError: The file cannot be read.
        ConfigError: It is no report, or of a later format than is known here.
    """
    with open(path, "rb") as file:  # noqa: PTH123 - pathlib costs start-up time
        data = file.read()
    try:
        return Baseline(Counter(_marks(json.loads(data))))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        reason = "want what `satchel check --format json` writes"
        raise ConfigError(path, f"{reason}: {error}") from error


def _marks(report: Any) -> list[str]:  # noqa: ANN401 - JSON from a file
    version = report["schema_version"]
    if version != SCHEMA_VERSION:
        raise ValueError(f"schema_version is {version!r}, not {SCHEMA_VERSION}")
    return [_mark(each) for each in cast("list[dict[str, object]]", report["findings"])]


def _mark(entry: dict[str, object]) -> str:
    code, path, message = (str(entry[key]) for key in ("code", "path", "message"))
    return fingerprint(Finding(code, "error", message, path))
