"""Run a check, and keep what it found."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from tools.clients.bench import Bench, NotServedError
from tools.clients.environments import UnavailableError
from tools.clients.known import CACHE, RESULTS
from tools.clients.outcome import Report, Step, from_json, to_json

if TYPE_CHECKING:
    from tools.clients.registered import Check

_SKIP: Final = "NOT RUN, for it cannot be had here: "


def prepare(checks: list[Check]) -> list[Report]:
    """Install what the checks need, one after another; return those that cannot run.

    A client that is not to be had is no failure of ours.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    skipped: list[Report] = []
    for check in checks:
        try:
            check.prepare()
        except UnavailableError as error:
            said = _SKIP + str(error)
            skipped.append(Report(check.name, _today(), {}, (), skipped=said))
    return skipped


def run(check: Check) -> Report:
    """Run one check that is prepared; write its report, and return it."""
    started = time.monotonic()
    steps: list[Step] = []
    with TemporaryDirectory(prefix="satchel-clients-") as folder:
        try:
            steps.extend(check.run(Bench(Path(folder))))
        except NotServedError as error:
            steps.append(Step("satchel serve", "failed", str(error)))
        except (OSError, ValueError, LookupError) as error:
            steps.append(Step("the check itself", "failed", repr(error)))
    seconds = time.monotonic() - started
    report = Report(check.name, _today(), check.versions(), tuple(steps), seconds)
    RESULTS.mkdir(parents=True, exist_ok=True)
    text = json.dumps(to_json(report), indent=1, ensure_ascii=False)
    (RESULTS / f"{check.name}.json").write_text(text, "utf-8")
    return report


def read_results() -> dict[str, Report]:
    """Return the last report of each check that was run here."""
    reports = [
        from_json(json.loads(path.read_text("utf-8")))
        for path in sorted(RESULTS.glob("*.json"))
    ]
    return {report.check: report for report in reports}


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
