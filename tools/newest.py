"""Try the newest releases of every framework and client: ``python -m tools.newest``.

Lock files, extras, tables and pages are made again; commit what changed. An extra has
an upper bound only where the newest release failed: it is told, with status 1, and
the bound goes by itself once a newer release passes.
"""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

from tools.adapters import __main__ as adapters
from tools.adapters.environments import ensure_uv, lock
from tools.adapters.frameworks import ROOT, Adapter, chosen
from tools.adapters.runner import read_results, run
from tools.clients import __main__ as clients
from tools.clients.known import HOME

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PROJECT: Final = ROOT / "pyproject.toml"
_BOUND: Final = re.compile(r'(?m)^([a-z-]+ = \["[\w.-]+>=[\w.]+),<[\w.]+"')


class Moved(NamedTuple):
    """A framework or client, its release before, now, and what came of it."""

    name: str
    before: str
    now: str
    outcome: str


def main() -> int:
    """Lock, run and write all of it; status 1 where a newest release failed."""
    before = {**_frameworks(), **_clients()}
    PROJECT.write_text(free(PROJECT.read_text("utf-8")), "utf-8")
    steps = [(adapters.main, ["lock"]), (clients.main, ["lock"])]
    steps += [(adapters.main, ["run", "--lowest"]), (clients.main, ["run", "--all"])]
    failed = [command(arguments) for command, arguments in steps]
    outcomes = {each.distribution: _outcome(each) for each in chosen([])}
    for each in chosen([]):
        if outcomes[each.distribution] == "failed":
            hold_back(each)
    adapters.main(["table"])
    clients.main(["table"])
    for name, now in {**_frameworks(), **_clients()}.items():
        came = outcomes.get(name, "see docs/reference/clients.md")
        print("| {} | {} | {} | {} |".format(*Moved(name, before[name], now, came)))
    return 1 if any(failed) else 0


def free(project: str) -> str:
    """Return the text of ``pyproject.toml`` without upper bounds in extras."""
    return _BOUND.sub(r'\1"', project)


def bound(project: str, extra: str, version: str) -> str:
    """Return the text with an upper bound on the first requirement of an extra.

    Raises:
        LookupError: There is no such extra, or it has no lower bound alone.
    """
    line = re.compile(rf'(?m)^({re.escape(extra)} = \["[\w.-]+>=[\w.]+)"')
    project, count = line.subn(rf'\1,<{version}"', project)
    if count != 1:
        raise LookupError(
            f"pyproject.toml: the extra {extra!r} has no lower bound alone"
        )
    return project


def hold_back(adapter: Adapter) -> None:
    """Bound an extra below its newest release, and run what is left."""
    version = _pinned(adapter)[adapter.distribution]
    text = bound(PROJECT.read_text("utf-8"), adapter.extra, version)
    PROJECT.write_text(text, "utf-8")
    ensure_uv()
    lock(adapter)
    print(run(adapter))


def _outcome(adapter: Adapter) -> str:
    """Return how many cases passed, or ``failed``, as the last whole run found."""
    results = read_results(adapter)
    wanted = _pinned(adapter)[adapter.distribution]
    if results is None or results["version"] != wanted:
        return "failed"
    found = [
        case["outcome"] for row in results["rows"].values() for case in row.values()
    ]
    return "failed" if "failed" in found else f"{found.count('passed')} passed"


def _frameworks() -> Mapping[str, str]:
    return {a.distribution: _pinned(a)[a.distribution] for a in chosen([])}


def _clients() -> Mapping[str, str]:
    return dict(_client_pins())


def _client_pins() -> Iterator[tuple[str, str]]:
    asked = (HOME / "python.in").read_text("utf-8").splitlines()
    pins = _pins((HOME / "python.txt").read_text("utf-8"))
    names = [
        re.split(r"[^\w.-]", line)[0] for line in asked if not line.startswith("#")
    ]
    yield from ((name, pins[name]) for name in names if name in pins)
    for folder in ("npm", "claude"):
        package = json.loads((HOME / folder / "package.json").read_text("utf-8"))
        yield from package["dependencies"].items()


def _pinned(adapter: Adapter) -> Mapping[str, str]:
    return _pins(adapter.lock.read_text("utf-8"))


def _pins(lock_file: str) -> Mapping[str, str]:
    """Return the version of each distribution that a lock file pins."""
    return dict(re.findall(r"(?m)^([\w.-]+)(?:\[[^\]]*\])?==([^\s;]+)", lock_file))


if __name__ == "__main__":
    sys.exit(main())
