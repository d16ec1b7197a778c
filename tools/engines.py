"""Bring what tests of edges need, print what is here: ``python -m tools.engines``.

An engine is a program or a wheel that some tests are skipped without. A missing program
is installed as a Debian package where that may be done: by root, or by sudo without a
password. What cannot be had is said, with the tests that then skip, and is no failure,
unless the variable ``ENGINES`` is ``required``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

TIMEOUT_S: Final = 300


@dataclass(frozen=True, slots=True)
class Engine:
    """A program with its Debian package, or a module with its wheel, and its tests."""

    name: str
    package: str
    tests: str
    is_module: bool = False

    @property
    def place(self) -> str:
        """Return where it is; empty where it is not."""
        if not self.is_module:
            return shutil.which(self.name) or ""
        try:
            found = find_spec(self.name)
        except ModuleNotFoundError:  # a parent of it
            return ""
        return (found.origin or "here") if found else ""


ENGINES: Final = (
    Engine("bwrap", "bubblewrap", "tests/unit/scripts, tests/functional/test_sandbox*"),
    Engine("bash", "bash", "tests/unit/packs, tests/unit/lint/test_programs.py"),
    Engine("chromium", "chromium", "tests/page"),
    Engine("dash", "dash", "tests/unit/packs"),
    Engine("docker-registry", "docker-registry", "tests/install/oci"),
    Engine("haproxy", "haproxy", "tests/fleet"),
    Engine("git", "git", "tests/unit/checking, tests/functional/test_check_since.py"),
    Engine("numpy", "numpy", "tests/property/test_search.py", is_module=True),
    Engine(
        *("opentelemetry.sdk", "opentelemetry-sdk", "tests/unit/usage/test_tracing.py"),
        is_module=True,
    ),
    Engine(
        *("prometheus_client", "prometheus-client", "tests/unit/usage/test_metrics.py"),
        is_module=True,
    ),
    Engine(
        *("sandlock", "sandlock", "tests/unit/scripts, tests/functional/test_sandbox*"),
        is_module=True,
    ),
    # The tests look for a server; the program says that one can be started.
    Engine("pg_ctlcluster", "postgresql", "tests/unit/usage/test_tables.py"),
    Engine("psycopg", "psycopg", "tests/unit/usage/test_tables.py", is_module=True),
    Engine("uvicorn", "uvicorn", "tests/functional/test_serve_log.py", is_module=True),
)


def _install(packages: list[str]) -> str:
    """Install Debian packages; return why it could not be done, or nothing."""
    if shutil.which("apt-get") is None:
        return "there is no apt-get"
    as_root = [] if os.geteuid() == 0 else ["sudo", "--non-interactive"]
    if as_root and shutil.which("sudo") is None:
        return "this is not root, and there is no sudo"
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (
        ["update"],
        ["install", "--yes", "--no-install-recommends", *packages],
    ):
        command = [*as_root, "apt-get", "--quiet", *step]
        try:
            done = subprocess.run(
                command,
                env=environ,
                capture_output=True,
                encoding="utf-8",
                timeout=TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"{' '.join(command)}: no end after {TIMEOUT_S} s"
        if done.returncode:
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            return f"{' '.join(command)}: {''.join(last)}"
    return ""


def main() -> int:
    """Install what is missing and may be installed, and print a line for each."""
    programs = [e.package for e in ENGINES if not e.place and not e.is_module]
    refused = _install(programs) if programs else ""
    missing = [engine for engine in ENGINES if not engine.place]
    for engine in ENGINES:
        skipped = f"MISSING ({engine.package}), SKIPPED: {engine.tests}"
        print(f"{engine.name:<18} {engine.place or skipped}")
    if refused:
        print(f"not installed: {refused}")
    print(f"{len(ENGINES) - len(missing)} of {len(ENGINES)} engines are here")
    return 1 if missing and os.environ.get("ENGINES") == "required" else 0


if __name__ == "__main__":
    sys.exit(main())
