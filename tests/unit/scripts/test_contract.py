"""Both runners do what every runner has to do."""

from pathlib import Path

import pytest

from satchel.protocols import Runner
from satchel_scripts import Sandbox, Subprocess
from satchel_scripts.testing import RunnerContract

pytestmark = pytest.mark.slow


class TestBubblewrap(RunnerContract):
    def make_runner(self, **limits: float) -> Runner:
        runner = Sandbox(kind="bubblewrap", **limits)  # type: ignore[arg-type]
        if runner.reason:
            pytest.skip(runner.reason)
        return runner


class TestLandlock(RunnerContract):
    def make_runner(self, **limits: float) -> Runner:
        runner = Sandbox(kind="landlock", **limits)  # type: ignore[arg-type]
        if runner.reason:
            pytest.skip(runner.reason)
        return runner


class TestSubprocess(RunnerContract):
    def make_runner(self, **limits: float) -> Runner:
        return Subprocess(**limits)  # type: ignore[arg-type]

    def test_the_pack_is_not_changed(self, tmp_path: Path) -> None:  # noqa: ARG002
        pytest.skip("no isolation: a script changes what its user can")
