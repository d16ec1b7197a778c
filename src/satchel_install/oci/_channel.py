"""A tag as a channel: which release it was at, and what must not be used any more."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from satchel.errors import ConfigError, SourceUnavailableError
from satchel.files import digest_bytes, write_file
from satchel.model import DEFAULT_LIMITS
from satchel_install.oci._artifact import WITHDRAWN_TYPE, OciArtifact, fetch_artifact
from satchel_install.oci._reference import OciReference
from satchel_install.oci._registry import OciRepository
from satchel_store.release import DocumentParser, canonical_json

# The tag of the list, next to the releases of a repository.
WITHDRAWN_TAG: Final = "withdrawn"
FORMAT: Final = "satchel-withdrawn"
SCHEMA_VERSION: Final = 1
# Digests of manifests, with commas, that an operator accepts although they are older.
VARIABLE: Final = "SATCHEL_TRUSTED_RELEASE"
_FOLDER: Final = "channels"
_MODE: Final = 0o600


def render_withdrawn(reasons: Mapping[str, str]) -> bytes:
    """Return the list as it is kept: sorted, in one spelling."""
    rows = [{"digest": one, "reason": reasons[one]} for one in sorted(reasons)]
    head = {"format": FORMAT, "schema_version": SCHEMA_VERSION}
    return canonical_json({**head, "withdrawn": rows})


def fetch_withdrawn(repository: OciRepository, digest: str) -> dict[str, str]:
    """Return why each digest is withdrawn, by the list of this digest.

    Raises:
        SkillError: It is no such list; nothing of it counts.
    """
    where, limits = f"{repository.label}, {WITHDRAWN_TAG}", DEFAULT_LIMITS
    artifact = fetch_artifact(repository, digest)
    if artifact.type != WITHDRAWN_TYPE:
        raise ConfigError(where, f"it is {artifact.type!r}, and no list")
    layer = artifact.layers[0]
    data = repository.blob(layer.digest, min(layer.size, limits.release_bytes))
    return _WithdrawnParser(where, limits, ConfigError).reasons(data)


class _WithdrawnParser(DocumentParser):
    def reasons(self, data: bytes) -> dict[str, str]:
        top = self.load(data)
        self.check_head(top, FORMAT, version=SCHEMA_VERSION)
        rows = [(entry, f"{at}.") for at, entry in self._objects(top, "withdrawn", "")]
        names = (self._name(entry, "digest", at).lower() for entry, at in rows)
        reasons = (self._text(entry, "reason", at) for entry, at in rows)
        return dict(zip(names, reasons, strict=True))


def noted_number(reference: OciReference) -> int:
    """Return the number of the last release that this user had of a channel, else 0."""
    file = _file(reference)
    try:
        number: object = json.loads(file.read_bytes())
    except FileNotFoundError:
        return 0
    except (OSError, ValueError) as error:
        number = error
    if not isinstance(number, int):
        detail = "it is damaged, so that no release is known to be the last; delete it"
        raise ConfigError(str(file), f"{detail} if any release of {reference} will do")
    return number


def note_number(reference: OciReference, number: int) -> None:
    """Note which release a channel is at, as far as this machine can keep it."""
    if noted_number(reference) == number:
        return
    file = _file(reference)
    # A server on a disk that is read-only goes by what it has seen itself.
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_file(file, f"{number}\n".encode(), _MODE)


def checked_number(reference: OciReference, artifact: OciArtifact, last: int) -> int:
    """Return which number is the least from now on, and refuse a lower one.

    Raises:
        SourceUnavailableError: It is lower, and no operator has named this release.
    """
    accepted = {one.strip() for one in os.environ.get(VARIABLE, "").split(",")}
    if reference.digest or artifact.digest in accepted:
        return max(artifact.number, last)
    if artifact.number < last:
        # What the user has accepted since, in another process, counts too.
        last = noted_number(reference)
    if artifact.number < last:
        detail = f"it has release {artifact.number} now, after {last}: an older one is "
        detail += "not taken by accident; if you mean it, type: satchel trust "
        raise SourceUnavailableError(str(reference), f"{detail}{reference}")
    return artifact.number


def _file(reference: OciReference) -> Path:
    """Return the file of a channel, of which two processes write no other's."""
    from platformdirs import user_data_path

    name = digest_bytes(str(reference).encode()).removeprefix("sha256:")
    return user_data_path("satchel", appauthor=False) / _FOLDER / name
