"""Run README.md as its reader does: from a wheel, in an empty folder, without rights.

    python -m tools.readme

For each Python from 3.11 to 3.13 that is here, the wheel is installed in a new
environment. Each block of README.md then runs and has to print what it shows: in an
empty folder, with a home that cannot be written to, with ``LANG=C``, and, where root
runs this, as the user nobody. A Python that is not here is named and left out.

The heart is then tried alone. A wheel of ``src/satchel`` and nothing next to it runs
the first program of README.md and an agent of LangChain, and names what is missing
in one line.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers._install import find_python
from tests.docs.console import matches
from tools.adapters.frameworks import Adapter

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.11", "3.12", "3.13")
# README.md, and what `tests.docs.pages` needs to run it.
PAGE_FILES = ("README.md", "Makefile", "tests/docs/console.py", "tests/docs/pages.py")
RUN_README = """
import sys; from pathlib import Path; from tests.docs.pages import run_page
run_page(Path(sys.argv[1]))
"""
# What a wheel of the heart is made from.
HEART_FILES = ("LICENSE", "README.md", "hatch_build.py")
# A whole program, and what it prints.
PROGRAM = re.compile(
    r"```python\n(?P<code>.*?)```\n+```console\n\$ python .*?\n(?P<shown>.*?)```",
    re.DOTALL,
)
# What needs another product than the heart.
OPEN_ADDRESS = """
from satchel import Satchel, errors
try: Satchel("https://skills.example")
except errors.ProductMissingError as error: raise SystemExit(error)
"""
NEED_MORE = (
    ("satchel", "check", "x"),
    ("satchel", "serve", "x"),
    ("satchel", "list", "https://skills.example"),
    ("python", "-c", OPEN_ADDRESS),
)
ONE_LINE = re.compile(r".* needs satchel_.*\n")
NOBODY = 65534
# A reader without rights, where there are any to lose.
READER: dict[str, Any] = (
    {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
)


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment of one Python, with an empty folder and a home of its reader."""

    folder: Path
    variables: dict[str, str]

    def install(self, *what: Path | str) -> None:
        """Install with the pip that this Python brings.

        Raises:
            SystemExit: pip cannot, and has said why.
        """
        names = [*map(str, what)]
        command = [str(self.folder / "venv" / "bin" / "python"), "-m", "pip", "install"]
        options = ["--quiet", "--disable-pip-version-check", *names]
        environment = {**os.environ, **self.variables}
        done = subprocess.run([*command, *options], check=False, env=environment)
        if done.returncode:
            raise SystemExit(f"pip cannot install {' '.join(names)}")

    def run(
        self, *command: Path | str, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command as the reader, in the folder that was empty."""
        return subprocess.run(
            command,
            cwd=self.folder / "empty",
            env={
                **self.variables,
                "HOME": str(self.folder / "home"),
                "LANG": "C",
                "PATH": f"{self.folder / 'venv' / 'bin'}:/usr/bin:/bin",
                **variables,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
            **READER,
        )


def main() -> int:
    """Run README.md on each Python, then try the heart; return the exit status."""
    results: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        work.chmod(0o755)
        wheel = build_wheel(work, ROOT)
        pages = copy_page_files(work / "pages")
        for version in VERSIONS:
            python = find_python(version)
            if python is None:
                print(f"Python {version}: not on this machine, left out")
                continue
            environment = make_environment(work / version, Path(python))
            error = run_readme(environment, wheel, pages)
            results.append(error)
            print(f"Python {version}: {error or 'each block prints what it shows'}")
        environment = make_environment(work / "heart", Path(sys.executable))
        heart = try_heart(environment, build_heart(work / "heart" / "project"))
        fine = "runs README.md's first program and an agent, and names what it lacks"
        print(f"src/satchel alone: {heart or fine}")
    return bool(heart) or any(results) or not results


def build_wheel(folder: Path, project: Path) -> Path:
    """Build the wheel of a project into the folder, and return its path."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    options = ["--no-build-isolation", "--wheel-dir", str(folder), str(project)]
    subprocess.run([*command, *options], check=True)
    return next(folder.glob("*.whl"))


def build_heart(project: Path) -> Path:
    """Build a wheel of ``src/satchel`` alone from a copy of what it is made from."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src/satchel", project / "src/satchel", ignore=ignored)
    for name in HEART_FILES:
        shutil.copyfile(ROOT / name, project / name)
    settings = (ROOT / "pyproject.toml").read_text("utf-8")
    one = re.sub(r"(?m)^packages = .*", 'packages = ["src/satchel"]', settings)
    (project / "pyproject.toml").write_text(one, "utf-8")
    return build_wheel(project / "dist", project)


def copy_page_files(folder: Path) -> Path:
    """Copy README.md, and what runs it, to where every user can read it."""
    for name in PAGE_FILES:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
    return folder


def make_environment(folder: Path, python: Path) -> Environment:
    """Make a new environment of a Python, and what its reader has."""
    folder.mkdir()
    python, variables = make_readable(python, folder / "python")
    environment = {**os.environ, **variables}
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True, env=environment)
    (folder / "home").mkdir(mode=0o555)
    empty = folder / "empty"
    empty.mkdir()
    if READER:
        os.chown(empty, NOBODY, NOBODY)
    return Environment(folder, variables)


def run_readme(environment: Environment, wheel: Path, pages: Path) -> str:
    """Install the wheel and run README.md; return what went wrong, or nothing."""
    environment.install(wheel, "sybil>=10")
    program = ("python", "-c", RUN_README, pages / "README.md")
    done = environment.run(*program, PYTHONPATH=str(pages))
    return done.stdout if done.returncode else ""


def try_heart(environment: Environment, wheel: Path) -> str:
    """Install the heart and use it alone; return what went wrong, or nothing."""
    environment.install(wheel)
    for command in NEED_MORE:
        done = environment.run(*command)
        if not (done.returncode and ONE_LINE.fullmatch(done.stdout)):
            answer = f"{' '.join(command)}\n{done.stdout}[status {done.returncode}]"
            return f"this does not fail with one line on what it needs: {answer}"
    if error := run_program(environment, ROOT / "README.md"):
        return error
    langchain = Adapter("langchain")
    environment.install("--require-hashes", "-r", langchain.lock)
    shutil.copytree(ROOT / "examples/skills", environment.folder / "empty" / "skills")
    return run_program(environment, langchain.page)


def run_program(environment: Environment, page: Path) -> str:
    """Run the first program of a page; return what went wrong, or nothing."""
    program = PROGRAM.search(page.read_text("utf-8"))
    if program is None:
        return f"{page.name} has no program with what it prints"
    file = environment.folder / "empty" / "program.py"
    file.write_text(program["code"], "utf-8")
    # Warnings come where a reader at a terminal sees them.
    done = environment.run("python", file.name, PYTHONUNBUFFERED="1")
    if done.returncode or not matches(program["shown"], done.stdout):
        return f"the first program of {page.name} prints something else:\n{done.stdout}"
    return ""


def make_readable(python: Path, folder: Path) -> tuple[Path, dict[str, str]]:
    """Return a Python that the reader can run, and the variables that it needs.

    One that lies in a closed home is copied.
    """
    try:
        subprocess.run([python, "-c", ""], check=True, **READER)
    except (OSError, subprocess.CalledProcessError):
        code = "import sys; print(sys.base_prefix)"
        prefix = subprocess.check_output([python, "-c", code], encoding="utf-8").strip()
        shutil.copytree(prefix, folder, symlinks=True)
        return folder / "bin" / "python3", {"LD_LIBRARY_PATH": str(folder / "lib")}
    return python, {}


if __name__ == "__main__":
    sys.exit(main())
