"""One suite for all adapters, and the option that chooses whose turn it is.

``make test`` runs the suite with `tests.adapters.reference`, over `satchel.agent`. An
adapter runs under its real framework, in an environment of its own::

    python -m tools.adapters lock langchain          # after a change of its extra
    python -m tools.adapters run langchain           # all: tests, coverage, types
    python -m tools.adapters run langchain -- -x -k carried   # some, shown at once
    python -m tools.adapters run langchain --lowest  # also at its lower bounds

docs/contributing/adapter.md says how to add one.

What a framework cannot do is a limit: `Driver.limits` gives the reason under the test's
name, ``test_x`` or ``test_x[stream]``, and ``Driver.lacks`` under a capability that
tests are marked with, or under ``capability[stream]``. Such a test has to fail; when it
passes, the limit is out of date and the run fails.

Warnings are errors where Satchel causes them; a framework's own are shown. Nothing
leaves the machine: an address that is not its own is refused.
"""

import asyncio
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import version
from inspect import iscoroutinefunction
from json import dumps
from pathlib import Path
from platform import python_version
from typing import Any, Final

import pytest

from satchel import Satchel
from tests.adapters.desk import ANA, Desk, open_desk, script, setup, write_packs
from tests.adapters.driver import Driver, Mode, Model, Paused, Rig, Say, Seen
from tools.adapters.frameworks import NAMES, ROOT
from tools.adapters.table import SUITES

REFERENCE: Final = "reference"
_CONTRACT: Final = tuple(f"{path.relative_to(ROOT).as_posix()}::" for path in SUITES)
_SUITE: Final = (*_CONTRACT, "tests/adapters/test_capabilities.py::")
_LOCAL: Final = {"127.0.0.1", "::1", "localhost", "0.0.0.0", "", None}  # noqa: S104


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("adapters")
    group.addoption("--adapter", choices=[REFERENCE, *NAMES], default=REFERENCE)
    group.addoption("--results", type=Path, help="where to write what came of it")


def adapter_of(config: pytest.Config) -> str:
    """Return the adapter whose turn it is; this file may be read after the options."""
    name: str = config.getoption("adapter", default=REFERENCE)
    return name


@cache
def driver_of(name: str) -> Driver:
    driver: Driver = import_module(f"tests.adapters.{name}").DRIVER
    return driver


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "capability(name): what a framework may lack")
    if adapter_of(config) == REFERENCE:
        return
    config.addinivalue_line("filterwarnings", "default")
    config.addinivalue_line("filterwarnings", r"error:::satchel\.")
    # Pages show skills with scripts; a warning of that is what users are to see.
    config.addinivalue_line(
        "filterwarnings", "ignore:skills ask to run a script:UserWarning"
    )
    sys.addaudithook(_refuse_strangers)
    if (path := config.getoption("results")) is not None:
        config.pluginmanager.register(Results(adapter_of(config), path))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what belongs to other adapters."""
    name = collection_path.name.removeprefix("test_").removesuffix(".py")
    if name == "page" and adapter_of(config) == REFERENCE:
        return True
    return True if name in NAMES and name != adapter_of(config) else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "mode" in metafunc.fixturenames:
        metafunc.parametrize("mode", ["sync", "async", "stream"])


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Turn the driver's limits into tests that have to fail.

    Raises:
        UsageError: A limit names no test.
    """
    suite = [item for item in items if item.nodeid.startswith(_SUITE)]
    if not suite:
        return
    driver = driver_of(adapter_of(config))
    limits = {**driver.limits, **getattr(driver, "lacks", {})}
    unused = set(limits)
    for item in suite:
        marks = [mark.args[0] for mark in item.iter_markers("capability")]
        test, bracket, case = item.name.partition("[")
        marks += [f"{mark}{bracket}{case}" for mark in marks]
        for name in (item.name, test, *marks):
            if name in limits:
                unused.discard(name)
                item.add_marker(pytest.mark.xfail(reason=limits[name], strict=True))
                break
    if unused and not config.getoption("keyword") and not config.option.markexpr:
        raise pytest.UsageError(f"limits of no test: {', '.join(sorted(unused))}")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a coroutine to its end; no plug-in is needed for that."""
    if not iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture
def packs(tmp_path: Path) -> Path:
    return write_packs(tmp_path / "packs")


@pytest.fixture
def skills(packs: Path) -> Satchel:
    return open_desk(packs)


@dataclass(frozen=True)
class Bench:
    """The driver, and the skills of the desk."""

    driver: Driver
    packs: Path
    desk: Desk = field(default_factory=Desk)

    def rig(
        self, model: Model, *own: Callable[..., object], rules: Any = (), **options: Any
    ) -> Rig:
        """Return an agent with the skills of the desk, and ``rules`` before its own."""
        skills = open_desk(self.packs, self.desk, *rules)
        return self.driver.build(setup(skills, model, *own, **options))

    async def say(
        self, *steps: Say, mode: Mode = "async", rules: Any = (), **options: Any
    ) -> tuple[str | Paused, list[Seen]]:
        """Say something to an agent whose model follows a script."""
        rig = self.rig(script(*steps), rules=rules, **options)
        return await rig.say("hi", who=ANA, mode=mode), rig.seen


@pytest.fixture
def bench(driver: Driver, packs: Path) -> Bench:
    return Bench(driver, packs)


@pytest.fixture(scope="session")
def driver(request: pytest.FixtureRequest) -> Iterator[Driver]:
    """Return the driver; one that has something to close is closed at the end."""
    driver = driver_of(adapter_of(request.config))
    yield driver
    getattr(driver, "close", lambda: None)()


class Results:
    """Keeps what came of each row, and writes it down at the end."""

    def __init__(self, adapter: str, path: Path) -> None:
        # Not its driver yet: what a framework warns of when it is imported is no error.
        self._adapter = adapter
        self._path = path
        self._rows: dict[str, dict[str, dict[str, str]]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.nodeid.startswith(_CONTRACT):
            return
        name = report.nodeid.partition("::")[2]
        row, _, case = name.removesuffix("]").partition("[")
        cases = self._rows.setdefault(row.removeprefix("test_"), {})
        if report.when == "call" or report.outcome != "passed":
            cases[case] = _told(report)

    def pytest_sessionfinish(self) -> None:
        driver = driver_of(self._adapter)
        distribution = driver.distribution
        message: dict[str, Any] = {
            "adapter": driver.name,
            "distribution": distribution,
            "version": version(distribution),
            "python": python_version(),
            "rows": self._rows,
        }
        self._path.write_text(dumps(message, indent=1) + "\n", "utf-8")


def _told(report: pytest.TestReport) -> dict[str, str]:
    """Return one outcome; a test that was skipped has not passed."""
    if report.outcome == "passed":
        return {"outcome": "passed"}
    reason: str | None = getattr(report, "wasxfail", None)
    if report.outcome == "skipped" and reason is not None:
        return {"outcome": "limit", "reason": reason.removeprefix("reason: ")}
    return {"outcome": "failed", "reason": report.longreprtext.splitlines()[-1]}


def _refuse_strangers(event: str, arguments: tuple[Any, ...]) -> None:
    """Let nothing out: an audit hook, for it sees what C code does, too."""
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event == "socket.connect" and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    if host not in _LOCAL:
        raise PermissionError(f"a test may not call {host}")
