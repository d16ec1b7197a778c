"""Runs next to the script, in a bare Python: takes away rights, becomes the script.

Read as text and run with ``python -I -S -c``, also by an interpreter that has no
Satchel; so it imports the standard library alone, and only what it needs: each start
of a script waits for it.
"""

# ruff: noqa: PTH123, PTH208 - pathlib costs more than all that is done here

import marshal
import os
import resource
import sys

TYPE_CHECKING = False  # typing costs more than all the rest
if TYPE_CHECKING:
    from typing import Any


PR_SET_PDEATHSIG = 1
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2
STEP_BYTES = 8
LAST_CAPABILITY = 63
BROKEN = 127
STDERR = 2
SIGNALLED = 128


def limit(limits: dict[str, tuple[int, int]]) -> None:
    """Set limits; what is lower stays."""
    for name, (soft, hard) in limits.items():
        number = getattr(resource, name, None)
        if number is None:
            continue
        highest = resource.getrlimit(number)[1]
        if highest != resource.RLIM_INFINITY:
            hard = min(hard, highest)  # noqa: PLW2901 - only ever lower
        resource.setrlimit(number, (min(soft, hard), hard))


def become(uid: int) -> None:
    """Be an ordinary user from now on."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def confine(filters: bytes) -> None:
    """Give up all rights of root, and install a filter of calls, for ever."""
    import ctypes

    call = ctypes.CDLL(None, use_errno=True)
    for number in range(LAST_CAPABILITY + 1):
        call.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)
    # Version 3, this process; effective, permitted, inheritable: nothing.
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    if call.capset(header, (ctypes.c_uint32 * 6)()):
        raise OSError(ctypes.get_errno(), "the rights of root are not given up")
    text = ctypes.create_string_buffer(filters, len(filters))

    class FilterProgram(ctypes.Structure):
        """A ``struct sock_fprog``."""

        _fields_ = (("steps", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    program = FilterProgram(len(filters) // STEP_BYTES, ctypes.addressof(text))
    call.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if call.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "the filter of calls is not accepted")


def supervise() -> None:
    """Go on in a child; its parent stays, and ends with all that the child started."""
    import signal

    if sys.platform == "linux":
        import ctypes

        # What loses its parent becomes a child of this process, which ends where its
        # own parent does.
        libc = ctypes.CDLL(None)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    # A signal that comes before the child is there would leave it alone.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    child = os.fork()
    if child == 0:
        os.setsid()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        return

    def stop(_number: int, _frame: object) -> None:
        end(child, SIGNALLED + signal.SIGTERM)

    signal.signal(signal.SIGTERM, stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            end(child, code if code >= 0 else SIGNALLED - code)


def end(child: int, code: int) -> None:
    """Kill all descendants, also those in groups of their own, and end."""
    import signal

    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        for pid in (-child, *descendants(os.getpid())):
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        try:
            os.wait()
        except ChildProcessError:
            os._exit(code)


def descendants(pid: int) -> "list[int]":
    """Return the processes below another, as far as the system shows them."""
    waiting = [pid]
    below: list[int] = []
    while waiting:
        pid = waiting.pop()
        below.append(pid)
        try:
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                    waiting += map(int, file.read().split())
        except OSError:
            continue
    return below[1:]


def main(where: str, status_fd: int) -> None:
    """Do what the plan says; what fails is written to ``status_fd``."""
    if status_fd != STDERR:
        os.set_inheritable(status_fd, False)  # noqa: FBT003 - no name for it
    try:
        with open(int(where) if where.isdigit() else where, "rb") as file:
            plan: dict[str, Any] = marshal.load(file)  # noqa: S302 - our own bytes
        if plan["supervise"]:
            supervise()
        limit(plan["limits"])
        if plan["uid"]:
            become(plan["uid"])
        os.chdir(plan["cwd"])
        if plan["filter"]:
            confine(plan["filter"])
        if status_fd != STDERR:
            os.write(status_fd, b"+")
        os.execve(  # noqa: S606 - what a runner is for
            plan["argv"][0], plan["argv"], plan["env"]
        )
    except Exception as error:  # noqa: BLE001 - the other side reports it
        os.write(status_fd, f"{type(error).__name__}: {error}".encode())
        os._exit(BROKEN)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
