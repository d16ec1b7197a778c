"""Ready-made skills, each imported from where it is, so that it costs only itself.

``satchel.skills.clock.clock``, ``satchel.skills.calc.calc`` and
``satchel.skills.discovery.SkillDiscoverySkill``.
"""

__all__: list[str] = []
