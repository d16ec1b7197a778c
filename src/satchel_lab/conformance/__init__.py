"""Any loader of skills, tried on the packs of the truth table and on hostile ones."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel_lab.conformance._check import check_loader
    from satchel_lab.conformance._pytest import install as install
    from satchel_lab.conformance._runtime import check_runtime

__all__ = ["check_loader", "check_runtime"]

__getattr__ = lazy_door(
    __name__,
    {"_check": "check_loader", "_pytest": "install", "_runtime": "check_runtime"},
)
