"""The hook and the action of this repository: what they run works, and is safe."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.functional.library import run, write_pack
from tests.unit.checking.history import commit

ROOT: Final = Path(__file__).parents[2]
GOOD: Final = (
    "---\nname: {}\ndescription: Use it when testing.\n---\n# Title\n\n"
    "Read references/a.md when in doubt.\n"
)
BROKEN: Final = GOOD.replace("Use it when", "Use it: when")


def read(name: str) -> Any:  # noqa: ANN401 - YAML of ours
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


HOOKS: Final = {hook["id"]: hook for hook in read(".pre-commit-hooks.yaml")}
ACTION: Final = read("action.yml")


@pytest.fixture(autouse=True)
def folder(here: Path) -> Path:
    for name, text in {"good": GOOD, "broken": BROKEN}.items():
        files = {"references/a.md": "# A\n"}
        write_pack(here / "skills" / name, text.format(name), files)
    (here / "README.md").write_text("# Hello\n", "utf-8")
    return here


def bash(
    script: str, *options: str, check: bool = True, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a script as the runner does."""
    program = shutil.which("bash")
    assert program is not None
    return subprocess.run(
        [program, *options, script],
        capture_output=True,
        encoding="utf-8",
        check=check,
        env=env,
    )


class TestHooks:
    """pre-commit appends the names of the files that change to the entry."""

    @staticmethod
    def hook(name: str, *files: str) -> tuple[int, str]:
        _, *arguments = shlex.split(HOOKS[name]["entry"])
        result = run(*arguments, *files)
        return result.exit_code, result.stdout

    def test_their_fields_are_those_of_pre_commit(self) -> None:
        """Source: pre-commit.com, "Creating new hooks"."""
        names = {
            *("id", "name", "description", "entry", "language", "types"),
            "require_serial",
        }

        assert set(HOOKS) == {"satchel-check", "satchel-fix", "satchel-eval"}
        assert all(set(hook) - {"pass_filenames"} == names for hook in HOOKS.values())
        # One run for all files: two of one name may be in different batches else.
        assert all(hook["require_serial"] for hook in HOOKS.values())
        assert all(hook["entry"].startswith("satchel ") for hook in HOOKS.values())

    @pytest.mark.parametrize(
        ("files", "status", "packs"),
        [
            (["README.md"], 0, 0),
            (["skills/good/SKILL.md"], 0, 1),
            (["skills/good/references/a.md", "README.md"], 0, 1),
            (["skills/broken/references/a.md"], 1, 1),
            (["skills/good/SKILL.md", "skills/broken/SKILL.md", "README.md"], 1, 2),
        ],
    )
    def test_files_mean_their_packs(
        self, files: list[str], status: int, packs: int
    ) -> None:
        done, message = self.hook("satchel-check", *files)

        assert done == status
        assert f"{packs} pack{'' if packs == 1 else 's'} checked" in message

    @pytest.mark.parametrize("name", ["--fail-on=never", "--config=none", "--strict"])
    def test_no_file_of_a_change_is_an_option(self, name: str, folder: Path) -> None:
        """Names of files come without a -- before them, as somebody else chose them."""
        (folder / name).write_text("")
        done, _ = self.hook("satchel-check", name, "skills/broken/SKILL.md")
        behind, _ = self.hook("satchel-check", "--", name, "skills/good/SKILL.md")

        assert (done, behind) == (2, 0)

    def test_evals_look_at_every_pack(self, folder: Path) -> None:
        """A change of one skill can take the queries of another."""
        assert HOOKS["satchel-eval"]["pass_filenames"] is False
        assert self.hook("satchel-eval")[0] == 0
        evals = folder / "skills/good/evals"
        evals.mkdir()
        (evals / "evals.json").write_text("[", "utf-8")

        assert self.hook("satchel-eval")[0] == 1

    def test_the_other_one_fixes(self) -> None:
        assert self.hook("satchel-fix", "skills/broken/references/a.md")[0] == 0
        assert self.hook("satchel-check", "skills/broken/SKILL.md")[0] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="the runner's bash is not there")
class TestAction:
    """The composite action: its steps as the runner runs them."""

    STEP: Final = next(step for step in ACTION["runs"]["steps"] if "id" in step)

    @pytest.fixture
    def runner(self, folder: Path) -> Path:
        """Lay out what an earlier step of the action has made."""
        temporary = folder / "runner"
        binaries = temporary / "satchel-venv" / "bin"
        binaries.mkdir(parents=True)
        command = Path(sys.executable).with_name("satchel")
        (binaries / "satchel").symlink_to(command)
        return temporary

    def act(self, runner: Path, **inputs: str) -> tuple[int, str, dict[str, str]]:
        """Run the step: bash, its options, its variables, its files."""
        given = {
            name.upper().replace("-", "_"): about["default"]
            for name, about in ACTION["inputs"].items()
        }
        values = {**given, "PATHS": given["PATH"], **inputs}
        script = runner / "step.sh"
        script.write_text(self.STEP["run"], "utf-8")
        outputs, summary = runner / "outputs", runner / "summary"
        done = bash(
            str(script),
            *("--noprofile", "--norc", "-eo", "pipefail"),
            env={
                **{k: v for k, v in values.items() if k in self.STEP["env"]},
                "PATH": os.environ["PATH"],
                "HOME": str(runner),
                "RUNNER_TEMP": str(runner),
                "GITHUB_OUTPUT": str(outputs),
                "GITHUB_STEP_SUMMARY": str(summary),
            },
            check=False,
        )
        lines = outputs.read_text().splitlines()
        return (
            done.returncode,
            done.stdout + done.stderr,
            dict(line.split("=", 1) for line in lines),
        )

    def test_it_prints_and_writes_every_report(self, runner: Path) -> None:
        status, message, outputs = self.act(runner, PATHS="skills\n")

        assert status == 1
        assert message.startswith("::error file=skills/broken/SKILL.md,line=3,")
        assert outputs["status"] == "1"
        assert json.loads(Path(outputs["sarif"]).read_text())["version"] == "2.1.0"
        assert "unquoted-colon" in Path(outputs["comment"]).read_text("utf-8")
        assert "unquoted-colon" in (runner / "summary").read_text("utf-8")

    @pytest.mark.slow
    def test_evals_are_a_part_of_the_comment(self, runner: Path, folder: Path) -> None:
        evals = folder / "skills/good/evals"
        evals.mkdir()
        rows = [{"query": "zzz", "should_trigger": True}]
        (evals / "evals.json").write_text(json.dumps(rows), "utf-8")

        status, message, outputs = self.act(runner, PATHS="skills/good", EVALS="yes")
        assert (status, "Hit@1" in message) == (0, True)
        assert "satchel eval" in Path(outputs["comment"]).read_text("utf-8")

        inputs = {"PATHS": "skills/good", "EVALS": "yes", "FAIL_UNDER": ".5"}
        status, _, outputs = self.act(runner, **inputs)
        assert (status, outputs["status"]) == (1, "1")

    def test_no_module_of_the_checkout_runs(self, folder: Path) -> None:
        """It is installed from within the folder that is to be checked."""
        for name in ("venv", "pip", "logging"):
            (folder / f"{name}.py").write_text("open('ran', 'w')", "utf-8")
        script = ACTION["runs"]["steps"][0]["run"].replace(" -m venv", " -m venv -h #")
        called = [line.split() for line in script.splitlines() if " -m " in line]
        env = {"PATH": os.environ["PATH"], "PYTHON": sys.executable, "RUNNER_TEMP": "."}
        bash(script.partition("bin=")[0], "-c", env=env)

        assert all(words[words.index("-m") - 1] == "-I" for words in called)
        assert not (folder / "ran").exists()

    def test_its_inputs_reach_the_command(self, runner: Path, folder: Path) -> None:
        commit(folder)
        (folder / "x y.toml").write_text('[lint]\nignore = ["missing-h1"]\n')
        status, message, outputs = self.act(
            runner,
            PATHS="skills/good\n\nskills/broken\n",
            PROFILE="lenient",
            FAIL_ON="warning",
            SINCE="HEAD",
            CONFIG="x y.toml",
            SARIF="a b.sarif",
            COMMENT="a b.md",
        )

        assert (status, message[-200:]) == (0, message[-200:])
        assert "since HEAD: no pack changed" in message
        assert outputs["sarif"] == "a b.sarif"
        assert (folder / "a b.sarif").is_file()
        assert (folder / "a b.md").is_file()

    @pytest.mark.parametrize(
        "inputs",
        [
            dict.fromkeys(
                (
                    *("PATHS", "PROFILE", "FAIL_ON", "SINCE", "CONFIG", "SARIF"),
                    *("COMMENT", "EVALS", "FAIL_UNDER"),
                ),
                '$(touch evil)`touch evil`"; touch evil; "\'; touch evil; #',
            ),
            {"PATHS": "--fix\nskills"},
            {"PATHS": "skills", "SINCE": "--output=evil", "CONFIG": "none"},
        ],
        ids=["shell", "option", "git"],
    )
    def test_no_input_is_a_command(
        self, runner: Path, folder: Path, inputs: dict[str, str]
    ) -> None:
        before = (folder / "skills/broken/SKILL.md").read_bytes()
        status, _, _ = self.act(runner, **inputs)

        assert status == 2
        assert not (folder / "evil").exists()
        assert (folder / "skills/broken/SKILL.md").read_bytes() == before

    @pytest.mark.row("F78")
    def test_it_installs_what_is_locked_and_nothing_else(self) -> None:
        steps = ACTION["runs"]["steps"]
        lines = [line.strip() for step in steps for line in step["run"].splitlines()]
        installs = [
            shlex.split(line)[1:]
            for line in lines
            if line.startswith('"${pip[@]}"') or "pip install" in line
        ]

        assert installs[1:] == [
            ["--require-hashes", "--requirement", "$HERE/requirements/run.txt"],
            ["--no-deps", "--no-build-isolation", "$HERE"],
        ]
        assert [line for line in lines if "pip install" in line] == [
            'pip=("$bin/python" -I -m pip install --quiet --disable-pip-version-check)'
        ]
        locked = (ROOT / "requirements/run.txt").read_text("utf-8").lower()
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
        needed = [
            *project["project"]["dependencies"],
            *project["build-system"]["requires"],
        ]
        names = [re.split(r"[^\w-]", one)[0].lower() for one in needed]
        assert [name for name in names if f"\n{name}==" not in f"\n{locked}"] == []

    def test_no_expression_stands_in_a_script(self) -> None:
        """Inputs come in by variables; an expression would be text of the script."""
        steps = ACTION["runs"]["steps"]

        assert [step for step in steps if "${{" in step["run"]] == []
        assert all(step["shell"] == "bash" for step in steps)
        assert {name for step in steps for name in step} <= {
            *("name", "id", "shell", "env", "run")
        }

    def test_every_input_is_used_and_described(self) -> None:
        used = " ".join(
            value for step in ACTION["runs"]["steps"] for value in step["env"].values()
        )

        assert [n for n in ACTION["inputs"] if f"inputs.{n} " not in used] == []
        assert all(item["description"] for item in ACTION["inputs"].values())
        assert all(
            entry["value"] == f"${{{{ steps.check.outputs.{name} }}}}"
            for name, entry in ACTION["outputs"].items()
        )

    @pytest.mark.parametrize("step", ACTION["runs"]["steps"], ids=lambda s: s["name"])
    def test_its_scripts_are_bash(self, step: dict[str, str]) -> None:
        bash(step["run"], "-n", "-c")
