"""Files that are made to be published: readable by whoever serves them.

Their modes are those that archives have, whatever the umask is, so that equal releases
are equal and a web server of another user can read them.
"""

from pathlib import Path
from typing import Final

__all__ = ["make_folder", "write_new"]

_FILE: Final = 0o644
_FOLDER: Final = 0o755


def make_folder(folder: Path) -> None:
    """Make a folder and those above it; what is there already stays as it is.

    Raises:
        OSError: It cannot be made.
    """
    places = [folder, *folder.parents]
    missing = places[: next(n for n, place in enumerate(places) if place.is_dir())]
    for each in reversed(missing):
        try:
            each.mkdir()
        except FileExistsError:
            continue  # somebody was quicker
        each.chmod(_FOLDER)


def write_new(file: Path, data: bytes) -> None:
    """Write a file that is not there yet.

    Raises:
        OSError: It is there, or cannot be written.
    """
    with file.open("xb") as out:
        out.write(data)
    file.chmod(_FILE)
