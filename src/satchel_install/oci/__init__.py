"""Releases in OCI registries: followed by a tag, pushed, withdrawn."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel_install.oci._push import (
        accept as accept,
        push as push,
        withdraw as withdraw,
    )
    from satchel_install.oci._reference import parse_reference as parse_reference
    from satchel_install.oci._source import open_address as open_address

_HOMES = {"_push": "accept push withdraw", "_reference": "parse_reference"}
__getattr__ = lazy_door(__name__, {**_HOMES, "_source": "open_address"})
