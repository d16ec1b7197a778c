"""Starts a program with `sandlock`, in a process of its own, and ends with it.

Run as a file by this Python. It is no part of Satchel's own process, since sandlock
forks, and has threads.
"""

# ruff: noqa: PTH123 - no more than it needs

import ctypes
import marshal
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from threading import Thread
from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_BROKEN = 127
_SIGNALLED = 128


def main(plan_fd: int, status_fd: int) -> int:
    """Run what the plan says, and return its exit code."""
    os.set_inheritable(status_fd, False)  # noqa: FBT003 - no name for it
    try:
        with open(plan_fd, "rb") as file:
            data = file.read()
        options: dict[str, Any] = marshal.loads(data)["landlock"]  # noqa: S302 - ours
        # It is where Satchel found it, also where that is not this Python's own folder.
        sys.path.append(options["library"])
        # Only this user reads it.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with open(os.open(options["plan"], flags, 0o600), "wb") as private:
            private.write(data)
        # What loses its parent becomes a child of this process.
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        sandbox = import_module("sandlock").Sandbox(
            **options["sandbox"], clean_env=True, no_coredump=True
        )
        process = sandbox.popen([*options["launcher"], options["plan"], "2"])
        group = process.pid
    except Exception as error:  # noqa: BLE001 - the other side reports it
        os.write(status_fd, f"{type(error).__name__}: {error}".encode())
        return _BROKEN

    def stop(number: int, _frame: object) -> None:
        finish(group)
        os._exit(_SIGNALLED + number)

    signal.signal(signal.SIGTERM, stop)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    os.write(status_fd, b"+")
    # A signal is not seen by a thread that waits in sandlock.
    results: list[Any] = []
    waiting = Thread(target=lambda: results.append(process.wait()))
    waiting.start()
    waiting.join()
    finish(group)
    if results and results[0].exit_code >= 0:
        return int(results[0].exit_code)
    number = results[0].signal if results else 0
    return _SIGNALLED + (number if number > 0 else signal.SIGKILL)


def finish(group: int) -> None:
    """Kill all that is in a group, and return when it is gone."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    with suppress(ChildProcessError):
        while True:
            os.wait()


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
