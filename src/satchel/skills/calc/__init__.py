"""Exact arithmetic, as a skill: ``calculate`` and how to use it."""

from satchel.skills.calc.arithmetic import evaluate
from satchel.skills.calc.numerals import write_number
from satchel.skills.calc.skill import calc

__all__ = ["calc", "evaluate", "write_number"]
