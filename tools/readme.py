"""Run README.md as its reader does: from a wheel, in an empty folder, without rights.

    python -m tools.readme

For each Python from 3.11 to 3.13 that is here, the wheel is installed in a new
environment. Each block of README.md then runs and has to print what it shows: in an
empty folder, with a home that cannot be written to, with ``LANG=C``, and, where root
runs this, as the user nobody. A Python that is not here is named and left out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.peers._install import find_python

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.11", "3.12", "3.13")
# README.md, and what `tests.docs.pages` needs to run it.
PAGE_FILES = ("README.md", "Makefile", "tests/docs/console.py", "tests/docs/pages.py")
RUN_README = """
import sys; from pathlib import Path; from tests.docs.pages import run_page
run_page(Path(sys.argv[1]))
"""
NOBODY = 65534
# A reader without rights, where there are any to lose.
READER: dict[str, Any] = (
    {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
)


def main() -> int:
    """Run README.md on each Python; return the exit status."""
    results: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        work.chmod(0o755)
        wheel = build_wheel(work)
        pages = copy_page_files(work / "pages")
        for version in VERSIONS:
            python = find_python(version)
            if python is None:
                print(f"Python {version}: not on this machine, left out")
                continue
            folder = work / version
            folder.mkdir()
            error = run_readme(folder, Path(python), wheel, pages)
            results.append(error)
            print(f"Python {version}: {error or 'each block prints what it shows'}")
    return any(results) or not results


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout into the folder, and return its path."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    options = ["--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run([*command, *options], check=True)
    return next(folder.glob("*.whl"))


def copy_page_files(folder: Path) -> Path:
    """Copy README.md, and what runs it, to where every user can read it."""
    for name in PAGE_FILES:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
    return folder


def run_readme(folder: Path, python: Path, wheel: Path, pages: Path) -> str:
    """Install the wheel and run README.md; return what went wrong, or nothing."""
    python, variables = make_readable(python, folder / "python")
    venv, home, empty = folder / "venv", folder / "home", folder / "empty"
    environment = {**os.environ, **variables}
    subprocess.run([python, "-m", "venv", venv], check=True, env=environment)
    command: list[Path | str] = [
        venv / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
    ]
    options: list[Path | str] = ["--disable-pip-version-check", wheel, "sybil>=10"]
    subprocess.run([*command, *options], check=True, env=environment)
    home.mkdir(mode=0o555)
    empty.mkdir()
    if READER:
        os.chown(empty, NOBODY, NOBODY)
    done = subprocess.run(
        [venv / "bin" / "python", "-c", RUN_README, pages / "README.md"],
        cwd=empty,
        env={
            **variables,
            "HOME": str(home),
            "LANG": "C",
            "PATH": f"{venv / 'bin'}:/usr/bin:/bin",
            "PYTHONPATH": str(pages),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
        **READER,
    )
    return done.stdout if done.returncode else ""


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
        version = folder.parent.name
        return (
            folder / "bin" / f"python{version}",
            {"LD_LIBRARY_PATH": str(folder / "lib")},
        )
    return python, {}


if __name__ == "__main__":
    sys.exit(main())
