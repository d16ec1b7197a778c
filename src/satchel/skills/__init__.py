"""Ready-made skills."""

from satchel.skills.discovery import SkillDiscoverySkill

__all__ = ["SkillDiscoverySkill"]
