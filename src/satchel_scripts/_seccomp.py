"""A seccomp filter, as bytes: which calls of the kernel a script cannot make.

Each is listed with its number on x86-64 and on aarch64. What a newer kernel adds is
allowed; the namespaces, or Landlock, hold what a call can reach.
"""

import platform
import struct
from functools import cache
from typing import Final

_ARCHES: Final = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_NONE: Final = -1


def _numbers(text: str) -> dict[str, tuple[int, int]]:
    """Return calls with their numbers on x86-64 and aarch64; -1 where there is none."""
    calls = (call.split() for call in text.split(","))
    return {name: (int(first), int(second)) for name, first, second in calls}


# Source: arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h.
_DENIED: Final = _numbers("""
ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, kcmp 312 272,
pidfd_getfd 438 438, process_madvise 440 440, add_key 248 217, request_key 249 218,
keyctl 250 219, io_uring_setup 425 425, io_uring_enter 426 426,
io_uring_register 427 427, userfaultfd 323 282, bpf 321 280, perf_event_open 298 241,
fanotify_init 300 262, mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51,
open_tree 428 428, move_mount 429 429, fsopen 430 430, fsconfig 431 431,
fsmount 432 432, fspick 433 433, mount_setattr 442 442, unshare 272 97, setns 308 268,
name_to_handle_at 303 264, open_by_handle_at 304 265, init_module 175 105,
finit_module 313 273, delete_module 176 106, kexec_load 246 104,
kexec_file_load 320 294, reboot 169 142, swapon 167 224, swapoff 168 225,
syslog 103 116, acct 163 89, quotactl 179 60, quotactl_fd 443 443,
settimeofday 164 170, clock_settime 227 112, clock_adjtime 305 266, adjtimex 159 171,
sethostname 170 161, setdomainname 171 162, vhangup 153 58, lookup_dcookie 212 18,
nfsservctl 180 42, memfd_create 319 279, memfd_secret 447 447, iopl 172 -1,
ioperm 173 -1, modify_ldt 154 -1, uselib 134 -1, ustat 136 -1, sysfs 139 -1,
_sysctl 156 -1
""")
# What Landlock does not look at. A script would reach each file, and each process of
# the same user, that it can name.
_DENIED_WITH_LANDLOCK: Final = _numbers("""
setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14,
lremovexattr 198 15, fremovexattr 199 16, setxattrat 463 463, removexattrat 466 466,
file_setattr 469 469, inotify_add_watch 254 27, setpriority 141 140, ioprio_set 251 30,
migrate_pages 256 238, move_pages 279 239, shmget 29 194, semget 64 190, msgget 68 186,
mq_open 240 180
""")
# They do nothing and say that it worked: programs call them on their own files, and
# fail where they fail. Without setsid all that a script starts stays in one group,
# which one signal ends.
_WITHOUT_EFFECT: Final = _numbers("""
chmod 90 -1, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, chown 92 -1,
fchown 93 55, lchown 94 -1, fchownat 260 54, utime 132 -1, utimes 235 -1,
futimesat 261 -1, utimensat 280 88, setsid 112 157, setpgid 109 154
""")
# Allowed for the process itself alone, which is 0.
_OF_ITSELF: Final = _numbers("""
prlimit64 302 261, sched_setparam 142 118, sched_setscheduler 144 119,
sched_setaffinity 203 122, sched_setattr 314 274
""")
_CLONE: Final = (56, 220)
_CLONE3: Final = (435, 435)
_IOCTL: Final = (16, 29)
_SOCKET: Final = (41, 198)
# CLONE_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID and _NEWNET.
_NEW_NAMESPACE: Final = 0x7E020000
# Text for the terminal as if typed, twice; flags of a file, twice.
_IOCTLS: Final = (0x5412, 0x541C, 0x40086602, 0x401C5820)
_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_EPERM, _EACCES, _ENOSYS = 1, 13, 38

_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _RETURN = 0x20, 0x06
_EQUAL, _SET, _AT_LEAST = 0x15, 0x45, 0x35
_NUMBER, _ARCH, _ARGUMENT = 0, 4, 16
_X32: Final = 0x40000000


def _step(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


_ALLOWED: Final = _step(_RETURN, _ALLOW)
_REFUSED: Final = _step(_RETURN, _ERRNO | _EPERM)
_UNKNOWN: Final = _step(_RETURN, _ERRNO | _ENOSYS)


@cache
def make_filter(*, with_landlock: bool = False) -> bytes:
    """Return the filter for this machine as an array of ``struct sock_filter``.

    Args:
        with_landlock: Whether there are no namespaces: then no socket is made, and
            nothing that Landlock does not look at is changed.

    Raises:
        NotImplementedError: The numbers of this machine's calls are not listed.
    """
    machine = platform.machine()
    if machine not in _ARCHES:
        raise NotImplementedError(f"no list of calls for {machine!r}")
    arch, column = _ARCHES[machine]
    program = [
        _step(_LOAD, _ARCH),
        _step(_EQUAL, arch, yes=1),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        program += [_step(_AT_LEAST, _X32, no=1), _UNKNOWN]
    for numbers in _DENIED.values():
        program += _call(numbers[column], [_REFUSED])
    # Its flags are in memory, where no filter looks; glibc falls back to clone.
    program += _call(_CLONE3[column], [_UNKNOWN])
    first, second = _step(_LOAD, _ARGUMENT), _step(_LOAD, _ARGUMENT + 8)
    flags = [_step(_SET, _NEW_NAMESPACE, no=1), _REFUSED]
    program += _call(_CLONE[column], [first, *flags, _ALLOWED])
    requests = _if_one_of(_IOCTLS, _REFUSED)
    program += _call(_IOCTL[column], [second, *requests, _ALLOWED])
    # In a network of its own there is nothing but a loopback.
    families = () if with_landlock else (_AF_UNIX, _AF_INET, _AF_INET6)
    allowed = _if_one_of(families, _ALLOWED)
    no_access = _step(_RETURN, _ERRNO | _EACCES)
    program += _call(_SOCKET[column], [first, *allowed, no_access])
    if with_landlock:
        itself = [first, *_if_one_of((0,), _ALLOWED), _REFUSED]
        for names, steps in (
            (_DENIED_WITH_LANDLOCK, [_REFUSED]),
            (_WITHOUT_EFFECT, [_step(_RETURN, _ERRNO)]),
            (_OF_ITSELF, itself),
        ):
            for numbers in names.values():
                program += _call(numbers[column], steps)
    return b"".join([*program, _ALLOWED])


def _if_one_of(values: tuple[int, ...], then: bytes) -> list[bytes]:
    """Return steps that end with one, where what was loaded is one of the values."""
    return [step for value in values for step in (_step(_EQUAL, value, no=1), then)]


def _call(number: int, steps: list[bytes]) -> list[bytes]:
    """Return steps that are taken for one call, and jumped over for the others."""
    if number == _NONE:
        return []
    return [_step(_EQUAL, number, no=len(steps)), *steps]
