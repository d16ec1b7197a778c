"""A trial as tests: ``pytest --satchel-loader`` and ``pytest --satchel-runtime``."""

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from satchel_lab.conformance._cases import LoaderCase, all_cases
from satchel_lab.conformance._check import LoaderNotRunError, LoaderTrial
from satchel_lab.conformance._runtime import ROWS, RuntimeRow, RuntimeTrial

if TYPE_CHECKING:
    from satchel_lab.conformance._report import LoaderReport

_FORMATS = {".md": "to_markdown", ".json": "to_json", ".svg": "to_svg"}


class FailedCaseError(Exception):
    """The loader fails a pack; the text is the line for it."""


class LoaderItem(pytest.Item):
    """One pack, as a test."""

    case: Any
    trial: Any  # with cases of its own kind

    def runtest(self) -> None:
        """Wait for what came of it.

        Raises:
            FailedCaseError: The loader fails it.
        """
        result = self.trial.result(self.case)
        if result is None:
            pytest.skip("there can be no such pack here")
        if result.flaw:
            raise FailedCaseError(str(result))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:  # type: ignore[override]
        """Return the line alone; the summary has the rest."""
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return its name."""
        return self.path, None, self.name


class LoaderPlugin:
    """Runs the packs instead of the tests of the project, and sums up."""

    def __init__(self, config: pytest.Config) -> None:
        """Take the options."""
        self._loader: str | None = config.getoption("satchel_loader")
        self._runtime: str | None = config.getoption("satchel_runtime")
        if self._loader and self._runtime:
            raise pytest.UsageError("--satchel-loader or --satchel-runtime, not both")
        self._python: str | None = config.getoption("satchel_python")
        self._files: list[str] = config.getoption("satchel_report") or []
        for name in self._files:
            if Path(name).suffix not in _FORMATS:
                endings = ", ".join(_FORMATS)
                message = f"--satchel-report {name}: the name has to end with {endings}"
                raise pytest.UsageError(message)
        self._trial: LoaderTrial | RuntimeTrial | None = None
        self._report: LoaderReport | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool:
        """Put the packs in place of the tests; ``-k`` chooses among them."""
        config = session.config
        try:
            cases: Sequence[LoaderCase | RuntimeRow] = ROWS
            if self._loader:
                cases = all_cases()
                self._trial = LoaderTrial(self._loader, python=self._python)
            else:
                self._trial = RuntimeTrial(str(self._runtime))
        except LoaderNotRunError as error:
            raise pytest.UsageError(str(error)) from error
        make: Any = getattr(LoaderItem, "from_parent")  # noqa: B009 - it has no types
        items: list[LoaderItem] = [make(session, name=case.name) for case in cases]
        for item, case in zip(items, cases, strict=True):
            item.case, item.trial = case, self._trial
        config.hook.pytest_collection_modifyitems(
            session=session, config=config, items=items
        )
        session.items = [*items]
        session.testscollected = len(items)
        config.hook.pytest_collection_finish(session=session)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(
        self, session: pytest.Session
    ) -> Generator[None, object, object]:
        """Run those that were chosen, some at once, and write the reports."""
        if self._trial is None:
            return (yield)
        with self._trial as trial:
            items = [item for item in session.items if isinstance(item, LoaderItem)]
            trial.start(item.case for item in items)
            done = yield
            self._report = trial.report()
        for name in self._files:
            text: str = getattr(self._report, _FORMATS[Path(name).suffix])()
            Path(name).write_text(text, "utf-8")
        return done

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:  # noqa: ANN401 - pytest does not export its class
        """Print what is wrong by cause, and the score."""
        if self._report is not None:
            terminalreporter.section(f"{self._report.label}: {self._report.score}")
            terminalreporter.write_line(self._report.to_text())


def install(config: pytest.Config) -> None:
    """Add the plug-in to this run, which prints its own summary of failures."""
    config.pluginmanager.register(LoaderPlugin(config), "satchel-loader")
    if config.option.tbstyle == "auto":
        config.option.tbstyle = "no"
    if config.option.reportchars == "fE":
        config.option.reportchars = ""
