"""Attacks of a script on the machine that runs it, one by one, as a table.

``python -m tests.functional.sandbox_probes KIND`` runs them all as the user who asks,
and prints what was held. Each is a text of Python; it prints ``GOT`` where it got what
it may not have, and what it changed is looked at from outside after it.
"""

# ruff: noqa: E501, S105, S108, ANN401, PTH208, T201 - a program for tests, in lines of scripts

import json
import os
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from satchel.model import Job, Outcome
from satchel_scripts import Sandbox, Subprocess, _seccomp as seccomp

SECRET: Final = "the-secret-of-the-machine"
_HEAD: Final = """
import ctypes, errno, fcntl, json, mmap, os, resource, signal, socket, stat, struct
import subprocess, sys, threading, time
bait = json.loads(sys.stdin.read())
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    result = libc.syscall(ctypes.c_long(bait["calls"][name]), *(
        ctypes.c_long(a) if isinstance(a, int) else a for a in args))
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
def checked(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
def got(*what):
    print("GOT", *what, flush=True)
"""


@dataclass(frozen=True)
class Probe:
    """One attack.

    Attributes:
        name: Of the row.
        tries: What it tries to do.
        text: The script, after what all begin with.
        bare: Whether it works, and does no harm, with no isolation.
        silent: Whether success says nothing: only what is seen from outside counts.
        limits: Of the runner, where they differ.
        not_held: Why it is not held, by kind of sandbox.
    """

    name: str
    tries: str
    text: str
    bare: bool = False
    silent: bool = False
    limits: Mapping[str, Any] = field(default_factory=dict[str, Any])
    not_held: Mapping[str, str] = field(default_factory=dict[str, str])


_NAMES: Final = {"landlock": "names and dates of files are seen, their bytes are not"}

FILES: Final = (
    Probe("read", "read a file of the user", "got(open(bait['secret']).read())", True),
    Probe(
        "read-link",
        "read it through a link that it makes",
        "os.symlink(bait['secret'], 'l'); got(open('l').read())",
        True,
    ),
    Probe(
        "read-users-link",
        "read it through a link that is in the user's work folder",
        "got(open('planted').read())",
    ),
    Probe(
        "read-hard-link",
        "read it through a second name",
        "os.link(bait['secret'], 'h'); got(open('h').read())",
        True,
    ),
    Probe("list", "list a folder of the user", "got(os.listdir(bait['folder']))", True),
    Probe("list-home", "list the users", "got(os.listdir('/home'))", True),
    Probe(
        "list-temporary",
        "see the temporary files of others",
        "got(*[n for n in os.listdir(bait['tmp']) if n == bait['own']][:1] or [][0])",
        True,
    ),
    Probe(
        "stat",
        "learn that a file exists",
        "got(os.stat(bait['secret']).st_size)",
        True,
        not_held=_NAMES,
    ),
    Probe("write", "make a file", "open(bait['folder'] + '/new', 'w'); got()", True),
    Probe(
        "append", "add to a file", "open(bait['secret'], 'a').write('x'); got()", True
    ),
    Probe("truncate", "empty a file", "os.truncate(bait['secret'], 0); got()", True),
    Probe("unlink", "remove a file", "os.unlink(bait['secret']); got()", True),
    Probe(
        "rename",
        "rename a file",
        "os.rename(bait['secret'], bait['secret'] + '2'); got()",
        True,
    ),
    Probe("mkdir", "make a folder", "os.mkdir(bait['folder'] + '/d'); got()", True),
    Probe("chmod", "open a file to all", "os.chmod(bait['secret'], 0o777)", True, True),
    Probe(
        "utime", "change a file's date", "os.utime(bait['secret'], (1, 1))", True, True
    ),
    Probe(
        "chown",
        "give a file away",
        "os.chown(bait['secret'], 65533, 65533)",
        False,
        True,
    ),
    Probe(
        "xattr",
        "put an attribute on a file",
        "os.setxattr(bait['secret'], 'user.x', b'1'); got()",
        True,
    ),
    Probe(
        "write-pack",
        "change its own script",
        "open(__file__, 'a').write('#')",
        True,
        True,
    ),
    Probe(
        "add-to-pack",
        "add a file to the pack",
        "open(os.environ['SKILL_DIR'] + '/new', 'w'); got()",
        True,
    ),
    Probe("unlink-pack", "remove its own script", "os.unlink(__file__); got()", True),
    Probe(
        "chmod-pack",
        "make the pack writable, then write",
        "os.chmod(__file__, 0o777); open(__file__, 'a').write('#')",
        False,
        True,
    ),
    Probe(
        "write-interpreter",
        "add a module to the interpreter",
        "open(os.path.dirname(os.__file__) + '/zz_probe.py', 'w'); got()",
    ),
    Probe(
        "fchmod-interpreter",
        "change the interpreter's mode through an open file",
        "f = os.open(os.path.realpath(sys.executable), os.O_RDONLY); os.fchmod(f, 0o700)",
        False,
        True,
    ),
    Probe(
        "write-itself",
        "write to the running interpreter, by /proc",
        "open('/proc/self/exe', 'wb'); got()",
    ),
    Probe(
        "descriptors-of-others",
        "use an open file that the runner left",
        "for fd in range(3, 256):\n"
        "    try: data = os.pread(fd, 100, 0)\n"
        "    except OSError: continue\n"
        "    if bait['text'].encode() in data: got(fd)",
    ),
)
_PROC_ALL: Final = """
found = False
for pid in filter(str.isdigit, os.listdir("/proc")):
    try: data = open(f"/proc/{pid}/FILE", "rb").read()
    except OSError: continue
    if pid != str(os.getpid()) and bait["MARK"].encode() in data: got(pid)
"""
PROC: Final = (
    Probe(
        "proc-root",
        "read a file by the root of another process",
        "for pid in (1, bait['runner'], bait['victim']):\n"
        "    try: got(open(f'/proc/{pid}/root{bait[\"secret\"]}').read())\n"
        "    except OSError: pass",
        True,
    ),
    Probe(
        "proc-environ",
        "read the variables of other processes",
        _PROC_ALL.replace("FILE", "environ").replace("MARK", "text"),
        True,
    ),
    Probe(
        "proc-cmdline",
        "read the command lines of other processes",
        _PROC_ALL.replace("FILE", "cmdline").replace("MARK", "sleep"),
        True,
    ),
    Probe(
        "proc-mem",
        "open the memory of the runner",
        "open(f'/proc/{bait[\"runner\"]}/mem', 'rb'); got()",
    ),
    Probe(
        "proc-maps",
        "see where the runner's memory is",
        "got(open(f'/proc/{bait[\"runner\"]}/maps').read(9))",
        True,
    ),
    Probe(
        "proc-sys",
        "change a setting of the kernel",
        "open('/proc/sys/vm/swappiness', 'w'); got()",
    ),
    Probe(
        "proc-sysrq",
        "ask the kernel for a reset",
        "open('/proc/sysrq-trigger', 'w'); got()",
    ),
    Probe(
        "proc-kcore",
        "read the memory of the kernel",
        "got(open('/proc/kcore', 'rb').read(1))",
    ),
    Probe(
        "proc-kallsyms",
        "read the addresses of the kernel",
        "t = open('/proc/kallsyms').read(400); "
        "got(t) if int(t.split()[0], 16) else None",
    ),
    Probe(
        "oom-score",
        "ask that others are killed first, where memory is short",
        "open('/proc/self/oom_score_adj', 'w').write('-900'); got()",
    ),
    Probe(
        "sys", "see the devices of the machine", "got(os.listdir('/sys/class'))", True
    ),
    Probe(
        "cgroup", "make a group of processes", "os.mkdir('/sys/fs/cgroup/probe'); got()"
    ),
    Probe(
        "disk-device",
        "open a disk",
        "for n in bait['disks']:\n"
        "    try: os.open('/dev/' + n, os.O_RDONLY); got(n)\n"
        "    except OSError: pass",
    ),
    Probe(
        "mknod",
        "make a device file",
        "os.mknod('d', stat.S_IFBLK | 0o600, os.makedev(254, 0)); got()",
    ),
    Probe(
        "dev-mem",
        "open the memory of the machine",
        "os.open('/dev/mem', os.O_RDONLY); got()",
    ),
    Probe(
        "terminal",
        "type into a terminal (TIOCSTI)",
        "a, b = os.openpty(); fcntl.ioctl(b, 0x5412, b'x'); got()",
    ),
)
NETWORK: Final = (
    Probe(
        "tcp",
        "connect to a server of this machine",
        "socket.create_connection(('127.0.0.1', bait['tcp']), 2); got()",
        True,
    ),
    Probe(
        "tcp-other",
        "connect to another machine",
        "s = socket.socket(); s.settimeout(1); e = s.connect_ex(('192.0.2.1', 9))\n"
        "if e not in (errno.ENETUNREACH, errno.EACCES, errno.EPERM): got(e)",
    ),
    Probe(
        "tcp-listen",
        "be a server that this machine reaches",
        "s = socket.socket(); s.bind(('127.0.0.1', bait['listen'])); s.listen()\n"
        "s.settimeout(2); s.accept(); got()",
        True,
    ),
    Probe(
        "udp",
        "send a datagram to this machine",
        "s = socket.socket(type=socket.SOCK_DGRAM); "
        "s.sendto(b'x', ('127.0.0.1', bait['udp'])); time.sleep(.1)",
        True,
        True,
    ),
    Probe(
        "udp-other",
        "send a datagram to another machine",
        "s = socket.socket(type=socket.SOCK_DGRAM); "
        "s.sendto(b'x', ('192.0.2.1', 9)); got()",
    ),
    Probe(
        "name-service",
        "ask for the address of a name",
        "got(socket.getaddrinfo('example.org', 80))",
    ),
    Probe(
        "unix",
        "connect to a socket by its path",
        "s = socket.socket(socket.AF_UNIX); s.connect(bait['unix']); got()",
        True,
    ),
    Probe(
        "unix-link",
        "connect to it through a link",
        "os.symlink(bait['unix'], 's'); s = socket.socket(socket.AF_UNIX); "
        "s.connect('s'); got()",
        True,
    ),
    Probe(
        "unix-abstract",
        "connect to an abstract socket",
        "s = socket.socket(socket.AF_UNIX); s.connect('\\0' + bait['abstract']); got()",
        True,
    ),
    Probe(
        "unix-datagram",
        "send to a socket without a connection",
        "a, b = socket.socketpair(type=socket.SOCK_DGRAM); "
        "a.sendto(b'x', bait['unix-datagram']); got()",
    ),
    Probe(
        "netlink",
        "ask the kernel for its network",
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); got()",
        True,
    ),
    Probe(
        "packet",
        "read packets of the network",
        "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3); got()",
    ),
    Probe(
        "raw",
        "make packets of its own",
        "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); got()",
    ),
    Probe("vsock", "reach the machine around this one", "socket.socket(40, 1); got()"),
    Probe("alg", "use the kernel's ciphers", "socket.socket(38, 5); got()"),
)
PROCESSES: Final = (
    Probe(
        "kill",
        "end a process of the user",
        "os.kill(bait['victim'], signal.SIGTERM)",
        True,
        True,
    ),
    Probe(
        "kill-pidfd",
        "end it by a descriptor",
        "signal.pidfd_send_signal(os.pidfd_open(bait['victim']), signal.SIGTERM)",
        True,
        True,
    ),
    Probe("kill-all", "end every process", "os.kill(-1, signal.SIGTERM)", False, True),
    Probe("kill-runner", "end the runner", "os.kill(bait['runner'], 0); got()", True),
    Probe(
        "ptrace",
        "attach to a process",
        "checked(libc.ptrace(16, bait['victim'], 0, 0)); got()",
    ),
    Probe(
        "ptrace-itself", "use ptrace at all", "checked(libc.ptrace(0, 0, 0, 0)); got()"
    ),
    Probe(
        "read-memory",
        "read the memory of a process",
        "b = ctypes.create_string_buffer(8); v = (ctypes.c_void_p * 2)(ctypes.addressof(b), 8)\n"
        "call('process_vm_readv', bait['runner'], v, 1, v, 1, 0); got()",
    ),
    Probe(
        "take-descriptor",
        "take an open file of a process",
        "call('pidfd_getfd', os.pidfd_open(bait['runner']), 1, 0); got()",
    ),
    Probe(
        "renice",
        "slow down a process of the user",
        "os.setpriority(os.PRIO_PROCESS, bait['victim'], 19); got()",
        True,
    ),
    Probe(
        "prlimit",
        "limit a process of the user",
        "resource.prlimit(bait['victim'], resource.RLIMIT_NOFILE, (9, 9)); got()",
        True,
    ),
    Probe(
        "affinity",
        "move a process of the user to one core",
        "os.sched_setaffinity(bait['victim'], {0}); got()",
        True,
    ),
    Probe(
        "scheduler",
        "change how a process of the user is run",
        "os.sched_setscheduler(bait['victim'], os.SCHED_IDLE, os.sched_param(0)); got()",
    ),
    Probe(
        "setsid",
        "leave its group, and outlive its run",
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(30)\n"
        "    os._exit(0)\n"
        "os.wait()",
        silent=True,
    ),
    Probe(
        "hold-the-pipe",
        "keep the output open after its end",
        "for n in range(5):\n    if os.fork() == 0: os.setsid(); time.sleep(30)",
        silent=True,
    ),
    Probe(
        "setuid",
        "be root again",
        "os.setuid(0)\nif bait['uid']: got()\n"
        "elif checked(libc.prctl(39, 0, 0, 0, 0)) != 1: got('new privileges')",
    ),
    Probe(
        "capabilities",
        "have a right of root",
        "h = (ctypes.c_uint32 * 2)(0x20080522, 0); d = (ctypes.c_uint32 * 6)()\n"
        "checked(libc.capget(h, d)); got(list(d)) if d[0] or d[1] or d[3] or d[4] else None",
    ),
    Probe(
        "variables",
        "read a variable of the runner",
        "got() if bait['text'] in os.environ.values() else None",
    ),
    Probe(
        "shared-memory",
        "open shared memory of another process",
        "checked(libc.shmget(bait['shm'], 8, 0)); got()",
        True,
    ),
    Probe(
        "message-queue",
        "make a queue that others see",
        "checked(libc.msgget(bait['queue'], 0o1666))",
        True,
        True,
    ),
    Probe(
        "posix-shared-memory",
        "open a file in /dev/shm of another process",
        "got(open('/dev/shm/' + bait['own']).read())",
        True,
    ),
    Probe(
        "inotify",
        "watch a folder of the user",
        "checked(libc.inotify_add_watch(libc.inotify_init(), bait['folder'].encode(), 0xFFF)); "
        "got()",
        True,
    ),
    Probe(
        "hostname",
        "learn the name of the machine",
        "got() if socket.gethostname() == bait['hostname'] else None",
        True,
    ),
)
_MOUNT: Final = "checked(libc.mount(b'none', b'/work', b'tmpfs', 0, None)); got()"
_INT80: Final = """
if os.uname().machine == "x86_64":
    code = mmap.mmap(-1, 4096, prot=7)
    code.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, getpid; int 0x80; ret
    at = ctypes.addressof(ctypes.c_char.from_buffer(code))
    if ctypes.CFUNCTYPE(ctypes.c_int)(at)() > 0: got()
"""
KERNEL: Final = (
    Probe("mount", "mount a file system", _MOUNT),
    Probe(
        "umount", "unmount the work folder", "checked(libc.umount2(b'/work', 2)); got()"
    ),
    Probe(
        "bind-mount",
        "mount a folder elsewhere",
        "checked(libc.mount(b'/', os.getcwd().encode(), None, 4096, None)); got()",
    ),
    Probe("open-tree", "copy a mount", "call('open_tree', -100, b'/', 1); got()"),
    Probe("fsopen", "make a file system", "call('fsopen', b'tmpfs', 0); got()"),
    Probe("pivot-root", "change the root", "call('pivot_root', b'/', b'/'); got()"),
    Probe("chroot", "change its root", "os.chroot('.'); got()"),
    Probe(
        "unshare-user",
        "make a namespace of users",
        "checked(libc.unshare(0x10000000)); got()",
        False,
    ),
    Probe(
        "unshare-mount",
        "make a namespace of mounts",
        "checked(libc.unshare(0x20000)); got()",
    ),
    Probe(
        "clone-user",
        "make one with clone",
        "pid = call('clone', 0x10000000 | 17, 0, 0, 0, 0)\n"
        "if pid == 0: os._exit(0)\n"
        "got()",
    ),
    Probe(
        "clone3-user",
        "make one with clone3",
        "a = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17)\n"
        "pid = call('clone3', ctypes.byref(a), 88)\n"
        "if pid == 0: os._exit(0)\n"
        "got()",
    ),
    Probe(
        "setns",
        "enter the namespace of another process",
        "fd = os.open('/proc/1/ns/uts', os.O_RDONLY); call('setns', fd, 0); got()",
    ),
    Probe(
        "file-handle",
        "open a file by its number",
        "call('open_by_handle_at', -100, bytes(16), 0); got()",
    ),
    Probe("sethostname", "rename the machine", "socket.sethostname('x'); got()"),
    Probe(
        "set-clock",
        "set the clock",
        "time.clock_settime(time.CLOCK_REALTIME, time.time()); got()",
    ),
    Probe("keys", "read the user's keys", "call('keyctl', 0, -3, 0); got()", True),
    Probe(
        "add-key",
        "keep a key in the kernel",
        "call('add_key', b'user', b'probe', b'x', 1, -2); got()",
    ),
    Probe(
        "io-uring",
        "use io_uring",
        "call('io_uring_setup', 4, ctypes.create_string_buffer(200)); got()",
    ),
    Probe("userfaultfd", "use userfaultfd", "call('userfaultfd', 1); got()"),
    Probe(
        "bpf",
        "load a program into the kernel",
        "call('bpf', 0, ctypes.create_string_buffer(128), 128); got()",
    ),
    Probe(
        "perf",
        "measure others",
        "a = ctypes.create_string_buffer(120); struct.pack_into('=II', a, 0, 1, 112)\n"
        "call('perf_event_open', a, 0, -1, -1, 0); got()",
    ),
    Probe("fanotify", "watch a file system", "call('fanotify_init', 0, 0); got()"),
    Probe("module", "load a module", "call('init_module', b'', 0, b''); got()"),
    Probe("kexec", "start another kernel", "call('kexec_load', 0, 0, 0, 0); got()"),
    Probe("kernel-log", "read the kernel's log", "got(call('syslog', 10, 0, 0))"),
    Probe("swap", "switch swap off", "call('swapoff', b'/no'); got()"),
    Probe("accounting", "switch accounting on", "call('acct', b'/no'); got()"),
    Probe(
        "port-access",
        "speak to devices",
        "call('iopl', 3); got()" if seccomp._DENIED["iopl"][0] > 0 else "",
    ),
    Probe("x32", "make calls of the x32 kind", "call('getpid-x32'); got()"),
    Probe("int80", "make calls of 32 bits", _INT80),
    Probe(
        "mlock",
        "lock memory",
        "m = mmap.mmap(-1, 64 << 20)\n"
        "checked(libc.mlock(ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(m))), "
        "ctypes.c_size_t(64 << 20))); got()",
    ),
)
_CHILDREN: Final = """
for n in range(10):
    if os.fork() == 0:
        WORK
        os._exit(0)
done = sum(os.wait()[1] == 0 for n in range(10))
"""
LIMITS: Final = (
    Probe(
        "fork-bomb",
        "start processes without an end",
        "while True:\n    try: os.fork()\n    except OSError: pass",
        silent=True,
    ),
    Probe(
        "processes",
        "have more processes than it may",
        "n = 0\ntry:\n"
        "    while n < 200:\n"
        "        if os.fork() == 0: time.sleep(20); os._exit(0)\n"
        "        n += 1\n"
        "    got(n)\nexcept OSError: pass\n"
        "os.killpg(0, 9)",
    ),
    Probe(
        "threads",
        "have more threads than it may",
        "def wait(): time.sleep(3)\n"
        "t = [threading.Thread(target=wait) for n in range(300)]\n"
        "for x in t: x.start()\ntime.sleep(1.5); got()",
    ),
    Probe("memory", "have more memory than it may", "x = bytearray(2 << 30); got()"),
    Probe(
        "memory-many",
        "have it in many processes",
        _CHILDREN.replace("WORK", "x = bytearray(200 << 20); time.sleep(3)")
        + "got(done) if done > 3 else None",
    ),
    Probe(
        "memory-shared", "have it as shared memory", "m = mmap.mmap(-1, 2 << 30); got()"
    ),
    Probe(
        "memory-files",
        "have it as files in memory",
        "f = []\nfor n in range(80):\n    f.append(os.memfd_create('x'))\n"
        "    os.write(f[-1], bytes(15 << 20))\ngot()",
    ),
    Probe(
        "memory-temporary",
        "have it as temporary files",
        "for n in range(80):\n"
        "    open(f'{os.environ[\"TMPDIR\"]}/{n}', 'wb').write(bytes(15 << 20))\n"
        "time.sleep(1); got()",
    ),
    Probe(
        "file-size",
        "write a file larger than it may",
        "f = open('big', 'wb')\nfor n in range(40): f.write(bytes(1 << 20)); f.flush()\n"
        "got()",
    ),
    Probe(
        "sparse-file",
        "make a file that only looks large",
        "os.truncate(os.open('s', os.O_RDWR | os.O_CREAT), 1 << 40); got()",
    ),
    Probe(
        "disk",
        "fill the disk with many files",
        "for n in range(40): open(f'f{n}', 'wb').write(bytes(15 << 20))\n"
        "time.sleep(1); got()",
    ),
    Probe(
        "files",
        "make files without an end",
        "for n in range(20000): open(f'f{n}', 'w').close()\ntime.sleep(1.5); got()",
    ),
    Probe(
        "open-files",
        "open more files than it may",
        "f = [open('/dev/null') for n in range(1000)]; got()",
    ),
    Probe(
        "processor",
        "use more processor time than it may",
        "t = time.process_time()\nwhile time.process_time() - t < 4: pass\ngot()",
        limits={"cpu_s": 1},
    ),
    Probe(
        "processor-many",
        "use it in many processes",
        _CHILDREN.replace(
            "WORK", "t = time.time()\n        while time.time() - t < 5: pass"
        )
        + "u = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "got() if u.ru_utime + u.ru_stime > 3 else None",
        limits={"cpu_s": 1, "timeout_s": 9},
    ),
    Probe(
        "raise-limits",
        "raise its limits",
        "resource.setrlimit(resource.RLIMIT_NOFILE, (9000, 9000)); got()",
    ),
    Probe("core", "leave a core of its memory", "os.abort()", silent=True),
    Probe(
        "output",
        "print without an end",
        "while True: os.write(1, b'x' * 65536)",
        silent=True,
        limits={"timeout_s": 2},
    ),
    Probe(
        "time",
        "run longer than it may, and ignore signals",
        "for n in range(1, 32):\n"
        "    try: signal.signal(n, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\n"
        "time.sleep(4); got()",
        limits={"timeout_s": 1},
    ),
)
WORK: Final = (
    Probe(
        "work-link",
        "leave a link to a file",
        "os.symlink(bait['secret'], 'out')",
        silent=True,
    ),
    Probe(
        "work-folder-link",
        "write through a link that it leaves as a folder",
        "os.rename('sub', 'sub2'); os.symlink(bait['folder'], 'sub')\n"
        "open('sub/new', 'w'); got()",
    ),
    Probe(
        "work-users-link",
        "write through a link of the user",
        "open('planted', 'w').write('x'); os.mkdir('planted-folder')\n"
        "open('planted-folder/new', 'w').write('x')",
        silent=True,
    ),
    Probe(
        "work-pipe",
        "leave a pipe, so that the reader waits",
        "os.mkfifo('p'); os.mkfifo('sub/p')",
        silent=True,
    ),
    Probe(
        "work-socket",
        "leave a socket",
        "socket.socket(socket.AF_UNIX).bind('s')",
        silent=True,
    ),
    Probe(
        "work-names",
        "leave names that are no names elsewhere",
        "for n in (b'a\\nb', b'\\xff', b'a\\\\b', b'CON', b' x. '):\n"
        "    open(n, 'w').write('x')",
        silent=True,
    ),
    Probe(
        "work-deep",
        "leave folders so deep that nobody can remove them",
        "for n in range(2000): os.mkdir('d'); os.chdir('d')",
        silent=True,
    ),
    Probe(
        "work-closed",
        "leave a folder that nobody may enter",
        "os.mkdir('c'); open('c/f', 'w'); os.chmod('c', 0)",
        silent=True,
    ),
    Probe(
        "work-mode",
        "leave a program that runs as its owner",
        "open('p', 'w').write('x'); os.chmod('p', 0o6755)",
        silent=True,
    ),
    Probe(
        "work-swap",
        "replace the work folder itself",
        "w = os.getcwd(); os.rename(w, w + '2'); os.symlink(bait['folder'], w); got()",
    ),
)
PROBES: Final = (*FILES, *PROC, *NETWORK, *PROCESSES, *KERNEL, *LIMITS, *WORK)
GROUPS: Final = {
    "Files": FILES,
    "/proc, /sys and devices": PROC,
    "Network": NETWORK,
    "Processes": PROCESSES,
    "The kernel": KERNEL,
    "Limits": LIMITS,
    "The work folder": WORK,
}
_LIMITS: Final[Mapping[str, Any]] = {
    "timeout_s": 6,
    "memory_bytes": 600 << 20,
    "processes": 24,
    "file_bytes": 16 << 20,
    "files": 100,
    "work_bytes": 80 << 20,
    "output_bytes": 4_000,
}


class Bait:
    """What a script may not touch: files, sockets, a process; and what became of it."""

    def __init__(self, stack: ExitStack) -> None:
        self.top = Path(tempfile.mkdtemp(prefix="bait-"))
        stack.callback(shutil.rmtree, self.top, ignore_errors=True)
        self.folder = self.top / "user"
        self.work = self.top / "work"
        self.pack = self.top / "pack"
        for folder in (self.folder, self.work, self.pack, self.work / "sub"):
            folder.mkdir()
        self.secret = self.folder / "secret.txt"
        self.secret.write_text(SECRET, "utf-8")
        self.secret.chmod(0o600)
        (self.work / "planted").symlink_to(self.secret)
        (self.work / "planted-folder").symlink_to(self.folder)
        (self.work / "sub/in.txt").write_text("in", "utf-8")
        self.mark = f"mark-{self.top.name}"
        self.victim = subprocess.Popen(
            ["sleep", "600"], env={"SECRET": SECRET, "PATH": "/usr/bin:/bin"}
        )
        stack.callback(self.victim.wait)
        stack.callback(self.victim.kill)
        self.sockets = {
            name: stack.enter_context(socket.socket(family, kind))
            for name, family, kind in (
                ("tcp", socket.AF_INET, socket.SOCK_STREAM),
                ("udp", socket.AF_INET, socket.SOCK_DGRAM),
                ("unix", socket.AF_UNIX, socket.SOCK_STREAM),
                ("unix-datagram", socket.AF_UNIX, socket.SOCK_DGRAM),
                ("abstract", socket.AF_UNIX, socket.SOCK_STREAM),
                ("free", socket.AF_INET, socket.SOCK_STREAM),
            )
        }
        self._bind()
        self.shared = Path("/dev/shm") / self.top.name
        self.shared.write_text(SECRET, "utf-8")
        stack.callback(self.shared.unlink, missing_ok=True)
        self.shm = _shared_memory(stack)
        self.interpreter = Path(sys.executable).resolve()
        self.library = Path(os.__file__).parent
        self.runs = set(Path(tempfile.gettempdir()).glob("satchel-run-*"))
        self.before = self._state()

    def _bind(self) -> None:
        for name in ("tcp", "udp", "free"):
            self.sockets[name].bind(("127.0.0.1", 0))
        for name in ("unix", "unix-datagram"):
            self.sockets[name].bind(str(self.folder / name))
        self.sockets["abstract"].bind("\0" + self.top.name)
        for name in ("tcp", "unix", "abstract"):
            self.sockets[name].listen()
        self.listen = self.sockets["free"].getsockname()[1]
        self.sockets["free"].close()

    def values(self) -> dict[str, Any]:
        """Return what a script is told."""
        column = 0 if os.uname().machine == "x86_64" else 1
        calls = {
            name: numbers[column]
            for table in (
                seccomp._DENIED,
                seccomp._DENIED_WITH_LANDLOCK,
                {"clone": seccomp._CLONE, "clone3": seccomp._CLONE3},
                {"getpid-x32": (0x40000000 + 39, 0x40000000)},
            )
            for name, numbers in table.items()
        }
        disks = Path("/sys/block")
        return {
            "text": SECRET,
            "secret": str(self.secret),
            "folder": str(self.folder),
            "tmp": str(self.top.parent),
            "own": self.top.name,
            "uid": os.getuid(),
            "runner": os.getpid(),
            "victim": self.victim.pid,
            "sleep": "sleep",
            "tcp": self.sockets["tcp"].getsockname()[1],
            "udp": self.sockets["udp"].getsockname()[1],
            "listen": self.listen,
            "unix": str(self.folder / "unix"),
            "unix-datagram": str(self.folder / "unix-datagram"),
            "abstract": self.top.name,
            "shm": self.shm,
            "queue": self.shm,
            "hostname": socket.gethostname(),
            "disks": [path.name for path in disks.iterdir()] if disks.is_dir() else [],
            "calls": calls,
        }

    def _state(self) -> dict[str, object]:
        """Return what has to be the same afterwards."""
        status = self.secret.stat() if self.secret.exists() else None
        alive = self.victim.poll() is None
        pid = self.victim.pid
        return {
            "secret": self.secret.read_text("utf-8") if status else None,
            "status": status and (status.st_mode, status.st_uid, status.st_mtime),
            "attributes": os.listxattr(self.secret) if status else None,
            "folder": sorted(path.name for path in self.folder.iterdir()),
            "pack": sorted(
                (path.name, path.read_bytes(), path.stat().st_mode)
                for path in self.pack.iterdir()
            ),
            "interpreter": self.interpreter.stat().st_mode,
            "library": (self.library / "zz_probe.py").exists(),
            "planted": (self.work / "planted").readlink(),
            "alive": alive,
            "nice": os.getpriority(os.PRIO_PROCESS, pid) if alive else None,
            "cores": sorted(os.sched_getaffinity(pid)) if alive else None,
            "files": resource.prlimit(pid, resource.RLIMIT_NOFILE) if alive else None,
            "queue": _has_queue(self.shm),
        }

    def damage(self, outcome: Outcome, limit_s: float) -> list[str]:
        """Return what a script did to what is outside."""
        after = self._state()
        damage = [key for key, value in self.before.items() if after[key] != value]
        with suppress(BlockingIOError):
            self.sockets["udp"].recv(1, socket.MSG_DONTWAIT)
            damage.append("a datagram arrived")
        if left := _marked(self.mark):
            damage.append(f"{left} processes are left")
        if outcome.seconds > limit_s + 8:
            damage.append(f"it took {outcome.seconds:.1f} s")
        for path in self.work.rglob("*"):
            status = path.lstat()
            planted = path.name.startswith("planted")
            regular = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
            if not planted and (not regular or status.st_mode & 0o7022):
                damage.append(f"{path.name!r} is in the work folder")
            if not path.name.isprintable() or "\\" in path.name or path.name == "CON":
                damage.append(f"the name {path.name!r} is in the work folder")
        return damage


def _libc() -> Any:
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def _shared_memory(stack: ExitStack) -> int:
    """Make a segment of shared memory; return its key."""
    libc = _libc()
    key = int.from_bytes(os.urandom(3), "big") + 1
    number = libc.shmget(key, 4096, 0o1666)
    stack.callback(libc.shmctl, number, 0, None)

    def remove_queue() -> None:
        queue = libc.msgget(key, 0)
        if queue != -1:
            libc.msgctl(queue, 0, None)

    stack.callback(remove_queue)
    return key


def _has_queue(key: int) -> bool:
    return bool(_libc().msgget(key, 0) != -1)


def _marked(mark: str) -> int:
    """Return how many processes have a mark on their command line."""
    count = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            count += mark.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    return count


class Watcher(threading.Thread):
    """What happens outside while a script runs."""

    def __init__(self, probe: Probe, bait: Bait) -> None:
        super().__init__(daemon=True)
        self._probe = probe
        self._bait = bait
        self._done = threading.Event()
        self.peak = 0

    def run(self) -> None:
        while not self._done.wait(0.1):
            if self._probe.name == "tcp-listen":
                with suppress(OSError):
                    socket.create_connection(
                        ("127.0.0.1", self._bait.listen), 1
                    ).close()
            elif self._probe.name == "fork-bomb":
                self.peak = max(self.peak, _marked(self._bait.mark))

    def stop(self) -> None:
        self._done.set()
        self.join()


@dataclass(frozen=True)
class Verdict:
    """Whether an attack was held, and how it ended."""

    held: bool
    note: str


def attack(probe: Probe, runner: Any, limit_s: float) -> Verdict:
    """Run one attack."""
    with ExitStack() as stack:
        bait = Bait(stack)
        (bait.pack / "run.py").write_text(_HEAD + probe.text, "utf-8")
        bait.before = bait._state()
        job = Job(
            skill="probe",
            digest="",
            path="run.py",
            args=(bait.mark,),
            stdin=json.dumps(bait.values()),
            pack=str(bait.pack),
            work=str(bait.work),
        )
        watcher = Watcher(probe, bait)
        watcher.start()
        outcome = runner.run(job)
        watcher.stop()
        damage = bait.damage(outcome, limit_s)
        if watcher.peak > _LIMITS["processes"] + 4:
            damage.append(f"{watcher.peak} processes at once")
    if outcome.ending == "refused":
        return Verdict(False, f"refused: {outcome.detail}")
    held = not damage and (probe.silent or "GOT" not in outcome.stdout)
    last = outcome.stderr.strip().rpartition("\n")[2] or f"exit {outcome.exit_code}"
    how = f"{outcome.ending}: {outcome.detail}" if outcome.detail else last
    if not held:
        how = "; ".join([*damage, outcome.stdout.strip()[:200], how])
    return Verdict(held, how)


def make_runner(kind: str, limits: Mapping[str, Any]) -> Any:
    """Return a runner of a kind."""
    options: dict[str, Any] = {**_LIMITS, **limits}
    if kind == "no isolation":
        return Subprocess(**{**options, "memory_bytes": None, "processes": None})
    return Sandbox(kind=cast("Any", kind), **options)


def attack_all(kind: str, names: frozenset[str] = frozenset()) -> dict[str, Verdict]:
    """Run all attacks on a kind of runner, or those with these names."""
    runners: dict[str, Any] = {}

    def one(probe: Probe) -> Verdict:
        limits = json.dumps(probe.limits)
        if limits not in runners:
            runners[limits] = make_runner(kind, probe.limits)
        return attack(probe, runners[limits], probe.limits.get("timeout_s", 6))

    probes = [
        probe
        for probe in PROBES
        if probe.name in names or (not names and (kind != "no isolation" or probe.bare))
    ]
    with ThreadPoolExecutor(2) as pool:
        return dict(
            zip((probe.name for probe in probes), pool.map(one, probes), strict=True)
        )


KINDS: Final = ("bubblewrap", "landlock")


def render_tables() -> str:
    """Return the tables of the page: a row for each attack, by group."""
    lines: list[str] = []
    for group, probes in GROUPS.items():
        lines += [f"### {group}", "", "| a script tries to | bubblewrap | Landlock |"]
        lines += ["|---|---|---|"]
        for probe in probes:
            cells = [
                f"not held: {probe.not_held[kind]}"
                if kind in probe.not_held
                else "held"
                for kind in KINDS
            ]
            lines.append(f"| {probe.tries} (`{probe.name}`) | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def main(kind: str, *names: str) -> None:
    """Print what was held, as JSON; ``tables`` prints the tables of the page."""
    if kind == "tables":
        print(render_tables())
        return
    began = time.monotonic()
    verdicts = attack_all(kind, frozenset(names))
    json.dump(
        {
            "seconds": time.monotonic() - began,
            "verdicts": {name: vars(verdict) for name, verdict in verdicts.items()},
        },
        sys.stdout,
        indent=1,
    )


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    main(*sys.argv[1:])
