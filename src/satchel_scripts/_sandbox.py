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
from satchel.model import Hold, Job, Outcome
from satchel_scripts import _bubblewrap as bubblewrap
from satchel_scripts._interpreters import Interpreters
from satchel_scripts._limits import LimitOptions, NotRunError, RunLimits
from satchel_scripts._process import ProgramStart, launcher, open_file
from satchel_scripts._runner import CopyRunner, RunPlace
from satchel_scripts._seccomp import make_filter

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
        return self._tried[0].kind

    @property
    def reason(self) -> str:
        """Why no kind of sandbox works; empty where one does."""
        return self._tried[1]

    @cached_property
    def _tried(self) -> tuple["_Way", str]:
        """The first way that works, and why none does."""
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
        why = "; ".join(dict.fromkeys(reasons))
        return _Way("none"), f"no sandbox works here: {why}. {_WAYS_OUT}"

    @property
    def holds(self) -> Mapping[str, Hold]:
        """Which limits are held, and how surely."""
        holds: dict[str, Hold] = {**super().holds, "time": "hard", "file size": "hard"}
        for name in ("processor time", "memory"):
            if name in holds:
                holds[f"{name} of a process"] = "hard"
        if "processes" in holds and self._tried[0].counts_processes:
            holds["processes"] = "hard"
        return MappingProxyType(holds)

    def _check(self, job: Job) -> None:
        super()._check(job)
        if self.reason:
            # A model reads it: no path of this machine.
            raise NotRunError(_PATH.sub("<path>", self.reason))

    def _uid(self) -> int:
        if not self._tried[0].needs_root:
            return 0
        # One that nobody else is, so that its processes can be counted.
        first, _, count = map(int, Path("/proc/self/uid_map").read_bytes().split()[:3])
        if first == 0 and count > _FIRST_UID + _UIDS:
            return _FIRST_UID + secrets.randbelow(_UIDS)
        return _NOBODY

    def _try(self, way: "_Way") -> None:
        """Raise what keeps a kind of sandbox from working."""
        trial = copy(self)
        trial._tried = way, ""  # noqa: SLF001 - its own
        # A short time that a script is granted says nothing of the sandbox.
        trial._limits = replace(self._limits, timeout_s=_TRY_S, cpu_s=None)  # noqa: SLF001 - its own
        with tempfile.TemporaryDirectory(prefix="satchel-try-") as pack:
            job = Job(skill="", digest="", path="", pack=pack)
            outcome = trial._run_in_copy(job)  # noqa: SLF001 - its own
        if outcome.exit_code != 0:
            raise NotRunError(outcome.stderr.strip() or outcome.detail)

    def _start(self, job: Job, place: RunPlace) -> Outcome:
        if self.kind == "landlock":
            return self._start_landlock(job, place)
        return self._start_bubblewrap(job, place)

    def _start_bubblewrap(self, job: Job, place: RunPlace) -> Outcome:
        program = bubblewrap.bwrap_path()
        if not program:
            install = install_command("scripts")
            raise NotRunError(f"there is no bwrap; install bubblewrap, or: {install}")
        interpreters = self._interpreters
        inside = partial(bubblewrap.inside, prefixes=interpreters.prefixes)
        plan = self._plan(job, bubblewrap.PLACE, processes=True)
        paths = plan.env["PATH"].split(":")
        plan = replace(
            plan,
            argv=[inside(plan.argv[0]), *plan.argv[1:]],
            env={**plan.env, "PATH": ":".join(map(inside, paths))},
            uid=place.uid,
        )
        readable = {path: inside(path) for path in interpreters.readable}
        arguments = bubblewrap.make_arguments(readable, place, self._limits)
        with ExitStack() as stack:
            filter_file = stack.enter_context(open_file(make_filter()))
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

    def _start_landlock(self, job: Job, place: RunPlace) -> Outcome:
        library = find_spec("sandlock")
        if library is None or library.origin is None:
            raise NotRunError(f"there is no sandlock; {install_command('landlock')}")
        interpreters, file = self._interpreters, f"{place.folder}/plan"
        plan = replace(
            self._plan(job, place),
            filter=make_filter(with_landlock=True),
            landlock={
                "library": str(Path(library.origin).parents[1]),
                "plan": file,
                "launcher": list(launcher(interpreters.executable)),
                "sandbox": {
                    "fs_readable": [
                        *interpreters.readable,
                        *_DEVICES,
                        place.pack,
                        file,
                    ],
                    "fs_writable": [place.work, place.temporary, "/dev/null"],
                    "max_memory": self._limits.memory_bytes,
                    # sandlock counts those of this sandbox.
                    "max_processes": self._limits.processes,
                    "cwd": place.work,
                },
            },
        )
        start = ProgramStart(command=(sys.executable, "-I", _CONFINE), stops=True)
        return self._watch(start, plan, job, place)


class _Way(NamedTuple):
    """A kind of sandbox, and whether root becomes a user of its own in it."""

    kind: str
    needs_root: bool = False
    counts_processes: bool = False


_WAYS: Final = (
    _Way("bubblewrap", needs_root=True, counts_processes=True),
    _Way("bubblewrap", counts_processes=os.geteuid() != 0),
    _Way("landlock"),
)
