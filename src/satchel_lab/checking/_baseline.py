"""Known findings, which do not count."""

import json
import posixpath
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any, cast

from satchel.errors import ConfigError
from satchel.model import Finding
from satchel_lab.lint import SCHEMA_VERSION, CheckReport, fingerprint


@dataclass(frozen=True, slots=True)
class Baseline:
    """How often each finding, by its fingerprint, is known already.

    ``inside`` is the same with paths relative to the folders that were checked, so that
    a baseline is good for a library in any place; empty where they are unknown.
    """

    known: Counter[str]
    inside: Counter[str] = field(default_factory=Counter[str])

    @classmethod
    def of(cls, report: CheckReport) -> "Baseline":
        """Return the findings of a report as a baseline."""
        return cls(Counter(map(fingerprint, report.findings)))

    def subtract(self, report: CheckReport) -> CheckReport:
        """Return the report without known findings; one more of a kind stays.

        Findings are compared by their paths as they are printed, or by their paths in
        the checked folders: by the one that matches more of them.
        """
        as_printed = _without(report, self.known, ())
        inside = _without(report, self.inside, report.places)
        return inside if inside.known > as_printed.known else as_printed


def _without(
    report: CheckReport, baseline: Counter[str], places: Collection[str]
) -> CheckReport:
    left = baseline.copy()
    new: list[Finding] = []
    for finding in report.findings:
        mark = fingerprint(_inside(finding, places))
        # Counted, since one more finding equal to a known one is new.
        if left[mark] > 0:
            left[mark] -= 1
        else:
            new.append(finding)
    count = len(report.findings) - len(new)
    return replace(report, findings=tuple(new), known=count)


def _inside(finding: Finding, places: Collection[str]) -> Finding:
    """Return a finding with paths relative to the checked folder."""
    path, message = posixpath.normpath(finding.path), finding.message
    # Longest first: of nested folders the inner one is the place.
    for place in sorted(places, key=len, reverse=True):
        above = posixpath.normpath(place)
        if path == above or path.startswith(f"{above}/"):
            path = path.removeprefix(above).lstrip("/")
            break
    for place in places:  # a message may name another pack
        start = re.escape(place.rstrip("/"))
        message = re.sub(rf"(?<![\w./-]){start}/", "", message)
    return replace(finding, path=path, message=message)


def read_baseline(path: str) -> Baseline:
    """Read what ``satchel check --format json`` wrote.

    Raises:
        OSError: The file cannot be read.
        ConfigError: It is not a report, or one of a later format.
    """
    with open(path, "rb") as file:  # noqa: PTH123 - pathlib costs start-up time
        data = file.read()
    try:
        return _read(json.loads(data))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        reason = "expected what `satchel check --format json` writes"
        raise ConfigError(path, f"{reason}: {error}") from error


def _read(report: Any) -> Baseline:  # noqa: ANN401 - JSON from a file
    version = report["schema_version"]
    if version != SCHEMA_VERSION:
        raise ValueError(f"schema_version is {version!r}, not {SCHEMA_VERSION}")
    entries = cast("list[dict[str, object]]", report["findings"])
    findings = [
        Finding(str(one["code"]), "error", str(one["message"]), str(one["path"]))
        for one in entries
    ]
    counts = Counter(map(fingerprint, findings))
    if "places" not in report:  # of an earlier version
        return Baseline(counts)
    places = [str(place) for place in report["places"]]
    return Baseline(counts, Counter(fingerprint(_inside(f, places)) for f in findings))
