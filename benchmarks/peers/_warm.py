"""Run a peer that has been imported once over many folders, each in a fork."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, cast

from benchmarks.peers._catalog import get_peer
from benchmarks.peers._process import MEMORY_BYTES, _environment, _kill

if TYPE_CHECKING:
    import os
    from types import TracebackType

_FORKED: Final = Path(__file__).with_name("_forked.py")


class WarmPeer:
    """A peer, imported and waiting; see `_forked`."""

    def __init__(
        self, name: str, timeout_s: float, memory_bytes: int = MEMORY_BYTES
    ) -> None:
        """Start it, and wait until it is imported.

        Raises:
            OSError: It is not installed, or cannot be imported.
        """
        self._home = tempfile.TemporaryDirectory(prefix="satchel-peer-")
        command = [str(get_peer(name).interpreter), "-I", str(_FORKED), name]
        self._child = subprocess.Popen(
            [*command, str(timeout_s), str(memory_bytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self._home.name,
            env=_environment(self._home.name),
            start_new_session=True,
        )
        self.version = str(self._line()["version"])

    def discover(self, folder: str | os.PathLike[str]) -> dict[str, Any]:
        """Return what one fork answered.

        ``found`` and ``error`` are missing where it died before it had them;
        ``catalog`` is there if the peer has one, else maybe ``catalog_error``;
        ``whole`` tells whether it came to its end, ``ended`` how it ended;
        ``seconds`` is for the discovery alone where that ended.

        Raises:
            OSError: The process that forks has died itself.
        """
        if self._child.stdin is None:
            raise TypeError(self._child)
        self._child.stdin.write(json.dumps(str(folder)).encode() + b"\n")
        self._child.stdin.flush()
        return self._line()

    def __enter__(self) -> Self:
        """Return the peer itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it."""
        if self._child.stdin is not None:
            self._child.stdin.close()
        _kill(self._child)
        self._home.cleanup()

    def _line(self) -> dict[str, Any]:
        if self._child.stdout is None:
            raise TypeError(self._child)
        line = self._child.stdout.readline()
        if not line:
            raise OSError("the peer has ended")
        return cast("dict[str, Any]", json.loads(line))
