"""What a run may use at the most, and why a script is not run."""

import math
from dataclasses import dataclass, fields
from typing import TypedDict

# What a run leaves to the second signal after the first: SIGXCPU, then SIGKILL.
_GRACE_S = 1


class NotRunError(Exception):
    """A script is not run; the text says why, and what to do."""


class LimitOptions(TypedDict, total=False):
    """The limits of a runner but for its time; see `RunLimits`."""

    cpu_s: float | None
    memory_bytes: int | None
    processes: int | None
    output_bytes: int
    file_bytes: int
    files: int
    work_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """What a run may use at the most; None is no limit.

    Attributes:
        timeout_s: Seconds by the clock on the wall.
        cpu_s: Seconds of processor time, of all processes together.
        memory_bytes: Memory of each process, and of all together.
        processes: How many processes and threads there may be at once.
        output_bytes: How much of each of stdout and stderr is kept.
        file_bytes: The size of a file.
        files: How many files the work folder may have, and how many are copied out.
        work_bytes: The size of the work folder, and that of all that is copied out.
        open_files: How many files each process may have open.
    """

    timeout_s: float = 60.0
    cpu_s: float | None = None
    memory_bytes: int | None = 2 << 30
    processes: int | None = 64
    output_bytes: int = 64 << 10
    file_bytes: int = 64 << 20
    files: int = 1_000
    work_bytes: int = 256 << 20
    open_files: int = 256

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and not value > 0:
                raise ValueError(f"{field.name}={value!r}: expected more than 0")

    def of_the_kernel(
        self, *, address_space: bool, processes: bool
    ) -> dict[str, tuple[int, int]]:
        """Return the limits that the kernel holds for each process, by their names.

        Args:
            address_space: Whether memory is counted by addresses; a program that
                reserves far more than it uses, such as Node, would not start.
            processes: Whether they are counted. The kernel counts all of the user,
                also those that are no script's.
        """
        limits = {
            "RLIMIT_CORE": 0,
            "RLIMIT_FSIZE": self.file_bytes,
            "RLIMIT_NOFILE": self.open_files,
            "RLIMIT_DATA": self.memory_bytes,
            "RLIMIT_AS": self.memory_bytes if address_space else None,
            "RLIMIT_NPROC": self.processes if processes else None,
        }
        pairs = {
            name: (most, most) for name, most in limits.items() if most is not None
        }
        if self.cpu_s is not None:
            seconds = math.ceil(self.cpu_s)
            pairs["RLIMIT_CPU"] = (seconds, seconds + _GRACE_S)
        return pairs
