"""The frameworks that are installed, beside what their adapters were tried with."""

import json
import re
from importlib import resources
from typing import TypedDict, cast

__all__ = ["Tested", "framework_lines", "read_tested"]


class Tested(TypedDict):
    """What the shared suite of the adapters found with one framework.

    ``missing`` are the rows that did not pass, with the reasons; ``failed`` those of
    them that are mistakes rather than the framework's limits.
    """

    extra: str
    distribution: str
    lowest: str
    newest: str
    python: str
    missing: dict[str, list[str]]
    failed: list[str]


def read_tested() -> dict[str, Tested]:
    """Return what each adapter was tried with; made by ``python -m tools.adapters``."""
    data = resources.files("satchel.adapters").joinpath("tested.json")
    return cast("dict[str, Tested]", json.loads(data.read_text("utf-8")))


def framework_lines() -> list[str]:
    """Return a line for each framework that is installed, or one that none is."""
    from importlib.metadata import PackageNotFoundError, version

    lines: list[str] = []
    for name, tested in read_tested().items():
        try:
            installed = version(tested["distribution"])
        except PackageNotFoundError:
            continue
        lines.append(
            f"{tested['distribution']} {installed}: {_tell(installed, tested)}"
        )
        if tested["failed"]:
            what = f"{len(tested['failed'])} rows of the suite failed"
            lines.append(f"  satchel.adapters.{name}: {what}")
    return lines or [
        "none is installed; an extra such as satchel[langchain] brings one"
    ]


def _tell(installed: str, tested: Tested) -> str:
    lowest, newest = tested["lowest"], tested["newest"]
    tried = lowest if lowest == newest else f"{lowest} to {newest}"
    if _key(installed) < _key(lowest):
        upgrade = f"pip install -U 'satchel[{tested['extra']}]'"
        return f"older than what its adapter was tried with ({tried}): {upgrade}"
    if _key(installed) > _key(newest):
        return f"newer than what its adapter was tried with ({tried})"
    return f"its adapter was tried with {tried}"


def _key(version: str) -> tuple[int, ...]:
    """Return the numbers of a release, to compare by; of a suffix nothing."""
    release = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, release[0].split("."))) if release else ()
