"""Tell which planted faults `satchel check` reports: its own defaults, pack by pack."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.faults.planted import PLANTED
from benchmarks.measure import table
from satchel_lab.checking import check

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.faults.fault import Fault, Pack
    from satchel.model import Finding


class Outcome(NamedTuple):
    """What is said of a fault: ``found`` of the pack, ``wrong`` of its sound twin.

    Each is errors and warnings only.
    """

    fault: Fault
    found: tuple[Finding, ...]
    wrong: tuple[Finding, ...]

    @property
    def is_reported(self) -> bool:
        """Whether something is said of the pack that is not said of the twin."""
        return bool({each.code for each in self.found} - {e.code for e in self.wrong})


def measure(faults: Iterable[Fault] = PLANTED) -> list[Outcome]:
    """Check each pack and each twin in a folder of its own."""
    return [Outcome(each, _loud(each.bad), _loud(each.good)) for each in faults]


def _loud(pack: Pack) -> tuple[Finding, ...]:
    with tempfile.TemporaryDirectory(prefix="satchel-planted-") as folder:
        library = Path(folder, "library", "skills")
        library.mkdir(parents=True)
        pack.write(library)
        report = check([str(library)])
    return tuple(each for each in report.findings if each.severity != "note")


def main() -> None:
    """Print a table by kind, and every fault that is missed."""
    outcomes = measure()
    all_of = Counter(each.fault.group for each in outcomes)
    reported = Counter(each.fault.group for each in outcomes if each.is_reported)
    wrong = Counter(each.fault.group for each in outcomes if each.wrong)
    rows = [(kind, all_of[kind], reported[kind], wrong[kind]) for kind in all_of]
    rows.append(("all", all_of.total(), reported.total(), wrong.total()))
    head = ("kind", "faults", "reported", "sound twins with a report")
    print(table(head, ([str(cell) for cell in row] for row in rows)))
    print()
    for each in outcomes:
        if not each.is_reported:
            print(f"- missed: {each.fault.id}")
        for finding in each.wrong:
            what = f"{finding.code}: {finding.message}"
            print(f"- said of the twin of {each.fault.id}: {what}")


if __name__ == "__main__":
    main()
