"""``backend/scripts/lint.sh``: finds what a project is set up for, and runs it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.unit.packs.house import PACKS
from tests.unit.packs.scripts import Place, needs_bash, needs_dash

SCRIPT: Final = PACKS / "backend" / "scripts" / "lint.sh"

pytestmark = [needs_bash, pytest.mark.row("C12", "C52")]

GOOD: Final = {"src/a b.py": "x = 1\n"}
RUFF: Final = {**GOOD, "pyproject.toml": "[project]\nname = 'x'\n[tool.ruff.lint]\n"}


RUFF_RAN: Final = "ruff check --no-fix --no-fix-only ."


class Case(NamedTuple):
    """A project, the tools that are installed with their status, what is expected."""

    files: Mapping[str, str]
    tools: Mapping[str, int]
    status: int
    ran: list[str]
    last: list[str]


CASES: Final = {
    "ruff, clean": Case(RUFF, {"ruff": 0}, 0, [RUFF_RAN], ["clean: ruff check"]),
    "ruff, findings": Case(RUFF, {"ruff": 1}, 1, [RUFF_RAN], ["not clean: ruff check"]),
    "ruff.toml": Case(
        {**GOOD, "ruff.toml": "[format]\n"},
        {"ruff": 0},
        0,
        [RUFF_RAN, "ruff format --check ."],
        ["clean: ruff check, ruff format"],
    ),
    "a hook formats": Case(
        {
            **RUFF,
            ".pre-commit-config.yaml": "repos:\n- hooks:\n  - id: ruff-format\n",
        },
        {"ruff": 0},
        0,
        [RUFF_RAN, "ruff format --check ."],
        ["clean: ruff check, ruff format"],
    ),
    "a hook that is commented out": Case(
        {**RUFF, ".pre-commit-config.yaml": "repos:\n#  - id: ruff-format\n"},
        {"ruff": 0},
        0,
        [RUFF_RAN],
        ["clean: ruff check"],
    ),
    "flake8, in tox.ini": Case(
        {**GOOD, "tox.ini": "[tox]\n[flake8]\n"},
        {"flake8": 0, "ruff": 1},
        0,
        ["flake8 --extend-exclude .venv,venv,node_modules,build,dist ."],
        ["clean: flake8"],
    ),
    "flake8, told what to leave out": Case(
        {**GOOD, ".flake8": "[flake8]\nextend-exclude =\n  old\n"},
        {"flake8": 0},
        0,
        ["flake8 ."],
        ["clean: flake8"],
    ),
    "a section of another name": Case(
        {**GOOD, "tox.ini": "[flake8-but-not]\n", "setup.cfg": "# [mypy]\n"},
        {"pyflakes": 0},
        0,
        ["pyflakes ./src/a b.py"],
        ["clean: pyflakes"],
    ),
    "mypy, told what to look at": Case(
        {**RUFF, "mypy.ini": "[mypy]\nfiles = src\n"},
        {"ruff": 0, "mypy": 0},
        0,
        [RUFF_RAN, "mypy --no-install-types"],
        ["clean: ruff check, mypy"],
    ),
    "mypy, told for one module only": Case(
        {**RUFF, "setup.cfg": "[mypy]\nstrict = true\n[mypy-x]\nfiles = no\n"},
        {"ruff": 0, "mypy": 1},
        1,
        [RUFF_RAN, "mypy --no-install-types ."],
        ["not clean: mypy"],
    ),
    "mypy, in pyproject.toml": Case(
        {**GOOD, "pyproject.toml": "[tool.mypy]\npackages = ['x']\n[tool.ruff]\n"},
        {"ruff": 0, "mypy": 0},
        0,
        [RUFF_RAN, "mypy --no-install-types"],
        ["clean: ruff check, mypy"],
    ),
    "pyright": Case(
        {**RUFF, "pyrightconfig.json": "{}"},
        {"ruff": 0, "pyright": 0},
        0,
        [RUFF_RAN, "pyright "],
        ["clean: ruff check, pyright"],
    ),
    "set up and not installed": Case(
        {**RUFF, ".mypy.ini": "[mypy]\n"},
        {"ruff": 0},
        2,
        [RUFF_RAN],
        ["not installed: mypy"],
    ),
    "findings, and one not installed": Case(
        {**RUFF, ".mypy.ini": "[mypy]\nmodules = x\n"},
        {"ruff": 1},
        1,
        [RUFF_RAN],
        ["not clean: ruff check", "not installed: mypy"],
    ),
    "nothing set up, ruff there": Case(
        GOOD, {"ruff": 0}, 0, [RUFF_RAN], ["clean: ruff check (defaults)"]
    ),
    "nothing set up, pyflakes complains": Case(
        GOOD, {"pyflakes": 1}, 1, ["pyflakes ./src/a b.py"], ["not clean: pyflakes"]
    ),
    "nothing set up, nothing there": Case(GOOD, {}, 2, [], ["not installed: python3"]),
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_what_is_set_up_is_run(case: Case, place: Place) -> None:
    place.write(case.files)
    for name, status in case.tools.items():
        place.install(name, status)

    done = place.run(SCRIPT)

    lines = done.stdout.splitlines()
    ran = [line.removeprefix("ran ") for line in lines if line.startswith("ran ")]
    assert (done.returncode, ran) == (case.status, case.ran), done.stderr
    assert lines[-len(case.last) :] == case.last


def test_the_project_s_own_tool_goes_first(place: Place) -> None:
    place.write(RUFF)
    place.install("ruff", 1)
    place.install("ruff", 0, into=place.folder / ".venv" / "bin")

    assert place.run(SCRIPT).returncode == 0


@pytest.mark.parametrize("setting", ["fix = true", "fix-only = true"])
def test_no_source_is_changed_even_where_a_setting_says_so(
    setting: str, place: Place
) -> None:
    """With the real tool."""
    ruff = shutil.which("ruff", path=Path(sys.executable).parent)
    if ruff is None:
        pytest.skip("ruff is not installed here")
    place.write({"a.py": "import os\n", "ruff.toml": f"{setting}\n"})
    place.bin.joinpath("ruff").symlink_to(ruff)

    done = place.run(SCRIPT)

    assert place.folder.joinpath("a.py").read_text("utf-8") == "import os\n"
    assert done.returncode == 1


def test_a_folder_that_cannot_be_read_is_not_clean(place: Place) -> None:
    place.write(RUFF)
    place.install("ruff")
    place.close_a_folder()

    done = place.run(SCRIPT)

    assert done.returncode == 2
    assert done.stdout.endswith("\nnot checked: a folder that cannot be read\n")


@needs_dash
def test_a_plain_sh_will_do(place: Place) -> None:
    place.write(RUFF)
    place.install("ruff", 0)

    assert place.run_by_sh(SCRIPT).stdout.endswith("\nclean: ruff check\n")


def test_a_folder_named_like_an_option(place: Place) -> None:
    place.write({"-/a.py": "x = 1\n"})
    place.install("ruff", 0)

    assert place.run(SCRIPT, "--", "-").returncode == 0


def test_every_file_is_compiled_where_there_is_no_linter(place: Place) -> None:
    """Nothing is written, and what others have put into the folder is passed by."""
    place.write(
        {
            **GOOD,
            "-c.py": "def f(:\n",
            "it's.py": "x = '\0'\n",
            "src/tokenize.py": "raise SystemExit('imported')\n",
            ".venv/lib/bad.py": "(",
            "node_modules/bad.py": "(",
            "build/bad.py": "(",
        }
    )
    place.install_python()
    before = sorted(place.folder.rglob("*"))

    done = place.run(SCRIPT, str(place.folder), cwd=place.bin)

    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert [line.rpartition(": ")[0] for line in sorted(lines[1:3])] == [
        "./-c.py:1",
        "./it's.py:1",
    ]
    assert lines[0] == "== compile"
    assert lines[-1] == "not clean: compile"
    assert sorted(place.folder.rglob("*")) == before


def test_a_clean_project_compiles(place: Place) -> None:
    place.write(GOOD)
    place.install_python()

    done = place.run(SCRIPT, ".")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "== compile\n\nclean: compile\n"


def test_list_names_the_checks_and_runs_none(place: Place) -> None:
    place.write({**RUFF, "mypy.ini": "[mypy]\n", "pyrightconfig.json": "{}"})
    place.install("ruff", 1)
    place.install("mypy", 1)

    done = place.run(SCRIPT, "--list")

    assert done.stdout == "ruff check\nmypy\n"
    assert done.stderr == "lint.sh: pyright is set up here and is not installed\n"
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "no such folder: nowhere"),
        (["src", "src"], "one project at a time"),
        (["--fix"], "unknown option --fix"),
        (["--", "-x"], "no such folder: ./-x"),
        (["empty"], "no Python file in "),
    ],
    ids=["no folder", "two projects", "an option", "behind --", "no Python"],
)
def test_what_cannot_be_checked_is_reported(
    arguments: list[str], message: str, place: Place
) -> None:
    place.write({**GOOD, "empty/README.md": ""})

    done = place.run(SCRIPT, *arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"lint.sh: {message}")


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_lists_options_and_statuses(option: str, place: Place) -> None:
    done = place.run(SCRIPT, option)

    assert (done.returncode, done.stderr) == (0, "")
    for word in ("Usage: lint.sh", "--list", "--help", "Exit status: 0 all clean"):
        assert word in done.stdout


@pytest.mark.parametrize(
    "script", sorted(PACKS.rglob("*.sh")), ids=lambda path: path.name
)
def test_every_script_is_executable_and_bash_can_parse_it(script: Path) -> None:
    assert os.access(script, os.X_OK)
    assert script.read_text("utf-8").startswith("#!/usr/bin/env bash\n")
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
