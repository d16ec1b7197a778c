"""Ready-made skills: the time, exact arithmetic, and finding other skills."""

from typing import TYPE_CHECKING

from satchel._lazy import lazy_door

if TYPE_CHECKING:
    from satchel.skills._calc import calc
    from satchel.skills._clock import clock
    from satchel.skills._discovery import SkillDiscoverySkill

__all__ = ["SkillDiscoverySkill", "calc", "clock"]

__getattr__ = lazy_door(
    __name__,
    {
        "_calc": "calc",
        "_clock": "clock",
        "_discovery": "SkillDiscoverySkill",
    },
)
