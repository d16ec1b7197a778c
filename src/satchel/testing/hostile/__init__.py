"""Packs that attack programs that read them, and a runner that shows who survives.

    from satchel.testing.hostile import hostile_packs, run_loader

    for pack in hostile_packs():
        with pack.fresh() as library:
            outcome = run_loader(["python", "-m", "my_loader"], library)
            assert outcome.served, (pack.what, outcome.detail)

From the shell: ``python -m satchel.testing.hostile --loader "python -m my_loader"``.
"""

from satchel.testing.hostile._leaks import find_leaks
from satchel.testing.hostile._pack import (
    GOOD_DESCRIPTION,
    GOOD_NAME,
    CannotMake,
    HostilePack,
    hostile_packs,
)
from satchel.testing.hostile._runner import LoaderOutcome, judge, run_loader

__all__ = [
    "GOOD_DESCRIPTION",
    "GOOD_NAME",
    "CannotMake",
    "HostilePack",
    "LoaderOutcome",
    "find_leaks",
    "hostile_packs",
    "judge",
    "run_loader",
]
