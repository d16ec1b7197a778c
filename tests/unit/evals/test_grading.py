"""Graded runs, in the layouts and spellings of the guide and of skill-creator."""

import json
from pathlib import Path
from typing import Any

import pytest

from satchel.errors import MissingPathError, NotWrittenError
from satchel_lab.evals import read_iteration, write_benchmark
from satchel_lab.evals._grading import GradedRun


def put(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    path.write_bytes(data)


def checks(*verdicts: bool, key: str = "assertion_results") -> dict[str, Any]:
    return {key: [{"text": "t", "passed": v, "evidence": "e"} for v in verdicts]}


def stat(value: float) -> dict[str, float]:
    """Return the statistics of values that are all the same."""
    return {"mean": value, "stddev": 0.0, "min": value, "max": value}


def guide(folder: Path) -> Path:
    """Write a workspace as the guide has it, with two iterations."""
    put(folder / "iteration-2/eval-old/with_skill/grading.json", checks(False))
    place = folder / "iteration-10"
    for name, with_skill, without in (("a", True, False), ("b", True, True)):
        for config, verdict in (("with_skill", with_skill), ("without_skill", without)):
            put(place / f"eval-{name}/{config}/grading.json", checks(True, verdict))
            times = {"total_tokens": 3_000, "duration_ms": 4_500}
            if config == "without_skill":
                times = {"total_tokens": 1_300, "duration_ms": 2_000}
            put(place / f"eval-{name}/{config}/timing.json", times)
            (place / f"eval-{name}/{config}/outputs").mkdir()
    return place


def creator(place: Path) -> Path:
    """Write runs as skill-creator's aggregator wants them."""
    for number, verdict in ((1, True), (2, False), (10, True)):
        run = place / f"eval-1/with_skill/run-{number}"
        put(
            run / "grading.json",
            {
                **checks(True, verdict, key="expectations"),
                "timing": {"total_duration_seconds": 9.5},
                "claims": [],
            },
        )
        put(run / "timing.json", {"total_tokens": 2_000, "executor_start": "x"})
    put(
        place / "eval-1/old_skill/run-1/grading.json",
        {"summary": {"pass_rate": 0.25, "total": 4}},
    )
    put(place / "eval-1/eval_metadata.json", {"eval_id": 7})
    (place / "eval-1/inputs").mkdir()
    return place


def test_the_guides_layout_at_its_latest_iteration(tmp_path: Path) -> None:
    place = guide(tmp_path)
    iteration = read_iteration(tmp_path)

    assert iteration.folder == place
    assert iteration.findings == ()
    assert iteration.runs[0] == GradedRun("eval-a", "with_skill", 1, 1.0, 4.5, 3_000)
    assert iteration.summary() == {
        "with_skill": {
            "pass_rate": stat(1.0),
            "time_seconds": stat(4.5),
            "tokens": stat(3_000),
        },
        "without_skill": {
            "pass_rate": {"mean": 0.75, "stddev": 0.3536, "min": 0.5, "max": 1.0},
            "time_seconds": stat(2.0),
            "tokens": stat(1_300),
        },
        "delta": {"pass_rate": 0.25, "time_seconds": 2.5, "tokens": 1_700},
    }
    assert iteration.text() == (
        "with_skill: 1.00 ± 0.00, 4.5 s, 3,000 tokens (2 runs)\n"
        "without_skill: 0.75 ± 0.35, 2.0 s, 1,300 tokens (2 runs)\n"
        "delta: +0.25, +2.5 s, +1,700 tokens"
    )


@pytest.mark.parametrize("place", ["", "runs"])
def test_skill_creators_layout(tmp_path: Path, place: str) -> None:
    """The skill is first, although `old_skill` is so in the alphabet."""
    creator(tmp_path / place)
    iteration = read_iteration(tmp_path)

    assert iteration.findings == ()
    assert [(run.configuration, run.number) for run in iteration.runs] == [
        ("old_skill", 1),
        ("with_skill", 1),
        ("with_skill", 2),
        ("with_skill", 10),
    ]
    assert list(iteration.summary()) == ["with_skill", "old_skill", "delta"]
    # Nobody measured the old skill, so what it cost is no part of the difference.
    assert iteration.summary()["delta"] == {"pass_rate": 0.5833}
    assert iteration.summary()["with_skill"]["time_seconds"]["mean"] == 9.5
    assert iteration.text().endswith("delta: +0.58")


def test_a_benchmark_keeps_what_others_wrote(tmp_path: Path) -> None:
    place = guide(tmp_path)
    before = {"metadata": {"skill_name": "pdf"}, "notes": ["n"], "run_summary": {}}
    put(place / "benchmark.json", before)
    iteration = read_iteration(tmp_path)
    path = write_benchmark(iteration)

    assert path == place / "benchmark.json"
    assert json.loads(path.read_text()) == {
        **before,
        "run_summary": iteration.summary(),
    }
    first = path.read_bytes()
    write_benchmark(read_iteration(tmp_path))
    assert path.read_bytes() == first


def test_a_benchmark_that_is_no_object_is_not_replaced(tmp_path: Path) -> None:
    place = guide(tmp_path)
    put(place / "benchmark.json", b"[1]")

    with pytest.raises(NotWrittenError, match="it is no JSON object"):
        write_benchmark(read_iteration(tmp_path))

    assert (place / "benchmark.json").read_bytes() == b"[1]"


@pytest.mark.parametrize(
    ("grading", "reason"),
    [
        (b"{", "it is no valid JSON"),
        (b"\xff", "it is no valid JSON"),
        (b"[" * 100_000, "it is no valid JSON"),
        ([], "it is no JSON object"),
        (b" " * (4 * 1024 * 1024 + 1), "it is a link, or has more than 4,194,304"),
        ({}, "no check has a verdict"),
        ({"expectations": "all good"}, "no check has a verdict"),
        ({"expectations": [{"passed": "yes"}, 3]}, "no check has a verdict"),
        ({"summary": {"pass_rate": 85}}, "no check has a verdict"),
        ({"summary": {"pass_rate": True}}, "no check has a verdict"),
        (b'{"summary": {"pass_rate": NaN}}', "no check has a verdict"),
        (b'{"summary": {"pass_rate": -1e999}}', "no check has a verdict"),
    ],
)
def test_what_cannot_be_read_is_a_finding(
    tmp_path: Path, grading: object, reason: str
) -> None:
    place = guide(tmp_path)
    put(place / "eval-a/with_skill/grading.json", grading)
    iteration = read_iteration(tmp_path)

    (finding,) = iteration.findings
    assert (finding.code, finding.path) == (
        "grading-unread",
        "eval-a/with_skill/grading.json",
    )
    assert reason in finding.message
    assert len(iteration.runs) == 3


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    place = guide(tmp_path)
    path = place / "eval-a/with_skill/grading.json"
    path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(tmp_path / "elsewhere.json")

    (finding,) = read_iteration(tmp_path).findings

    assert "it is a link" in finding.message


def test_the_list_of_checks_counts_more_than_its_sum(tmp_path: Path) -> None:
    put(
        tmp_path / "eval-1/with_skill/grading.json",
        {**checks(True, False), "summary": {"pass_rate": 1.0}},
    )
    iteration = read_iteration(tmp_path)

    assert iteration.runs[0].pass_rate == 0.5
    assert "a summary of 1, where 0.5" in iteration.findings[0].message


def test_times_of_another_type_are_no_times(tmp_path: Path) -> None:
    place = tmp_path / "eval-1/with_skill"
    put(place / "grading.json", checks(True))
    put(place / "timing.json", {"total_tokens": 10**400, "duration_ms": "long"})
    iteration = read_iteration(tmp_path)

    assert iteration.runs[0] == GradedRun("eval-1", "with_skill", 1, 1.0, None, None)
    assert iteration.text() == "with_skill: 1.00 ± 0.00 (1 run)"


def test_an_empty_workspace_says_what_was_looked_for(tmp_path: Path) -> None:
    iteration = read_iteration(tmp_path)

    assert (iteration.runs, iteration.text()) == ((), "")
    assert "eval-*/*/grading.json" in iteration.findings[0].message


def test_three_configurations_have_no_difference(tmp_path: Path) -> None:
    for name in ("with_skill", "without_skill", "old_skill"):
        put(tmp_path / f"eval-1/{name}/grading.json", checks(True))

    assert "delta" not in read_iteration(tmp_path).summary()


def test_a_configuration_that_a_benchmark_could_not_name(tmp_path: Path) -> None:
    for name in ("with_skill", "delta"):
        put(tmp_path / f"eval-1/{name}/grading.json", checks(True))
    iteration = read_iteration(tmp_path)

    assert [finding.path for finding in iteration.findings] == ["eval-1/delta"]
    assert iteration.text() == "with_skill: 1.00 ± 0.00 (1 run)"


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingPathError):
        read_iteration(tmp_path / "none")
