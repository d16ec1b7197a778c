"""Which locks the user has approved: kept outside of every project.

A lock that came with a project proves that nothing drifted, and not that anybody here
wants it. What counts is the digest of its bytes, noted for the project's real folder.
"""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, cast

from satchel.errors import NotInstalledError
from satchel.files import digest_bytes, write_file
from satchel_install._entries import SkillsEntry
from satchel_install._lock import LOCK_FILE

# A digest, or several with commas, for CI: the lock of any project that has one counts.
VARIABLE: Final = "SATCHEL_TRUSTED_LOCK"
_FILE: Final = "trusted-locks.json"
_PRIVATE: Final = 0o600


def approvals_file() -> Path:
    """Return the user's file of approvals."""
    from platformdirs import user_data_path

    return user_data_path("satchel", appauthor=False) / _FILE


def approvals() -> dict[str, list[str]]:
    """Return the approved digests of each project, by its real folder.

    Raises:
        OSError: The file is there, and cannot be read.
    """
    try:
        document: object = json.loads(approvals_file().read_bytes())
    except (FileNotFoundError, ValueError):
        return {}  # nothing counts as approved in a file that is damaged
    rows = cast("dict[str, object]", document) if isinstance(document, dict) else {}
    return {
        folder: [str(digest) for digest in cast("list[object]", digests)]
        for folder, digests in rows.items()
        if isinstance(digests, list)
    }


def lock_digest(folder: Path) -> str:
    """Return the digest of a project's lock; empty without one."""
    try:
        return digest_bytes((folder / LOCK_FILE).read_bytes())
    except FileNotFoundError:
        return ""


def is_approved(
    folder: Path, digest: str, environ: Mapping[str, str] = os.environ
) -> bool:
    """Tell whether a lock of a project's folder counts."""
    named = {one.strip() for one in environ.get(VARIABLE, "").split(",")}
    return bool(digest) and (
        digest in named or digest in approvals().get(os.path.realpath(folder), ())
    )


def approve(folder: Path, *digests: str) -> None:
    """Note which locks of a project count, in place of all before; none is none."""
    noted = approvals()
    noted.pop(os.path.realpath(folder), None)
    if digests:
        noted[os.path.realpath(folder)] = [*filter(None, digests)]
    file = approvals_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(dict(sorted(noted.items())), indent=1)
    write_file(file, f"{text}\n".encode(), _PRIVATE)


def check_places(
    folder: Path, entries: Iterable[SkillsEntry], digest: str = ""
) -> None:
    """Refuse places of this machine outside of a project that nobody here approved.

    ``digest`` is of a lock that is not the project's yet.

    Raises:
        NotInstalledError: An entry names one; says what to type.
    """
    if is_approved(folder, digest or lock_digest(folder)):
        return
    for entry in entries:
        kind, place = entry.upstream.kind, entry.upstream.place
        is_local = "://" not in place and kind in {"folder", "archive"}
        root = os.path.realpath(folder)
        real = os.path.realpath(folder / place) if is_local else root
        inside = os.path.commonpath([real, root]) == root
        if not inside or place.startswith("file:"):
            detail = f"{place} is outside of this project, whose lock you have not "
            detail += (
                "approved; if you want it, add it yourself, or type: satchel trust"
            )
            raise NotInstalledError(entry.name, detail)
