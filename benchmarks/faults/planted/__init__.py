"""Faults as authors make them, written down before the rules were looked at.

Each is a pair: a pack with the fault, and a sound twin that comes as close to it as a
good pack does. `satchel check` reports a fault if it gives an error or a warning on
the pack that it does not give on the twin; about a twin it has nothing of the kind to
say.
"""

from typing import Final

from benchmarks.faults.fault import Fault
from benchmarks.faults.planted.fields import DIALECT_FAULTS, FIELD_FAULTS
from benchmarks.faults.planted.files import FILE_FAULTS, SCRIPT_FAULTS
from benchmarks.faults.planted.frontmatter import FRONTMATTER_FAULTS
from benchmarks.faults.planted.hidden import HIDDEN_FAULTS, MACHINE_FAULTS
from benchmarks.faults.planted.leftovers import LEFTOVER_FAULTS

__all__ = ["PLANTED"]

PLANTED: Final[tuple[Fault, ...]] = (
    *FILE_FAULTS,
    *SCRIPT_FAULTS,
    *HIDDEN_FAULTS,
    *MACHINE_FAULTS,
    *LEFTOVER_FAULTS,
    *FIELD_FAULTS,
    *DIALECT_FAULTS,
    *FRONTMATTER_FAULTS,
)
