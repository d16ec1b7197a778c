"""Releases in OCI registries: followed by a tag, pushed, withdrawn."""

from typing import TYPE_CHECKING

from satchel.errors import ConfigError
from satchel.lazy import lazy_door
from satchel.model import Limits

if TYPE_CHECKING:
    from satchel_install.oci._commands import (
        accept as accept,
        push as push,
        withdraw as withdraw,
    )
    from satchel_install.oci._reference import parse_reference as parse_reference
    from satchel_install.oci._source import OciSource

__getattr__ = lazy_door(
    __name__,
    {"_commands": "accept push withdraw", "_reference": "parse_reference"},
)


def open_address(
    url: str, *, pin: str | None, allow_private: bool, limits: Limits
) -> "OciSource":
    """Return the source of an ``oci://`` address that `satchel.Satchel` was given."""
    from satchel_install.oci._reference import parse_reference
    from satchel_install.oci._registry import OciRepository
    from satchel_install.oci._source import OciSource

    if pin is not None:
        detail = "pin it by its digest: oci://registry/team/skills@sha256:..."
        raise ConfigError("pin", detail)
    reference = parse_reference(url)
    repository = OciRepository(reference, allow_private=allow_private)
    return OciSource(repository, reference, limits)
