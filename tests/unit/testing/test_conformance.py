"""A loader's flaws are named, each with the smallest pack that shows it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from satchel_lab.conformance import check_loader, check_runtime
from satchel_lab.conformance._cases import LoaderCase, all_cases, shown_of
from satchel_lab.conformance._check import LoaderNotRunError
from satchel_lab.conformance._report import FLAWS, CaseResult, LoaderReport

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs fork"),
]

LOADERS: Final = Path(__file__).with_name("loaders.py")
RUNTIMES: Final = Path(__file__).with_name("runtimes.py")
ALSO: Final = {"run-load": ["run-parallel"]}
SHORT: Final = frozenset(
    {
        "plain",
        "unquoted-colon",
        "missing-description",
        "description-below-key",
        "description-folded-block",
        "description-over-250",
        "description-quoted",
        "name-not-folder",
        "not-ascii",
        "crash/yaml-date",
        "bomb/nested-flow",
        "bomb/merge-keys",
        "special/fifo",
        "link/skill-out",
        "name/double-after",
        "markup/comment",
        "markup/block-heading",
        "escape/bidi",
    }
)
CASES: Final[list[LoaderCase]] = [case for case in all_cases() if case.name in SHORT]


def target(loader: str, prompt: str = "good_prompt") -> str:
    return f"{LOADERS}:{loader},{LOADERS}:{prompt}"


# Each takes a second or two; the plug-in's own test names a flaw in every run.
@pytest.mark.hostile
@pytest.mark.parametrize(
    ("loader", "flaw"),
    [
        ("raising", "raises"),
        ("dying", "dies"),
        ("losing", "loses"),
        ("replacing", "replaces"),
        ("waiting", "hangs"),
        ("spinning", "hangs"),
        ("following", "leaks-secret"),
        ("quiet", "silent"),
        ("refusing", "refuses-valid"),
        ("cutting", "cuts"),
        ("renaming", "renames"),
        ("misreading", "misreads"),
        ("listing_all", "lists-no-skill"),
    ],
)
def test_a_flaw_is_named(loader: str, flaw: str) -> None:
    report = check_loader(target(loader), timeout_s=1, cases=CASES)

    assert {result.flaw for result in report.results} == {"", flaw}, report.to_text()
    assert report.groups[0].flaw == FLAWS[flaw]


@pytest.mark.parametrize(
    ("prompt", "flaw"),
    [
        ("unescaped_prompt", "leaks-markup"),
        ("many_lines_prompt", "leaks-line"),
        ("hidden_prompt", "leaks-characters"),
        ("failing_prompt", "prompt-raises"),
    ],
)
def test_a_flaw_of_the_prompt_is_named(prompt: str, flaw: str) -> None:
    report = check_loader(target("good", prompt), timeout_s=1, cases=CASES)

    assert {result.flaw for result in report.results} == {"", flaw}, report.to_text()


@pytest.mark.hostile
def test_a_good_loader_passes_every_pack() -> None:
    report = check_loader(target("good"))

    assert report.passed == len(report.results) > 400, report.to_text()
    assert '"color": "brightgreen"' in report.to_json()


@pytest.mark.parametrize(
    ("loader", "problem"),
    [
        ("no_such_module:load", "cannot be imported: ModuleNotFoundError"),
        (f"{LOADERS}:no_such", "cannot be imported: AttributeError"),
        ("json:loads", "fails on three plain packs: JSONDecodeError"),
        ("glob:glob", "it has to return what it found there"),
    ],
)
def test_what_is_no_loader_is_refused(loader: str, problem: str) -> None:
    with pytest.raises(LoaderNotRunError, match=problem):
        check_loader(loader)


def test_a_python_that_is_not_there_is_reported() -> None:
    with pytest.raises(LoaderNotRunError, match="No such file"):
        check_loader("json:loads", python="/no/such/python")


FORMS: Final = """
from collections import namedtuple
from pathlib import Path

def names(folder: Path):
    return [path.name for path in folder.iterdir()]

def pairs(folder):
    return [(path.name, _about(path)) for path in Path(folder).iterdir()]

def mapping(folder):
    return dict(pairs(folder))

def rows(folder):
    return [{"name": name, "description": about} for name, about in pairs(folder)]

def nested(folder):
    return {row["name"]: row for row in rows(folder)}

def objects(folder):
    return [namedtuple("Skill", row)(**row) for row in rows(folder)]

async def awaited(folder):
    return objects(folder)

async def generated(folder):
    for one in objects(folder):
        yield one

def _about(path):
    return (path / "SKILL.md").read_text().split("description: ")[1].split("\\n")[0]
"""


@pytest.mark.parametrize(
    "form",
    "names pairs mapping rows nested objects awaited generated".split(),  # noqa: SIM905 - one line
)
def test_a_loader_may_answer_in_many_forms(form: str, tmp_path: Path) -> None:
    file = tmp_path / "forms.py"
    file.write_text(FORMS, "utf-8")

    report = check_loader(f"{file}:{form}", cases=CASES[:1])

    assert report.score == "1/1"


def run(*arguments: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    # Else what somebody left in a folder above would count.
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    )


def test_the_plug_in_names_the_flaw_and_writes_reports(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text("raise ValueError('not collected')")
    files = ["r.md", "r.json", "r.svg"]
    reports = [f"--satchel-report={name}" for name in files]

    done = run(
        *(f"--satchel-loader={target('cutting')}", "-k", "over-250 or plain", *reports),
        *(f"--satchel-python={sys.executable}",),
        folder=tmp_path,
    )
    markdown, data, badge = ((tmp_path / n).read_text("utf-8") for n in files)

    assert done.returncode == 1
    assert "wrong: a description that the specification allows is cut" in done.stdout
    assert "description-over-250" in done.stdout
    assert "1 failed, 1 passed" in done.stdout
    assert "**Fix:** show 1,024 characters" in markdown
    assert json.loads(data)["message"] == "1/2"
    assert ">1/2<" in badge


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--satchel-loader=no_such:load"], "no_such:load cannot be imported"),
        (["--satchel-loader=json:loads", "--satchel-report=r.txt"], "has to end with"),
    ],
)
def test_the_plug_in_says_what_is_wrong_in_a_line(
    arguments: list[str], problem: str, tmp_path: Path
) -> None:
    done = run(*arguments, folder=tmp_path)

    assert done.returncode == 4
    assert problem in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


def test_equal_causes_are_one_group_and_the_smallest_pack_is_first() -> None:
    results = [
        CaseResult("a", "A", "raises", "E: x", "l.py:1 in f", "long text", 9),
        CaseResult("b", "B", "raises", "E: y", "l.py:1 in f", "text", 4),
        CaseResult("c", "C", "raises", "F: z", "l.py:2 in f", "longer text", 11),
        CaseResult("d", "D", "silent", text="t", size_bytes=1),
        CaseResult("e", "E", ""),
    ]
    report = LoaderReport("m:f", "m 1.0", tuple(results), alone={"b": "lists 1"})

    first, second = report.groups
    text = report.to_text()

    assert [one.name for one in first.results] == ["b", "a", "c"]
    assert [one.name for one in first.examples] == ["b", "c"]
    assert first.count(first.results[0]) == 2
    assert second.flaw.verdict == "silent"
    assert "E: y at l.py:1 in f (2)" in text
    assert "alone: lists 1" in text
    assert text.endswith(
        "1/5 passed, 3 breaks-neighbours, 1 silent; no prompt was looked at"
    )


@pytest.mark.parametrize(
    ("runtime", "row"),
    [
        ("Forgetful", "run-catalog"),
        ("Talkative", "run-disclosure"),
        ("Restless", "run-stable"),
        ("Short", "run-load"),
        ("Blind", "run-read"),
        ("Mute", "run-again"),
        ("Throwing", "run-refusal"),
        ("Open", "run-outside"),
        ("Greedy", "run-large"),
        ("Fragile", "run-neighbours"),
        ("Raw", "run-markup"),
        ("Full", "run-empty"),
        ("Shared", "run-apart"),
        ("Mixed", "run-parallel"),
        ("Good", ""),
        ("Waits", ""),
    ],
)
def test_a_row_that_a_runtime_breaks_is_named(runtime: str, row: str) -> None:
    report = check_runtime(f"{RUNTIMES}:{runtime}")
    flaws = {result.flaw for result in report.results}

    assert row in flaws
    assert flaws - {""} <= {row, *ALSO.get(row, [])}, report.to_text()


def test_a_runtime_that_hangs_or_is_not_there_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "hanging.py"
    file.write_text("import time\ndef Hanging(folder):\n    time.sleep(5)\n", "utf-8")
    monkeypatch.setattr("satchel_lab.conformance._runtime._TIMEOUT_S", 0.05)

    report = check_runtime(f"{file}:Hanging")

    assert report.passed == 0
    assert "there is no answer in 0.05 s" in report.to_text()
    with pytest.raises(LoaderNotRunError, match="cannot be imported"):
        check_runtime("no_such:Runtime")


def test_the_plug_in_tries_a_runtime(tmp_path: Path) -> None:
    target = f"--satchel-runtime={RUNTIMES}:Open"
    done = run(target, "--satchel-report=r.md", folder=tmp_path)
    both = run(target, "--satchel-loader=json:loads", folder=tmp_path)

    assert "1 failed, 13 passed" in done.stdout
    assert "contract: a path or a name leads out of the skill" in done.stdout
    assert "**Fix:** resolve the path" in (tmp_path / "r.md").read_text("utf-8")
    assert "not both" in both.stderr


@pytest.mark.parametrize("place", ["SKILL.md", "tool/skill.md", "a/b/SKILL.md"])
def test_a_report_shows_no_file_of_the_machine(tmp_path: Path, place: str) -> None:
    """A hostile pack that is a link to / had one of the machine of the report."""
    machine, library = tmp_path / "machine", tmp_path / "case" / "library"
    (machine / place).parent.mkdir(parents=True)
    (machine / place).write_text("not of a pack", "utf-8")
    library.mkdir(parents=True)
    (library / "linked").symlink_to(machine, target_is_directory=True)
    case = all_cases()[0]

    assert shown_of(library, case).text == ""
    (library / "pack").mkdir()
    (library / "pack" / "SKILL.md").write_text("of a pack", "utf-8")
    assert shown_of(library, case).text == "of a pack"
