"""A pack as it lies there: what loaders go by before they read anything."""

from dataclasses import dataclass

__all__ = ["Candidate"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One pack to be judged.

    ``data`` is the whole skill file; ``folder`` the name of its folder, empty where it
    has none; ``file`` the file's name as it was found. ``depth`` counts the folders
    from the library down to the pack: 1 is right in it. ``is_link`` says that the
    folder is a symbolic link. ``files`` are the pack's other files, relative, with
    ``/``.
    """

    data: bytes
    folder: str
    file: str = "SKILL.md"
    depth: int = 1
    is_link: bool = False
    files: tuple[str, ...] = ()
