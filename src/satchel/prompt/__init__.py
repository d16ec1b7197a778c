"""Catalog and token budget in, prompt text out; nothing is read or remembered."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel.prompt._layouts import XmlId as XmlId
    from satchel.prompt._overview import (
        SUGGESTED as SUGGESTED,
        with_suggestions as with_suggestions,
    )
    from satchel.prompt._render import Format as Format, render

__all__ = ["render"]

__getattr__ = lazy_door(
    __name__,
    {
        "_layouts": "XmlId",
        "_overview": "SUGGESTED with_suggestions",
        "_render": "Format render",
    },
)
