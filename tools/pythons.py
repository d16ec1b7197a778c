"""Run the tests on the newest Python that is here: ``python -m tools.pythons``.

What a release of Python refuses or warns of, such as a connection that nobody closed,
no older one shows, and users have the new ones. The environment is one of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.peers._install import find_python
from tools.readme import VERSIONS

ROOT = Path(__file__).parents[1]


def main() -> int:
    """Run them, and return the status; without a newer Python say so, and return 0."""
    mine = f"{sys.version_info.major}.{sys.version_info.minor}"
    for version in reversed(VERSIONS):
        if version == mine:
            break
        if python := find_python(version):
            print(f"the tests on Python {version}", flush=True)
            own = (f"VENV=.cache/venv-{version}", f"PYTHON={python}")
            # With CI set they would count for the coverage of this Python.
            environ = {key: value for key, value in os.environ.items() if key != "CI"}
            command = ("make", "--no-print-directory", *own, "test")
            return subprocess.run(
                command, cwd=ROOT, env=environ, check=False
            ).returncode
    print(f"left out: no Python newer than {mine} is here; `make test` ran on this one")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
