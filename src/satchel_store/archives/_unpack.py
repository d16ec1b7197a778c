"""From the bytes of an archive to the files of the pack in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from satchel.model import DEFAULT_LIMITS, Limits
from satchel_store.archives._archive_tree import ArchiveTree
from satchel_store.archives._tar import read_tar
from satchel_store.archives._zip import read_zip

_ZIP: Final = b"PK"
_GZIP: Final = b"\x1f\x8b"

# Bytes of one member that are not its content: headers, names, and padding.
_HEADERS_BYTES: Final = 2_048
# Bytes at the end of an archive: tar pads to a record of 10,240.
_TAIL_BYTES: Final = 16_384


def archive_size_limit(limits: Limits = DEFAULT_LIMITS) -> int:
    """Return the size above which an archive cannot be within ``limits``, in bytes."""
    # A release stores files without compressing them, so the archive may be a little
    # larger than what comes out of it.
    headers = limits.archive_files * _HEADERS_BYTES + _TAIL_BYTES
    return limits.archive_bytes + headers


@dataclass(frozen=True, slots=True)
class UnpackedArchive:
    """The files by path, sorted, and the folder they were in, if any.

    ``links`` are the paths of links, which nothing is read through.
    """

    folder: str
    files: Mapping[str, bytes]
    links: frozenset[str] = frozenset()


def unpack(
    data: bytes, *, limits: Limits = DEFAULT_LIMITS, where: str = ""
) -> dict[str, bytes]:
    """Return the files of a pack by path, sorted, from a .zip, .skill, .tar.gz or .tgz.

    The pack is at the archive's root, or in its one folder. A leading ``./`` and the
    files that macOS adds are ignored, and so are modes, owners and times.

    Args:
        data: The whole archive, from anybody; its first bytes say which format it is.
        limits: ``archive_files``, ``archive_bytes``, ``archive_ratio`` and
            ``pack_depth`` apply, ``pack_files`` and ``pack_bytes`` if smaller.
        where: What to call the archive in errors.

    Raises:
        ArchiveError: It is damaged, not an archive, without a SKILL.md, or has what no
            pack needs: links, devices, paths that are not plain, two files of one
            name, encrypted members, bytes that belong to no member.
        LimitExceededError: More would come out than ``limits`` allow.
    """
    return dict(open_archive(data, limits=limits, where=where).files)


def open_archive(
    data: bytes, *, limits: Limits = DEFAULT_LIMITS, where: str = ""
) -> UnpackedArchive:
    """Return the files as `unpack` does, and the folder that they were in."""
    tree = _read(data, ArchiveTree(limits, len(data), where))
    files = tree.pack()
    return UnpackedArchive(tree.folder, files)


def open_library(data: bytes, *, limits: Limits, where: str = "") -> UnpackedArchive:
    """Return all files of an archive of packs, or of a repository.

    Errors are those of `unpack`, but links are no error, and there may be no SKILL.md.
    """
    tree = _read(data, ArchiveTree(limits, len(data), where, library=True))
    return UnpackedArchive(*tree.below_one_folder())


def _read(data: bytes, tree: ArchiveTree) -> ArchiveTree:
    # The first bytes decide, not the name, which a publisher may choose freely.
    if data.startswith(_GZIP):
        read_tar(data, tree)
    elif data.startswith(_ZIP):
        read_zip(data, tree)
    else:
        raise tree.error("it begins neither like a .zip nor like a .tar.gz")
    return tree
