"""Runs scripts where they can do no harm: in bubblewrap, else in Landlock."""

import os
import re
import secrets
import sys
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias, Unpack

from satchel.errors import install_command
from satchel.model import Hold, Job
from satchel_scripts import _bubblewrap as bubblewrap
from satchel_scripts._interpreters import Interpreters
from satchel_scripts._limits import LimitOptions, NotRunError, RunLimits
from satchel_scripts._process import Ended, Plan, ProgramStart, launcher
from satchel_scripts._runner import CopyRunner, RunPlace
from satchel_scripts._seccomp import make_filter
from satchel_scripts._work import new_folder

Kind: TypeAlias = Literal["bubblewrap", "landlock"]

# The program that starts others under Landlock.
_CONFINE: Final = str(Path(__file__).with_name("_confine.py"))
_DEVICES: Final = ("/dev/urandom", "/dev/random", "/dev/zero")
_TRY_S: Final = 30.0
# Users above those that systems and their tools give out; uid_t has 32 bits.
_FIRST_UID, _UIDS, _NOBODY = 2_000_000_000, 100_000_000, 65_534
_PATH: Final = re.compile(r"(?<![\w.])/[\w.+/-]+")
_WAYS_OUT: Final = (
    "bubblewrap needs user namespaces, or root that may mount: allow them for this "
    "container or program; Landlock needs Linux 6.12 or newer. Or run the script "
    "elsewhere: satchel_scripts.Subprocess(), in a machine that is thrown away after it"
)


class Sandbox(CopyRunner):
    """Runs a script that sees its pack, a copy of its work folder, and no network.

    The kind of sandbox is chosen once, by trying: ``bubblewrap``, else ``landlock``.
    Where neither works, each run is refused, with the reason; nothing runs bare.

    Args:
        timeout_s: Seconds by the clock on the wall.
        cpu_s: Seconds of processor time; None is no limit but the time.
        memory_bytes: Memory of each process, and of all together.
        processes: How many processes and threads there may be at once.
        output_bytes: How much of each of stdout and stderr is kept.
        file_bytes: The size of each file that the script writes.
        files: How many files the work folder may have.
        work_bytes: The size of the work folder.
        python: An interpreter, or the folder of an environment; None is this one.
        interpreters: More programs by suffix: ``{".rb": "/usr/bin/ruby"}``.
        environ: Variables for skills: ``{"pdf": {"API_KEY": key}}``; the first text is
            a shell pattern over ids.
        read: More files and folders that scripts may read.
        kind: Which kind has to be taken; None takes the first that works.

    Attributes:
        isolated: Whether a script is kept from the rest of the machine.

    Raises:
        ValueError: A limit is not above 0, or ``python`` is no program.
    """

    isolated = True

    def __init__(  # noqa: PLR0913 - each is a matter of its own
        self,
        timeout_s: float = 60.0,
        *,
        python: str | os.PathLike[str] | None = None,
        interpreters: Mapping[str, str] | None = None,
        environ: Mapping[str, Mapping[str, str]] | None = None,
        read: Iterable[str | os.PathLike[str]] = (),
        kind: Kind | None = None,
        **limits: Unpack[LimitOptions],
    ) -> None:
        super().__init__(
            RunLimits(timeout_s=timeout_s, **limits),
            Interpreters(python, interpreters, read),
            environ,
        )
        self._asked = kind

    @property
    def kind(self) -> str:  # type: ignore[override]
        """Which kind of sandbox runs the scripts; ``none`` where neither works."""
        return self._way.kind if self._way else "none"

    @cached_property
    def _tried(self) -> tuple["_Way | None", str]:
        """The first way that works, and why those before it do not."""
        reasons: list[str] = []
        is_root = os.geteuid() == 0
        for way in _WAYS:
            if self._asked in {None, way.kind} and way.needs_root <= is_root:
                try:
                    self._try(way)
                except (NotRunError, OSError, NotImplementedError) as error:
                    reasons.append(f"{way.kind}: {error}")
                else:
                    return way, ""
        return None, "; ".join(dict.fromkeys(reasons))

    @property
    def _way(self) -> "_Way | None":
        return self._tried[0]

    @property
    def _chosen(self) -> "_Way":
        """The way that works; raises `NotRunError` where none does."""
        if self._way is None:
            # A model reads it: no path of this machine.
            raise NotRunError(_PATH.sub("<path>", self.reason))
        return self._way

    @property
    def reason(self) -> str:
        """Why no kind of sandbox works; empty where one does."""
        why = f"no sandbox works here: {self._tried[1]}. {_WAYS_OUT}"
        return "" if self._way else why

    @property
    def holds(self) -> Mapping[str, Hold]:
        """Which limits are held, and how surely."""
        way, limits = self._way, self._limits
        holds: dict[str, Hold] = {"time": "hard", "output": "hard", "file size": "hard"}
        holds |= {"work folder": "best effort", "files": "best effort"}
        if limits.cpu_s is not None:
            holds |= {"processor time of a process": "hard"}
            holds |= {"processor time": "best effort"}
        if limits.memory_bytes is not None:
            holds |= {"memory of a process": "hard", "memory": "best effort"}
        if limits.processes is not None:
            sure = way is not None and way.counts_processes
            holds["processes"] = "hard" if sure else "best effort"
        return MappingProxyType(holds)

    def _uid(self) -> int:
        return _new_uid() if self._chosen.needs_root else 0

    def _try(self, way: "_Way") -> None:
        """Raise what keeps a kind of sandbox from working."""
        with tempfile.TemporaryDirectory(prefix="satchel-try-") as folder:
            uid = _new_uid() if way.needs_root else 0
            names = ("work", "pack", "temporary")
            work, pack, temporary = (new_folder(f"{folder}/{n}", uid) for n in names)
            place = RunPlace(folder, work, pack, temporary, uid)
            job = Job(skill="", digest="", path="", pack=place.pack)
            command = (self._interpreters.executable, "-I", "-S", "-c", "")
            # A short time that a script is granted says nothing of the sandbox.
            trial = copy(self)
            trial._limits = replace(self._limits, timeout_s=_TRY_S, cpu_s=None)  # noqa: SLF001 - its own
            ended = trial._start_in(way, job, place, command)  # noqa: SLF001 - its own
            if ended.exit_code != 0:
                raise NotRunError(ended.stderr.strip() or ended.detail)

    def _start(self, job: Job, place: RunPlace) -> Ended:
        command = self._interpreters.command(job.path)
        return self._start_in(self._chosen, job, place, command)

    def _start_in(
        self, way: "_Way", job: Job, place: RunPlace, command: tuple[str, ...]
    ) -> Ended:
        if way.kind == "landlock":
            return self._start_landlock(job, place, command)
        return self._start_bubblewrap(job, place, command, own_user=way.needs_root)

    def _plan(
        self, job: Job, place: RunPlace, command: tuple[str, ...], uid: int
    ) -> Plan:
        """Return what the launcher does in a place, as it is seen from inside."""
        script = [f"{place.pack}/{job.path}"] if job.path else []
        reserves = self._interpreters.reserves_addresses(command[0])
        return Plan(
            argv=[*command, *script, *job.args],
            env=self._variables(job, place),
            cwd=place.work,
            limits=self._limits.of_the_kernel(address_space=not reserves),
            uid=uid,
        )

    def _start_bubblewrap(
        self, job: Job, place: RunPlace, command: tuple[str, ...], *, own_user: bool
    ) -> Ended:
        program = bubblewrap.bwrap_path()
        if not program:
            install = install_command("scripts")
            raise NotRunError(f"there is no bwrap; install bubblewrap, or: {install}")
        interpreters = self._interpreters
        inside = partial(bubblewrap.inside, prefixes=interpreters.prefixes)
        plan = self._plan(job, bubblewrap.PLACE, command, place.uid)
        paths = plan.env["PATH"].split(":")
        plan = replace(
            plan,
            argv=[inside(plan.argv[0]), *plan.argv[1:]],
            env={**plan.env, "PATH": ":".join(map(inside, paths))},
        )
        arguments = bubblewrap.make_arguments(
            {path: inside(path) for path in interpreters.readable},
            place.pack,
            place.work,
            self._limits,
            own_user=own_user,
        )
        with ExitStack() as stack:
            filter_file = stack.enter_context(bubblewrap.seccomp_file())
            info, info_end = os.pipe()
            stack.callback(os.close, info)
            end = stack.enter_context(os.fdopen(info_end, "wb"))
            arguments += ["--seccomp", str(filter_file.fileno())]
            arguments += ["--info-fd", str(end.fileno()), "--"]
            arguments += launcher(inside(interpreters.executable))
            start = ProgramStart(
                command=[program, *arguments],
                fds=(filter_file.fileno(), end.fileno()),
                info=info,
                info_end=end,
            )
            return self._watch(start, plan, job, place)

    def _start_landlock(
        self, job: Job, place: RunPlace, command: tuple[str, ...]
    ) -> Ended:
        library = find_spec("sandlock")
        if library is None or library.origin is None:
            raise NotRunError(f"there is no sandlock; {install_command('landlock')}")
        interpreters, limits = self._interpreters, self._limits
        plan, file = self._plan(job, place, command, 0), f"{place.folder}/plan"
        # sandlock counts the processes of this sandbox; this is all of the user's.
        kernel = {k: v for k, v in plan.limits.items() if k != "RLIMIT_NPROC"}
        readable = [*interpreters.readable, *_DEVICES, place.pack, file]
        plan = replace(
            plan,
            limits=kernel,
            filter=make_filter(with_landlock=True),
            landlock={
                "library": str(Path(library.origin).parents[1]),
                "plan": file,
                "launcher": list(launcher(interpreters.executable)),
                "fs_readable": readable,
                "fs_writable": [place.work, place.temporary, "/dev/null"],
                "max_memory": limits.memory_bytes,
                "max_processes": limits.processes,
                "cwd": place.work,
            },
        )
        start = ProgramStart(command=(sys.executable, "-I", _CONFINE), stops=True)
        return self._watch(start, plan, job, place)


class _Way(NamedTuple):
    """A kind of sandbox, and whether root becomes a user of its own in it."""

    kind: str
    needs_root: bool = False
    counts_processes: bool = True


_WAYS: Final = (
    _Way("bubblewrap", needs_root=True),
    _Way("bubblewrap", counts_processes=os.geteuid() != 0),
    _Way("landlock", counts_processes=False),
)


def _new_uid() -> int:
    """Return a user that nobody else is, so that its processes can be counted."""
    first, _, count = map(int, Path("/proc/self/uid_map").read_bytes().split()[:3])
    if first == 0 and count > _FIRST_UID + _UIDS:
        return _FIRST_UID + secrets.randbelow(_UIDS)
    return _NOBODY
