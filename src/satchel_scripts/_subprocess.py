"""Runs scripts with no isolation, in a machine that is thrown away after them."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Unpack

from satchel.model import Job, Outcome
from satchel_scripts._interpreters import Interpreters
from satchel_scripts._limits import LimitOptions, RunLimits
from satchel_scripts._process import ProgramStart, launcher
from satchel_scripts._runner import CopyRunner, RunPlace


class Subprocess(CopyRunner):
    """Runs a script as any program of this user: it reads and writes what you can.

    For those who are in a throw-away machine already. The work folder is a copy as in
    `Sandbox`, and the limits are the same, but a script can get around most of them.

    Args:
        timeout_s: Seconds by the clock on the wall.
        cpu_s: Seconds of processor time; None is no limit but the time.
        memory_bytes: Memory of each process, and of all together.
        processes: How many processes there may be at once; None is no limit.
        output_bytes: How much of each of stdout and stderr is kept.
        file_bytes: The size of each file that the script writes.
        files: How many files the work folder may have.
        work_bytes: The size of the work folder.
        python: An interpreter, or the folder of an environment; None is this one.
        interpreters: More programs by suffix: ``{".rb": "/usr/bin/ruby"}``.
        environ: Variables for skills: ``{"pdf": {"API_KEY": key}}``; the first text is
            a shell pattern over ids.

    Attributes:
        kind: ``no isolation``.
        isolated: Whether a script is kept from the rest of the machine.

    Raises:
        ValueError: A limit is not above 0, or ``python`` is no program.
    """

    kind = "no isolation"
    isolated = False

    def __init__(
        self,
        timeout_s: float = 60.0,
        *,
        python: str | os.PathLike[str] | None = None,
        interpreters: Mapping[str, str] | None = None,
        environ: Mapping[str, Mapping[str, str]] | None = None,
        **limits: Unpack[LimitOptions],
    ) -> None:
        limits.setdefault("memory_bytes", None)
        limits.setdefault("processes", None)
        super().__init__(
            RunLimits(timeout_s=timeout_s, **limits),
            Interpreters(python, interpreters),
            environ,
        )

    def _start(self, job: Job, place: RunPlace) -> Outcome:
        plan = replace(self._plan(job, place), supervise=True)
        python = self._interpreters.executable
        start = ProgramStart(command=launcher(python), stops=True)
        return self._watch(start, plan, job, place)
