"""Ready-made skills: the time, and exact arithmetic. Each is one module to copy."""

from satchel.skills.calc import calc
from satchel.skills.clock import clock

# Imported here, so that `satchel.skills.calc` is the function whatever is imported
# first; what else is in a module is imported from it by name.
__all__ = ["calc", "clock"]
