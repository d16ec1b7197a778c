"""What a baseline knows does not count again."""

from pathlib import Path

import pytest

from satchel.checking import read_baseline
from satchel.errors import ConfigError
from satchel.lint import CheckReport, render_report
from satchel.model import Finding

OLD = Finding("odd", "warning", "that is odd", "a/SKILL.md", 4)
NEW = Finding("odd", "warning", "that is odder", "a/SKILL.md", 4)


def written(folder: Path, *findings: Finding) -> str:
    path = folder / "known.json"
    path.write_text(render_report(CheckReport(1, findings), "json"), "utf-8")
    return str(path)


def test_known_findings_are_taken_out_and_counted(tmp_path: Path) -> None:
    baseline = read_baseline(written(tmp_path, OLD))
    moved = Finding(OLD.code, OLD.severity, OLD.message, OLD.path, 40)

    left = baseline.subtract(CheckReport(1, (moved, NEW)))

    assert (left.findings, left.known) == ((NEW,), 1)


def test_a_second_one_of_a_kind_is_new(tmp_path: Path) -> None:
    baseline = read_baseline(written(tmp_path, OLD))

    assert baseline.subtract(CheckReport(1, (OLD, OLD))).findings == (OLD,)


def test_a_baseline_can_be_used_twice(tmp_path: Path) -> None:
    baseline = read_baseline(written(tmp_path, OLD))
    baseline.subtract(CheckReport(1, (OLD,)))

    assert baseline.subtract(CheckReport(1, (OLD,))).findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{}",
        '{"schema_version": 1}',
        '{"schema_version": 1, "findings": [{}]}',
        '{"schema_version": 1, "findings": [1]}',
        "\xff",
    ],
)
def test_what_is_not_report_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_bytes(text.encode("latin-1"))

    with pytest.raises(ConfigError, match=r"known\.json: expected what `satchel check"):
        read_baseline(str(path))


@pytest.mark.row("R37")
def test_a_later_format_is_refused_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_text('{"schema_version": 2, "findings": []}', "utf-8")

    with pytest.raises(ConfigError, match="schema_version is 2, not 1"):
        read_baseline(str(path))


def test_a_file_that_is_not_there_is_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_baseline(str(tmp_path / "none"))
