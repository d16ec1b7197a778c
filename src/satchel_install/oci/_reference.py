"""What ``oci://registry/team/skills:prod`` names: an artifact in a repository.

Source: the OCI distribution specification 1.1, "Pulling manifests".
"""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from satchel.errors import ConfigError, echo
from satchel.files import is_digest

SCHEME: Final = "oci://"
_NAME: Final = re.compile(
    r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*"
)
_LAST_PORT: Final = 65_535
_TAG: Final = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}")
_HOST: Final = re.compile(
    r"[A-Za-z0-9.-]+(?::[0-9]{1,5})?|\[[0-9a-fA-F:]+\](?::[0-9]{1,5})?"
)
# The name that everybody writes, and the host that answers.
_MOVED: Final = {"docker.io": "registry-1.docker.io"}


@dataclass(frozen=True, slots=True)
class OciReference:
    """One artifact of a registry: by its tag, by its digest, or by both.

    With a digest the tag only says where it was; the digest is what counts.
    """

    host: str
    repository: str
    tag: str = ""
    digest: str = ""

    def __str__(self) -> str:
        tag = f":{self.tag}" if self.tag else ""
        pin = f"@{self.digest}" if self.digest else ""
        return f"{SCHEME}{self.host}/{self.repository}{tag}{pin}"

    @property
    def which(self) -> str:
        """The digest, else the tag."""
        return self.digest or self.tag

    @property
    def home(self) -> str:
        """The address of the registry; only this machine is asked without TLS."""
        host = _MOVED.get(self.host, self.host)
        name = host.rpartition(":")[0] if re.search(r":\d+$", host) else host
        return f"{'http' if _is_loopback(name.strip('[]')) else 'https'}://{host}/"


def _is_loopback(name: str) -> bool:
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def parse_reference(text: str) -> OciReference:
    """Return what an address names; without tag and digest it is ``latest``.

    Raises:
        ConfigError: It is no such address; says what is expected.
    """
    host, mark, rest = text.removeprefix(SCHEME).partition("/")
    if "@" in host:  # a secret may be in it, so nothing of it is shown
        detail = "an address has no user or password; log in with: docker login"
        raise ConfigError("oci://", detail)
    rest, pinned, digest = rest.partition("@")
    name, tagged, tag = rest.partition(":")
    fits = (
        text.startswith(SCHEME)
        and mark
        and _HOST.fullmatch(host)
        and int(re.sub(r".*:|.*\D", "", host) or 0) <= _LAST_PORT
        and _NAME.fullmatch(name)
        and (not tagged or _TAG.fullmatch(tag))
        and (not pinned or is_digest(digest))
    )
    if not fits:
        expected = "expected oci://registry/team/skills:tag or ...@sha256:..."
        raise ConfigError(echo(text), f"it is no address of a registry; {expected}")
    return OciReference(host.lower(), name, tag or ("" if digest else "latest"), digest)
