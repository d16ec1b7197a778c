"""What a baseline knows does not count again."""

from dataclasses import replace
from pathlib import Path

import pytest

from satchel.errors import ConfigError
from satchel.model import Finding
from satchel_lab.checking import read_baseline
from satchel_lab.lint import CheckReport, render_report

OLD = Finding("odd", "warning", "that is odd", "a/SKILL.md", 4)
NEW = Finding("odd", "warning", "that is odder", "a/SKILL.md", 4)


def written(folder: Path, *findings: Finding) -> str:
    path = folder / "known.json"
    path.write_text(render_report(CheckReport(1, findings), "json"), "utf-8")
    return str(path)


def test_known_findings_are_taken_out_and_counted(tmp_path: Path) -> None:
    """Each as often as it is known; a baseline can be used again."""
    baseline = read_baseline(written(tmp_path, OLD))
    moved = replace(OLD, line=40)

    for findings, new in (((moved, NEW), (NEW,)), ((OLD, OLD), (OLD,)), ((OLD,), ())):
        left = baseline.subtract(CheckReport(1, findings))
        assert (left.findings, left.known) == (new, 1)


@pytest.mark.row("R37")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        *((text, "") for text in ("", "[]", "null", "{}", "\xff")),
        ('{"schema_version": 1}', ""),
        ('{"schema_version": 1, "findings": [{}]}', ""),
        ('{"schema_version": 1, "findings": [1]}', ""),
        ('{"schema_version": 2, "findings": []}', "schema_version is 2, not 1"),
    ],
)
def test_what_is_not_a_report_is_refused(
    text: str, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "known.json"
    path.write_bytes(text.encode("latin-1"))

    with pytest.raises(
        ConfigError, match=r"known\.json: expected what `satch"
    ) as caught:
        read_baseline(str(path))
    assert reason in str(caught.value)


def test_a_file_that_is_not_there_is_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_baseline(str(tmp_path / "none"))
