"""The routes on the page of the architecture are those that the calls take."""

import re
import subprocess
import sys
from typing import Final

import pytest

from tools.figures import ROOT

PAGE: Final = ROOT / "docs" / "explanation" / "architecture.md"
ROUTES: Final = {
    "A model calls `load_skill`": "load_skill",
    '`Satchel("./skills")`': "Satchel(folder)",
    "`GET /v1/skills/{id}`": "GET /v1/skills/{id}",
}


def steps_of(heading: str) -> str:
    """Return the numbered steps below a heading, in one line."""
    _, _, section = PAGE.read_text("utf-8").partition(f"### {heading}\n")
    steps = re.findall(
        r"^\d+\. .*(?:\n   .*)*", section.partition("\n#")[0], re.MULTILINE
    )
    return re.sub(r"\s+", " ", " ".join(steps))


@pytest.mark.parametrize(("heading", "route"), ROUTES.items())
def test_each_step_of_a_route_is_taken(heading: str, route: str) -> None:
    command = [sys.executable, "-m", "tools.figures", "--show", route]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    entered = re.sub(r"\w+\.<locals>\.", "", shown.stdout).splitlines()
    steps = steps_of(heading)
    files = re.findall(r"`([a-z0-9_/]+\.py)`", steps)
    functions = re.findall(r"`([a-z0-9_/]+\.py)`, `([\w.]+)`", steps)

    assert len(functions) > 4
    assert {*files} <= {line.partition(": ")[0] for line in entered}
    assert {f"{path}: {name}" for path, name in functions} <= {*entered}
