"""What the page says of the sandbox is so: each attack, as root and as a user."""

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from satchel_scripts import Sandbox
from tests.functional import sandbox_probes as probes

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs/reference/sandbox.md"
NOBODY: Final = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
USERS: Final = ("as the user of the tests", "as an ordinary user")


@cache
def command(user: str) -> tuple[str, ...]:
    """Return a command for the probes as a user, or skip where there is none."""
    if user == USERS[0]:
        return (sys.executable,)
    if os.geteuid() != 0:
        pytest.skip("the tests are run by an ordinary user already")
    if shutil.which("setpriv") is None:
        pytest.skip("there is no setpriv")
    # setpriv itself may start what this user cannot.
    code = "import os, sys, satchel.model, yaml; assert os.access(sys.executable, 1)"
    for python in (sys.executable, "/usr/bin/python3"):
        tried = subprocess.run(
            [*NOBODY, python, "-c", code],
            env=environment(),
            capture_output=True,
            check=False,
            cwd=ROOT,
        )
        if tried.returncode == 0:
            return (*NOBODY, python)
    pytest.skip("an ordinary user has no Python here that imports Satchel")


def environment() -> dict[str, str]:
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    return {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *libraries]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@cache
def verdicts(kind: str, user: str) -> dict[str, Any]:
    ran = subprocess.run(
        [*command(user), "-m", "tests.functional.sandbox_probes", kind],
        env=environment(),
        capture_output=True,
        check=False,
        text=True,
        cwd=ROOT,
    )

    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)["verdicts"]
    return found


def test_the_page_has_these_tables() -> None:
    assert probes.render_tables() in PAGE.read_text("utf-8")


def test_there_are_enough_probes() -> None:
    names = [probe.name for probe in probes.PROBES]

    assert len(names) == len(set(names))
    assert len(names) >= 60
    assert sum(probe.bare for probe in probes.PROBES) >= 40


@pytest.mark.slow
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("kind", probes.KINDS)
def test_what_the_page_says_is_held(kind: str, user: str) -> None:
    if reason := Sandbox(kind=kind).reason:  # type: ignore[arg-type]
        pytest.skip(reason)
    found = verdicts(kind, user)
    wrong = {
        probe.name: found[probe.name]["note"]
        for probe in probes.PROBES
        if found[probe.name]["held"] is (kind in probe.not_held)
    }

    assert not wrong


@pytest.mark.slow
def test_the_probes_work_with_no_isolation() -> None:
    """An attack that is held everywhere might be one that never worked."""
    found = verdicts("no isolation", USERS[1] if os.geteuid() == 0 else USERS[0])

    assert [name for name, verdict in found.items() if verdict["held"]] == []
