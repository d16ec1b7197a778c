"""The replay of what was recorded sees each difference, and the words that changed."""

import json
from pathlib import Path

import pytest

from tools.record import replaying
from tools.record.answers import Answer, answer


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [{"case": "a", "result": "it is repaired"}, {"case": "b", "result": "two"}]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (tmp_path / "part.jsonl").write_text(lines, "utf-8")
    renamed = '[renamed]\n"repaired" = "fixed"\n'
    (tmp_path / "renamed.toml").write_text(renamed, "utf-8")
    monkeypatch.setattr(replaying, "FOLDER", tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("answers", "begins"),
    [
        ([Answer("a", "it is fixed"), Answer("b", "two")], []),
        ([Answer("a", "it is repaired"), Answer("b", "two")], ["part/a:"]),
        ([Answer("a", "it is fixed"), Answer("b", "2")], ["part/b:"]),
        ([Answer("a", "it is fixed")], ["part/b: not asked any more"]),
        (
            [Answer("a", "it is fixed"), Answer("b", "two"), Answer("c", "")],
            ["part/c: not in the record"],
        ),
    ],
)
def test_each_difference_is_reported(answers: list[Answer], begins: list[str]) -> None:
    found = list(replaying.differences("part", answers))

    assert [text.splitlines()[0] for text in found] == begins


def test_an_answer_holds_nothing_of_this_machine(tmp_path: Path) -> None:
    said = {"path": tmp_path / "a", "at": "2026-01-02T03:04:05.678Z", "took": "0.4 s"}

    assert json.loads(answer("x", said, tmp_path).result) == {
        "path": "<home>/a",
        "at": "<time>",
        "took": "<duration>",
    }
