"""A place to run the packs' scripts in: known tools on the path, and no others."""

import io
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

__all__ = ["Place", "needs_bash", "needs_dash", "run_alone", "run_here"]

needs_bash: Final = pytest.mark.skipif(
    os.name == "nt" or shutil.which("bash") is None, reason="the scripts need bash"
)

needs_dash: Final = pytest.mark.skipif(
    shutil.which("dash") is None, reason="no shell here but bash"
)

_TOOLS: Final = (
    *("awk", "bash", "cat", "dirname", "env", "find", "grep"),
    *("printf", "sort", "xargs"),
)


def run_alone(
    script: Path, *arguments: str, cwd: Path, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a script with this Python, and with nothing but the standard library."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(script), *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def run_here(
    script: Path, *arguments: str, cwd: Path, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a script as `run_alone` does, but in this process, which takes no time."""
    streams = [
        io.TextIOWrapper(io.BytesIO(text), "utf-8", write_through=True)
        for text in (stdin.encode(), b"", b"")
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        patch.setattr(sys, "argv", [str(script), *arguments])
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        status = 0
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as ended:
            status = int(ended.code or 0)
    _, out, err = (stream.buffer.getvalue().decode() for stream in streams)
    return subprocess.CompletedProcess(script.name, status, out, err)


class Place:
    """A folder with a script's surroundings; its name has blanks in it."""

    def __init__(self, top: Path) -> None:
        self.folder: Final = top / "a project"
        self.folder.mkdir(parents=True)
        self.bin: Final = top / "some tools"
        self.bin.mkdir()
        for name in _TOOLS:
            self.bin.joinpath(name).symlink_to(shutil.which(name) or name)

    def write(self, files: Mapping[str, str]) -> None:
        """Write files below the folder."""
        for path, text in files.items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8", newline="")

    def install(self, name: str, status: int = 0, *, into: Path | None = None) -> None:
        """Install a tool that prints its name and arguments and ends with a status."""
        file = (into or self.bin) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'#!/usr/bin/env bash\necho "ran {name} $*"\nexit {status}\n')
        file.chmod(0o755)

    def close_a_folder(self) -> None:
        """Let `find` meet a folder that it cannot read; as root nothing else does."""
        file = self.bin / "find"
        file.unlink()
        real = shutil.which("find")
        file.write_text(f'#!/usr/bin/env bash\n"{real}" "$@"\nexit 1\n')
        file.chmod(0o755)

    def install_python(self) -> None:
        """Put this interpreter on the path as python3."""
        file = self.bin / "python3"
        file.write_text(f'#!/usr/bin/env bash\nexec "{sys.executable}" "$@"\n')
        file.chmod(0o755)

    def run(
        self, script: Path, *arguments: str, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a script by itself, as a file that can be executed."""
        return self._run([str(script), *arguments], cwd or self.folder)

    def run_by_sh(
        self, script: Path, *arguments: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a script with a shell that is not bash, as ``sh SCRIPT`` may be one."""
        dash = shutil.which("dash") or "dash"
        return self._run([dash, str(script), *arguments], self.folder)

    def _run(self, words: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            cwd=cwd,
            env={"PATH": str(self.bin)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=30,
            check=False,
        )
