"""The time, as a skill: ``time_now``, ``time_convert``, and when to use them."""

from satchel.skills.clock.skill import clock

__all__ = ["clock"]
