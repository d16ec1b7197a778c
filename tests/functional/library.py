"""Folders of packs to run commands on, and ways to run them."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from click.testing import CliRunner, Result

from satchel.cli import main

__all__ = ["HOSTILE_BYTES", "run", "run_process", "run_terminal", "tree", "write_pack"]

# ESC, OSC 8, BEL, carriage return, C1, bidirectional override, tag character, DEL.
HOSTILE_BYTES: Final = (
    "plain \x1b[31mred\x1b[0m \x1b]8;;https://e.org\x07link\x1b]8;;\x07 over\rwrite "
    "\x9b31m \u202eright \U000e0041 \x7f del\n"
).encode()


def write_pack(
    folder: Path, text: str | bytes, files: Mapping[str, str | bytes] | None = None
) -> Path:
    """Write a pack; return its folder."""
    for path, content in {"SKILL.md": text, **(files or {})}.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    """Return the bytes of each file below a folder, by its path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def run(*arguments: str, width: int | None = 80) -> Result:
    """Run a command in this process, as if its output went into a pipe."""
    env = {"COLUMNS": str(width)} if width else {}
    return CliRunner().invoke(main, arguments, env=env, prog_name="satchel")


def run_process(
    *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a process of its own, with its output in a pipe."""
    return subprocess.run(
        [sys.executable, "-m", "satchel", *arguments],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )


def run_terminal(
    *arguments: str,
    cwd: Path,
    columns: int = 80,
    answers: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> bytes:
    """Run a command on a terminal of its own; return every byte that reached it.

    The answers are typed one by one, each when the command asks for it.
    """
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "satchel", *arguments],
        cwd=cwd,
        # Never None: readline puts COLUMNS where `os.environ` does not see it.
        env={**os.environ, **(env or {})},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        close_fds=True,
    )
    os.close(theirs)
    seen = bytearray()
    waiting = list(answers)
    try:
        while piece := _read(ours):
            seen += piece
            if waiting and seen.endswith(b": "):
                os.write(ours, waiting.pop(0).encode() + b"\n")
                seen += b"\n"
    finally:
        os.close(ours)
        process.wait(60)
    return bytes(seen)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux: the other side is closed
        return b""
