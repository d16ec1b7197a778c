"""Runners of the scripts of skills: in a sandbox, or with no isolation at all."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel_scripts._needs import missing_in as missing_in
    from satchel_scripts._sandbox import Sandbox
    from satchel_scripts._subprocess import Subprocess

__all__ = ["Sandbox", "Subprocess"]

__getattr__ = lazy_door(
    __name__,
    {
        "_needs": "missing_in",
        "_sandbox": "Sandbox",
        "_subprocess": "Subprocess",
    },
)
