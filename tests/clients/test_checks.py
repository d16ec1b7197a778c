"""What the checks do without a client: sort, compare, unpack, wait, give up."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from satchel import Satchel
from tools.clients import environments, running
from tools.clients.bench import Bench, NotServedError, serving
from tools.clients.checks.conformance_server import APPLY, left_out
from tools.clients.checks.npx_skills import differences
from tools.clients.corpus import unpack
from tools.clients.environments import OtherBytesError, UnavailableError
from tools.clients.library import LISTED, PROMPTS, SKILLS, names, write
from tools.clients.outcome import Step
from tools.clients.registered import CHECKS, Check, chosen

SERVER = """
import sys, time
print("listening at http://127.0.0.1:4711/mcp", flush=True)
time.sleep(60)
"""


def test_the_library_is_without_a_finding_and_begins_with_nested_folders(
    tmp_path: Path,
) -> None:
    skills = Satchel(write(SKILLS, tmp_path))

    assert skills.findings == ()
    assert tuple(entry.id for entry in skills.catalog) == (*LISTED, "g-odd-fields")
    assert "references/deep/more.md" in skills.catalog.entries[0].resources
    prompts = Satchel(write(PROMPTS, tmp_path / "prompts"))
    assert [entry.id for entry in prompts.catalog] == names(PROMPTS)


def test_no_scenario_both_applies_and_is_left_out() -> None:
    assert [name for name in sorted(APPLY) if left_out(name)] == []
    assert left_out("tools-call-image")
    assert not left_out("a-new-scenario")


def test_files_are_compared_both_ways(tmp_path: Path) -> None:
    write({"a/SKILL.md": b"1", "a/more.md": b"2", "a/extra.md": b"3"}, tmp_path)
    wanted = {"a/SKILL.md": b"1", "a/more.md": b"other", "a/gone.md": b"4"}

    found = list(differences(wanted, tmp_path))
    assert found == ["a/extra.md", "a/gone.md", "a/more.md"]


def test_equal_names_of_a_corpus_get_a_prefix(tmp_path: Path) -> None:
    text = "---\nname: twice\ndescription: Use for two.\n---\n"
    packs = [
        {"id": "one", "dir": "twice", "text": text},
        {"id": "two", "dir": "twice", "text": text},
        {"id": "none", "dir": "x", "text": "no frontmatter"},
    ]
    lines = tmp_path / "packs.jsonl"
    lines.write_text("".join(f"{json.dumps(pack)}\n" for pack in packs), "utf-8")

    library = unpack(lines, tmp_path / "skills")

    assert library.packs == 3
    assert library.uris["one"] == "skill://twice/SKILL.md"
    assert library.uris["two"] == "skill://2-twice/twice/SKILL.md"
    assert [folder.name for folder in library.folders] == ["1", "2"]
    assert (tmp_path / "skills/1/none/SKILL.md").read_text("utf-8") == "no frontmatter"


def test_a_server_is_waited_for_and_stopped(tmp_path: Path) -> None:
    """One that ends is reported with its output."""
    output: list[str] = []
    with serving([sys.executable, "-c", SERVER], tmp_path, {}, output) as address:
        assert address == "http://127.0.0.1:4711"
    assert output == ["listening at http://127.0.0.1:4711/mcp\n"]
    command = [sys.executable, "-c", "print('the port is taken')"]

    with (
        pytest.raises(NotServedError, match="port is taken"),
        serving(command, tmp_path, {}),
    ):
        raise AssertionError


def test_a_command_that_hangs_is_stopped(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    done = Bench(tmp_path).run(command, timeout_s=0.5)

    assert done.status == -9
    assert done.last == "stopped after 0 s"


def test_what_cannot_be_had_is_skipped_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "CACHE", tmp_path)

    class Missing(Check):
        def prepare(self) -> None:
            raise UnavailableError("there is no Node")

    (skipped,) = running.prepare([Missing("inspector", "", _nothing)])

    assert "there is no Node" in str(skipped)
    assert not skipped.failed


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("npm error code EINTEGRITY", OtherBytesError),
        ("error: Hash mismatch for `fastmcp`", OtherBytesError),
        ("no address for the index", UnavailableError),
    ],
)
def test_what_is_not_what_was_locked_is_never_skipped(
    tmp_path: Path, said: str, error: type[Exception]
) -> None:
    command = [sys.executable, "-c", f"import sys; sys.exit({said!r})"]

    with pytest.raises(error, match=said):
        environments._run(command, tmp_path)


@pytest.mark.parametrize("error", [NotServedError("no port"), OSError("no program")])
def test_a_check_that_breaks_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def breaks(bench: Bench) -> Iterator[Step]:
        yield Step("one", "passed")
        raise error

    monkeypatch.setattr(running, "RESULTS", tmp_path)
    report = running.run(Check("inspector", "", breaks))

    assert [step.outcome for step in report.steps] == ["passed", "failed"]
    assert running.read_results()["inspector"].steps == report.steps


def test_large_clients_run_when_they_are_asked_for() -> None:
    usual = {check.name for check in chosen([])}

    assert usual == set(CHECKS) - {"claude-code"}
    assert {check.name for check in chosen([], every=True)} == set(CHECKS)
    assert [check.name for check in chosen(["claude-code"])] == ["claude-code"]
    with pytest.raises(LookupError, match="no check is called nobody"):
        chosen(["nobody"])


def _nothing(bench: Bench) -> Iterator[Step]:
    yield from ()
