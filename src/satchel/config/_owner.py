"""Whether a configuration's file is from those who made its project."""

import os
import sys


def doubt_of(path: os.PathLike[str], *owners: int) -> str:
    """Return why a file may not be from those who made its project; empty if it is.

    ``owners`` are the users of the file and of a link to it, where they are known.
    """
    uids = owners or (os.lstat(path).st_uid, os.stat(path).st_uid)  # noqa: PTH116
    for uid in filter(_is_stranger, uids):
        return f"it belongs to another user (uid {uid})"
    inside = is_inside(path, path)
    return "" if inside else "it is a link to a file outside of its folder"


def _is_stranger(uid: int) -> bool:
    if sys.platform == "win32":
        return False
    # As git does for a command that is run with sudo.
    caller = os.environ.get("SUDO_UID", "") if os.geteuid() == 0 else ""
    return uid not in {0, os.geteuid()} and str(uid) != caller


def is_inside(place: str | os.PathLike[str], file: os.PathLike[str]) -> bool:
    """Tell whether a path, with its links followed, is in the folder of a file."""
    folder = os.path.realpath(os.path.dirname(file))  # noqa: PTH120 - pathlib is not needed
    try:
        return os.path.commonpath([os.path.realpath(place), folder]) == folder
    except ValueError:  # no system takes this path, or it is on another drive
        return False
