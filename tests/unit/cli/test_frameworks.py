"""Installed frameworks are next to what their adapters were tried with."""

from importlib import metadata

import pytest

from satchel.cli._commands import doctor as frameworks
from satchel.cli._commands.doctor import FrameworkResults, framework_lines, read_tested
from satchel.errors import install_command

TRIED = "its adapter is tested with (1.2.0 to 1.10.3)"
UPGRADE = install_command("strings", upgrade=True)


def entry(lowest: str, newest: str, *failed: str) -> FrameworkResults:
    return {
        "extra": "strings",
        "distribution": "strings-agents",
        "lowest": lowest,
        "newest": newest,
        "python": "3.11",
        "missing": {row: ["a reason"] for row in failed},
        "failed": list(failed),
    }


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    versions: dict[str, str] = {}

    def version(name: str) -> str:
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(metadata, "version", version)
    return versions


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("1.2.0", "its adapter is tested with 1.2.0 to 1.10.3"),
        ("1.10.3", "its adapter is tested with 1.2.0 to 1.10.3"),
        ("1.10.4", f"newer than {TRIED}"),
        ("1.1.9rc1", f"older than {TRIED}: {UPGRADE}"),
    ],
)
def test_a_version_next_to_those_that_were_tried(
    version: str,
    expected: str,
    installed: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = {"strings": entry("1.2.0", "1.10.3"), "ropes": entry("0.1", "0.2")}
    data["ropes"]["distribution"] = "ropes"
    monkeypatch.setattr(frameworks, "read_tested", lambda: data)
    installed["strings-agents"] = version

    assert framework_lines() == [f"strings-agents {version}: {expected}"]


def test_failing_rows_are_reported(
    installed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = {"strings": entry("1.2.0", "1.2.0", "load_answers", "a_hand_off")}
    monkeypatch.setattr(frameworks, "read_tested", lambda: data)
    installed["strings-agents"] = "1.2.0"

    assert framework_lines() == [
        "strings-agents 1.2.0: its adapter is tested with 1.2.0",
        "  satchel.adapters.strings: 2 tests of the suite failed",
    ]


def test_without_a_framework_there_is_one_line(installed: dict[str, str]) -> None:
    assert not installed
    assert framework_lines() == [
        f"none is installed; for LangChain: {install_command('langchain')}"
    ]


def test_the_data_ships_and_names_extras() -> None:
    assert all(item["extra"] for item in read_tested().values())
