"""Ready-made skills, each imported from where it is, so that it costs only itself.

``satchel.skills.clock.clock``, ``satchel.skills.calc.calc`` and
``satchel.skills.discovery.SkillDiscoverySkill``.
"""

from typing import TYPE_CHECKING, Final

from satchel._lazy import lazy_door

if TYPE_CHECKING:
    from satchel.skills._calc import calc
    from satchel.skills._clock import clock
    from satchel.skills._discovery import SkillDiscoverySkill

__all__ = [
    "SkillDiscoverySkill",
    "calc",
    "clock",
]

_LAZY: Final = {
    "calc": "satchel.skills._calc",
    "clock": "satchel.skills._clock",
    "SkillDiscoverySkill": "satchel.skills._discovery",
}

__getattr__ = lazy_door(__name__, _LAZY)
