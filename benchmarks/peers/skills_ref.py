"""skills-ref, the reference library: it reads one pack at a time.

It has no loader of folders, so that loop is here; a pack that raises costs only
itself. ``read_properties`` is the reading call; ``validate`` would do the same and
more.
"""

from collections.abc import Iterator
from pathlib import Path

from skills_ref import find_skill_md, read_properties

REQUIRES = ["skills-ref==0.1.1"]
PYTHON = "3.11"
LARGE = "each"


def discover(folder: str) -> Iterator[tuple[str, str]]:
    """Yield what ``read_properties`` returns; raise what it raised at the end."""
    errors: list[Exception] = []
    for pack in sorted(Path(folder).iterdir()):
        if pack.is_dir() and find_skill_md(pack) is not None:
            try:
                properties = read_properties(pack)
            except Exception as error:  # noqa: BLE001 - whatever it raises costs one pack
                errors.append(error)
            else:
                yield properties.name, properties.description
    if errors:
        raise errors[0] if len(errors) == 1 else ExceptionGroup("packs", errors)
