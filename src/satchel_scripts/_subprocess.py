"""Runs scripts with no isolation, in a machine that is thrown away after them."""

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Unpack

from satchel.model import Hold, Job
from satchel_scripts._interpreters import Interpreters
from satchel_scripts._limits import LimitOptions, RunLimits
from satchel_scripts._process import Ended, Plan, ProgramStart, launcher
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

    @property
    def holds(self) -> Mapping[str, Hold]:
        """Which limits are held, and how surely: none is sure but that of output."""
        limits = self._limits
        names = ["time", "file size", "work folder", "files"]
        names += ["processor time"] if limits.cpu_s is not None else []
        names += ["memory"] if limits.memory_bytes is not None else []
        names += ["processes"] if limits.processes is not None else []
        holds: dict[str, Hold] = dict.fromkeys(names, "best effort")
        return MappingProxyType({"output": "hard", **holds})

    def _start(self, job: Job, place: RunPlace) -> Ended:
        interpreters = self._interpreters
        command = interpreters.command(job.path)
        kernel = self._limits.of_the_kernel(
            address_space=not interpreters.reserves_addresses(command[0])
        )
        # It counts all processes of the user, also those that are no script's.
        kernel.pop("RLIMIT_NPROC", None)
        plan = Plan(
            argv=[*command, f"{place.pack}/{job.path}", *job.args],
            env=self._variables(job, place),
            cwd=place.work,
            limits=kernel,
            supervise=True,
        )
        start = ProgramStart(command=launcher(interpreters.executable), stops=True)
        return self._watch(start, plan, job, place)
