"""The user's credentials for registries, where Docker keeps them: read, never shown."""

import base64
import binascii
import json
import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from satchel.errors import ConfigError

# What Docker calls its own registry in the file.
_DOCKER_HUB: Final = {"docker.io": "https://index.docker.io/v1/"}
_HELPER: Final = re.compile(r"[A-Za-z0-9_-]+")
# What a helper answers with for an identity token, in place of a name.
_TOKEN_USER: Final = "<token>"  # noqa: S105 - a name
# Seconds for a helper, which may ask a key ring.
_HELPER_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Credential:
    """A name and a secret; or with ``token`` an identity token to ask for others."""

    user: str = ""
    secret: str = field(default="", repr=False)
    token: bool = False

    @property
    def basic(self) -> str:
        """What ``Authorization: Basic`` sends."""
        return base64.b64encode(f"{self.user}:{self.secret}".encode()).decode()


def credential_of(host: str) -> Credential | None:
    """Return what the user has for a registry: inline, or from a helper; None if none.

    The file is ``config.json`` in ``DOCKER_CONFIG``, else in ``~/.docker``. Only
    helpers that this file names are run.

    Raises:
        ConfigError: The file or a helper's answer cannot be used; shows nothing of it.
    """
    folder = os.environ.get("DOCKER_CONFIG", "").strip() or "~/.docker"
    file = Path(folder).expanduser() / "config.json"
    try:
        document: object = json.loads(file.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        kind = getattr(error, "strerror", "") or "it is not JSON"
        raise ConfigError(str(file), kind) from None
    config = _table(document)
    names = (host, _DOCKER_HUB.get(host, ""), f"https://{host}", f"https://{host}/")
    helpers, auths = _table(config.get("credHelpers")), _table(config.get("auths"))
    for name in filter(None, names):
        helper = helpers.get(name)
        if isinstance(helper, str):
            return _from_helper(helper, name)
    for name in filter(None, names):
        entry = _table(auths.get(name))
        if entry.get("identitytoken"):
            return Credential("", str(entry["identitytoken"]), token=True)
        if entry.get("auth"):
            return _decoded(str(entry["auth"]), str(file))
    store = config.get("credsStore")
    if isinstance(store, str) and store:
        listed = [name for name in filter(None, names) if name in auths]
        return _from_helper(store, (listed or [host])[0])
    return None


def _table(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _decoded(text: str, where: str) -> Credential:
    try:
        user, mark, secret = (
            base64.b64decode(text, validate=True).decode().partition(":")
        )
    except (binascii.Error, ValueError):
        mark = user = secret = ""
    if not mark:
        raise ConfigError(where, "an entry of auths is not base64 of user:secret")
    return Credential(user, secret.rstrip("\0"))


def _from_helper(name: str, server: str) -> Credential | None:
    program = f"docker-credential-{name}"
    if not _HELPER.fullmatch(name):
        raise ConfigError("config.json", "the name of a credential helper is no name")
    try:
        done = subprocess.run(
            [program, "get"],
            input=server.encode(),
            capture_output=True,
            timeout=_HELPER_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = getattr(error, "strerror", "") or "no answer in time"
        raise ConfigError(program, reason) from None
    if done.returncode:
        return None  # it has none for this registry
    try:
        answer = _table(json.loads(done.stdout))
    except ValueError:
        raise ConfigError(program, "its answer is not JSON") from None
    user, secret = str(answer.get("Username", "")), str(answer.get("Secret", ""))
    if user == _TOKEN_USER:
        return Credential("", secret, token=True)
    return Credential(user, secret) if secret else None
