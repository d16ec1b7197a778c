"""Which locks the user has approved: kept outside of every project.

A lock that came with a project proves that nothing drifted, and not that anybody here
wants it. What counts is the digest of its bytes, noted for the project's real folder.
"""

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, cast

from satchel.config import is_inside
from satchel.errors import NotInstalledError
from satchel.files import digest_bytes, naming, write_file
from satchel_install._entries import SkillsEntry
from satchel_install._lock import LOCK_FILE, Lock, read_file

# A digest, or several with commas, for CI: the lock of any project that has one counts.
VARIABLE: Final = "SATCHEL_TRUSTED_LOCK"
_FILE: Final = "trusted-locks.json"
NOT_APPROVED: Final = f"{LOCK_FILE} is not approved; read it, and type: satchel trust"
_PRIVATE: Final = 0o600
# Of this machine, or without a certificate.
_UNSAFE: Final = ("file:", "http:", "git:", "git+file:", "git+http:")


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
    lists: dict[str, Any] = {of: d for of, d in rows.items() if isinstance(d, list)}
    return {of: [*map(str, digests)] for of, digests in lists.items()}


def lock_digest(folder: Path) -> str:
    """Return the digest of a project's lock; empty without one."""
    data = read_file(folder / LOCK_FILE)
    return "" if data is None else digest_bytes(data)


def is_approved(
    folder: Path, digest: str, environ: Mapping[str, str] = os.environ
) -> bool:
    """Tell whether a lock of a project's folder counts."""
    named = {one.strip() for one in environ.get(VARIABLE, "").split(",")}
    return bool(digest) and (
        digest in named or digest in approvals().get(os.path.realpath(folder), ())
    )


def is_outside(entry: SkillsEntry, folder: Path) -> bool:
    """Tell whether an entry names a place that only a user may let a project read."""
    kind, place = entry.upstream.kind, entry.upstream.place
    is_local = "://" not in place and kind not in {"git", "oci"}
    outside = is_local and not is_inside(folder / place, folder / LOCK_FILE)
    return outside or (kind == "git" and (place.startswith(_UNSAFE) or _is_near(place)))


def _is_near(place: str) -> bool:
    """Tell whether an address of git names this machine, or one of its network."""
    from socket import inet_aton, inet_ntoa  # few commands come here

    rest = place.partition("://")[2] or place
    host = rest.partition("/")[0].rpartition("@")[2]
    host = host[1:].partition("]")[0] if host[:1] == "[" else host.partition(":")[0]
    with suppress(OSError):  # it is in one of the older spellings, such as 127.1
        host = inet_ntoa(inet_aton(host))
    try:
        return not ip_address(host).is_global
    except ValueError:
        return host.lower().rstrip(".").rpartition(".")[2] == "localhost"


def approve(folder: Path, *digests: str) -> None:
    """Note which locks of a project count, in place of all before; none is none."""
    noted = approvals() | {os.path.realpath(folder): [*filter(None, digests)]}
    file = approvals_file()
    with naming(file):
        file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({of: noted[of] for of in sorted(noted) if noted[of]}, indent=1)
    write_file(file, f"{text}\n".encode(), _PRIVATE)


def check_places(folder: Path, entries: Iterable[SkillsEntry], lock: Lock) -> None:
    """Refuse places outside of a project that nobody here approved.

    These are folders and archives outside of it, repositories of this machine, and
    addresses that anybody on the way can change. An approved lock approves its entries
    as they are, and none that came later.

    Raises:
        NotInstalledError: An entry names one; says what to type.
    """
    approved = is_approved(folder, digest_bytes(lock.data))
    for entry in entries:
        if is_outside(entry, folder) and not (approved and lock.resolves(entry)):
            detail = "is outside of this project, and in no lock that you approved; "
            advice = "delete the entry, and type: satchel add"
            detail += "type: satchel trust" if lock.resolves(entry) else advice
            raise NotInstalledError(entry.name, f"{entry.upstream.place} {detail}")
