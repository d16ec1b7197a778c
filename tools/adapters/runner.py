"""Run the shared suite for one adapter, under its real framework."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TextIO

from tools.adapters.environments import CommandFailedError, ensure_environment
from tools.adapters.frameworks import RESULTS, ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tools.adapters.frameworks import Adapter

TIMEOUT_S: Final = 1800
"""For one adapter's tests; a framework that hangs is a failure like any other."""

COVERAGE: Final = 95
"""Percent of an adapter's lines and branches, as `make test` asks of the rest."""

_TAIL: Final = 40

# Nothing is reported to anybody, and no framework warns that it cannot.
_QUIET: Final = {
    "AGNO_TELEMETRY": "false",
    "ANONYMIZED_TELEMETRY": "false",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_DISABLE_TRACKING": "true",
    "DO_NOT_TRACK": "1",
    "HAYSTACK_TELEMETRY_ENABLED": "false",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "LANGSMITH_TRACING": "false",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "OTEL_SDK_DISABLED": "true",
    "SATCHEL_APPROVALS": "memory",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one adapter's run.

    ``error`` is None where everything passed; ``figures`` is one line of figures.
    """

    adapter: Adapter
    figures: str
    error: str | None = None

    def __str__(self) -> str:
        """Return one line, with the error below it where there is one."""
        state = "ok    " if self.error is None else "FAILED"
        line = f"{state} {self.adapter.label:<24} {self.figures}".rstrip()
        return line if self.error is None else f"{line}\n{self.error}"


def run(adapter: Adapter) -> Outcome:
    """Make the environment, run the tests, measure their reach, check the types.

    What is printed goes to the adapter's log; the results to its JSON file, which is
    gone where the tests did not come to their end.
    """
    RESULTS.mkdir(parents=True, exist_ok=True)
    adapter.results.unlink(missing_ok=True)
    for path in (adapter.source, adapter.driver):
        if not path.exists():
            return Outcome(adapter, "", f"there is no {path.relative_to(ROOT)}")
    try:
        python = ensure_environment(adapter)
    except (CommandFailedError, LookupError) as error:
        return Outcome(adapter, "cannot be installed", str(error))
    with adapter.log.open("w", encoding="utf-8") as log:
        failed = [
            name
            for name, command in _steps(adapter, python)
            if not _passes(command, adapter, log)
        ]
    figures = _figures(adapter)
    if failed:
        tail = adapter.log.read_text("utf-8", "replace").splitlines()[-_TAIL:]
        where = (
            f"failed: {', '.join(failed)}; all of it: {adapter.log.relative_to(ROOT)}"
        )
        return Outcome(adapter, figures, "\n".join([*tail, where]))
    return Outcome(adapter, figures)


def try_out(adapter: Adapter, arguments: Sequence[str]) -> int:
    """Run chosen tests with their output in the terminal; keep no results.

    Raises:
        CommandFailedError: The environment cannot be made.
        LookupError: There is no lock file.
    """
    python = ensure_environment(adapter)
    command = [str(python), *_pytest(adapter), *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=_environ(adapter), check=False
    ).returncode


def read_results(adapter: Adapter) -> Mapping[str, Any] | None:
    """Return what an adapter's last whole run found; None if there was none."""
    if not adapter.results.exists():
        return None
    results: Mapping[str, Any] = json.loads(adapter.results.read_text("utf-8"))
    return results


def _pytest(adapter: Adapter) -> list[str]:
    return ["-m", "pytest", "tests/adapters", "--adapter", adapter.name]


def _steps(adapter: Adapter, python: Path) -> list[tuple[str, list[str]]]:
    results = ["--results", str(adapter.results), "-q", "-p", "no:cacheprovider"]
    here = str(python)
    reach = ["--include", str(adapter.source.relative_to(ROOT))]
    # `make test` leaves adapters out; here nothing else counts.
    reach += ["--omit", "tests/*", "--fail-under", str(COVERAGE)]
    steps = [
        ("tests", [here, "-m", "coverage", "run", *_pytest(adapter), *results]),
        ("coverage", [here, "-m", "coverage", "report", *reach]),
    ]
    # The types are those of the newest release: older ones may have none, or others.
    return steps if adapter.lowest else [*steps, ("types", _mypy(adapter, here))]


def _mypy(adapter: Adapter, python: str) -> list[str]:
    files = (adapter.source, adapter.driver, adapter.own_tests)
    return [
        *(str(ROOT / ".venv" / "bin" / "mypy"), "--python-executable", python),
        *("--python-version", adapter.python, "--follow-imports", "silent"),
        *("--cache-dir", str(adapter.environment / "mypy")),
        *(str(path.relative_to(ROOT)) for path in files if path.exists()),
    ]


def _passes(command: Sequence[str], adapter: Adapter, log: TextIO) -> bool:
    log.write(f"$ {' '.join(command)}\n")
    log.flush()
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=_environ(adapter),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        log.write(f"stopped after {TIMEOUT_S} s\n")
        return False
    return done.returncode == 0


def _environ(adapter: Adapter) -> dict[str, str]:
    keys = (k for k in os.environ if not k.endswith("_API_KEY") and k != "PYTHONPATH")
    data = str(adapter.environment / "coverage")
    # The environments are shared: what they have installed may be another checkout.
    here = {"COVERAGE_FILE": data, "PYTHONPATH": str(ROOT / "src")}
    return {k: os.environ[k] for k in keys} | _QUIET | here


def _figures(adapter: Adapter) -> str:
    results = read_results(adapter)
    if results is None:
        return "the suite did not run to its end"
    outcomes = [
        case["outcome"] for row in results["rows"].values() for case in row.values()
    ]
    counts = [
        f"{outcomes.count(kind)} {kind}"
        for kind in ("passed", "limit", "failed")
        if kind in outcomes
    ]
    which = f"{results['distribution']} {results['version']}"
    return f"{which}, Python {results['python']}: {', '.join(counts)}"
