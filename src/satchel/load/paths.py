"""Which listed file a wish means; nothing of the file system is looked at."""

from typing import Final

from satchel.errors import AmbiguousReferenceError, ReferenceNotAllowedError
from satchel.files import check_path
from satchel.model import SKILL_FILE, Descriptor
from satchel.text import printable

__all__ = ["resolve"]

_BUCKETS: Final = ("references/", "scripts/", "assets/")


def resolve(descriptor: Descriptor, file: str) -> str:
    """Return the listed path that ``file`` names.

    A listed path is itself; else a name inside one of the three buckets; else a file
    name that one listed path alone ends in. SKILL.md is always listed. A name that
    hides characters may be given as it is shown, with ``<U+202E>`` in their place.

    Raises:
        ReferenceEscapesError: ``file`` is no plain relative path.
        AmbiguousReferenceError: Several listed files fit; carries them.
        ReferenceNotAllowedError: None fits; carries all listed files.
    """
    check_path(file, descriptor.id)
    listed = descriptor.resources
    if file == SKILL_FILE or file in listed:
        return file
    fitting = tuple(bucket + file for bucket in _BUCKETS if bucket + file in listed)
    if not fitting:
        ending = f"/{file}"
        fitting = tuple(path for path in listed if path.endswith(ending))
    if not fitting and "<U+" in file:  # as a name with hidden characters is shown
        fitting = tuple(path for path in listed if _is_shown_as(path, file))
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise AmbiguousReferenceError(descriptor.id, file, fitting)
    raise ReferenceNotAllowedError(descriptor.id, file, listed)


def _is_shown_as(path: str, file: str) -> bool:
    shown = printable(path, keep="")
    return shown == file or shown.endswith(f"/{file}")
