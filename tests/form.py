"""The folder of the tutorial that fills in a form, as its reader has it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from satchel_scripts import Sandbox

ROOT: Final = Path(__file__).parents[1]
FORM_PAGE: Final = ROOT / "docs" / "tutorial" / "fill-a-form.md"
# Where `make` has put pypdf, the package that the form's script needs.
_ENVIRONMENT: Final = Path(os.environ.get("VENV", ROOT / ".venv"))


def open_form(folder: Path) -> None:
    """Copy ``examples/form``, with an environment for scripts.

    Skips the test where no sandbox works, or the environment has no pypdf.
    """
    if Sandbox().kind == "none":
        pytest.skip("no sandbox works here; `make engines` brings bubblewrap")
    if not any(_ENVIRONMENT.glob("lib/*/site-packages/pypdf")):
        pytest.skip("no pypdf; `make test` installs it")
    shutil.copytree(ROOT / "examples" / "form", folder)
    (folder / "form-env").symlink_to(_ENVIRONMENT)


def run_program(folder: Path, name: str) -> str:
    """Run a program of the folder as its reader does; return what it prints."""
    work = folder / "work" / "ana"
    work.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "library-card.pdf", work)
    variables = {
        **os.environ,
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
        "PYTHONPATH": str(ROOT / "src"),
    }
    command = [sys.executable, name]
    process = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    written = (work / "filled.pdf").read_bytes()
    for value in (b"Ana Simpson", b"Basel", b"Harbour"):
        assert value in written
    return process.stdout
