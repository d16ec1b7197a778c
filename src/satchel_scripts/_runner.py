"""What both runners do: check a job, copy in, run, copy out, clean up."""

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast

from satchel.errors import SkillError
from satchel.files import path_problem, read_confined
from satchel.model import Descriptor, Hold, Job, Outcome, OutputFile
from satchel_scripts._interpreters import Interpreters
from satchel_scripts._limits import NotRunError, RunLimits
from satchel_scripts._process import Plan, ProgramStart, run_program
from satchel_scripts._work import (
    Reasons,
    Seen,
    copy_in,
    copy_out,
    new_folder,
    remove,
    usage,
)

if TYPE_CHECKING:
    from satchel_scripts._needs import MissingNeeds

# A pack has limits of its own, where it is read.
_OF_A_PACK: Final = RunLimits(files=100_000, work_bytes=4 << 30)
# Where Linux shows what processes use.
_PROCESSES: Final = Path("/proc/self/task")


# Linux passes no longer one.
_ARGUMENT_BYTES: Final = (1 << 17) - 1


@dataclass(frozen=True)
class RunPlace:
    """Where a script runs: the paths of the machine, and to whom they belong."""

    folder: str
    work: str
    pack: str
    temporary: str
    uid: int = 0


class CopyRunner:
    """Runs a script on a private copy of its work folder."""

    kind: str
    isolated: bool

    def __init__(
        self,
        limits: RunLimits,
        interpreters: Interpreters,
        environ: Mapping[str, Mapping[str, str]] | None,
    ) -> None:
        self._limits = limits
        self._interpreters = interpreters
        self._environ = {name: dict(of) for name, of in (environ or {}).items()}
        for of in self._environ.values():
            for name, value in of.items():
                if not isinstance(cast("object", value), str):
                    detail = f"environ: expected a text for {name}, got {value!r}"
                    raise TypeError(detail)

    def run(self, job: Job) -> Outcome:
        """Run a script to its end; what cannot be run is an outcome with the reason."""
        began = time.monotonic()
        try:
            self._check(job)
            outcome = self._run_in_copy(job)
        except (NotRunError, OSError, ValueError) as error:
            detail = str(error) if isinstance(error, NotRunError) else _reason(error)
            return Outcome(ending="refused", runner=self.kind, detail=detail)
        seconds = time.monotonic() - began
        return replace(outcome, runner=self.kind, limits=self.holds, seconds=seconds)

    def missing(
        self, entry: Descriptor, read: Callable[[str], bytes]
    ) -> "MissingNeeds | None":
        """Return what a skill's scripts need and will not find; None for nothing."""
        from satchel_scripts._needs import missing_for

        of, network = self._interpreters, not self.isolated
        python, path = of.executable, of.search_path
        return missing_for(entry, read, python, path, network=network)

    @property
    def holds(self) -> Mapping[str, Hold]:
        """Which limits are held, and how surely."""
        limits = self._limits
        optional = {
            "processor time": limits.cpu_s,
            "memory": limits.memory_bytes,
            "processes": limits.processes,
        }
        names = ["time", "file size", "work folder", "files"]
        names += [name for name, most in optional.items() if most is not None]
        holds: dict[str, Hold] = dict.fromkeys(names, "best effort")
        return MappingProxyType({"output": "hard", **holds})

    def _start(self, job: Job, place: RunPlace) -> Outcome:
        """Run the script in its place."""
        raise NotImplementedError

    def _uid(self) -> int:
        """Return the user who runs the script; 0 is the one who asks."""
        return 0

    def _check(self, job: Job) -> None:
        """Raise `NotRunError` for a job that cannot be run."""
        limits = self._limits
        asked = (limits.memory_bytes, limits.processes)
        if asked != (None, None) and not _PROCESSES.is_dir():
            raise NotRunError(
                "this system does not show what processes use, so memory_bytes and "
                "processes cannot be held; give None for both"
            )
        self._interpreters.command(job.path)
        if problem := path_problem(job.path):
            raise NotRunError(f"{job.path!r} is no path of the pack: {problem}")
        for text in job.args:
            _check_argument(text)
        try:
            read_confined(job.pack, job.path, self._limits.work_bytes, owner=job.skill)
        except SkillError as error:
            raise NotRunError(str(error)) from error

    def _run_in_copy(self, job: Job) -> Outcome:
        uid = self._uid()
        folder = tempfile.mkdtemp(prefix="satchel-run-")
        try:
            if uid:
                os.chown(folder, uid, uid)
            work = new_folder(f"{folder}/work", uid)
            temporary = new_folder(f"{folder}/temporary", uid)
            pack = job.pack
            if uid:
                # Whom it belongs to, and who may read it, is not ours to change.
                pack = new_folder(f"{folder}/pack", uid)
                copy_in(job.pack, pack, _OF_A_PACK, uid=uid)
            seen: Seen = {}
            reasons = Reasons()
            if job.work:
                seen, reasons = copy_in(job.work, work, self._limits, uid=uid)
            outcome = self._start(job, RunPlace(folder, work, pack, temporary, uid))
            files: list[OutputFile] = []
            if job.work and outcome.ending != "cancelled":
                try:
                    files = copy_out(work, job.work, seen, self._limits, reasons)
                except OSError as error:
                    reasons.add("the work folder", _reason(error))
            return replace(outcome, files=tuple(files), left_out=reasons.all())
        finally:
            remove(folder)

    def _plan(self, job: Job, place: RunPlace, *, processes: bool = False) -> Plan:
        """Return what the launcher does, with the paths as the script sees them.

        A job without a path tries the place, with nothing to do. ``processes`` says
        whether the kernel counts those of the script alone.
        """
        python = self._interpreters.executable
        argv = [python, "-I", "-S", "-c", ""]
        if job.path:
            command = self._interpreters.command(job.path)
            argv = [*command, f"{place.pack}/{job.path}", *job.args]
        reserves = self._interpreters.reserves_addresses(argv[0])
        limits = self._limits.of_the_kernel(
            address_space=not reserves, processes=processes
        )
        return Plan(
            argv=argv, env=self._variables(job, place), cwd=place.work, limits=limits
        )

    def _variables(self, job: Job, place: RunPlace) -> dict[str, str]:
        """Return all variables of a script, and the paths as it sees them."""
        variables = {
            "PATH": self._interpreters.search_path,
            "HOME": place.work,
            "LANG": "C.UTF-8",
            "TMPDIR": place.temporary,
            "SKILL_DIR": place.pack,
            "WORK_DIR": place.work,
        }
        for pattern, granted in self._environ.items():
            if fnmatchcase(job.skill, pattern):
                variables |= granted
        return variables

    def _watch(
        self, start: ProgramStart, plan: Plan, job: Job, place: RunPlace
    ) -> Outcome:
        """Run a program to its end, and look at the folders that it fills."""

        def disk() -> str:
            limits = self._limits
            return usage(place.work, limits) or usage(place.temporary, limits)

        return run_program(start, plan, job, self._limits, disk)


def _check_argument(text: str) -> None:
    """Raise `NotRunError` for an argument that no system passes to a program."""
    if "\0" in text:
        raise NotRunError("an argument has a NUL character")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise NotRunError("an argument is no valid Unicode") from error
    if size > _ARGUMENT_BYTES:
        raise NotRunError(
            f"an argument is too long: {size:,} bytes, at most {_ARGUMENT_BYTES:,} "
            "can be passed; give a long text as stdin"
        )


def _reason(error: Exception) -> str:
    """Return a text without paths of this machine, since a model reads it."""
    return getattr(error, "strerror", None) or type(error).__name__
