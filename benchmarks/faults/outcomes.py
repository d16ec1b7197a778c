"""What each validator finds of the faults, by comparing a pack with its twin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.faults.running import validate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.faults.fault import Fault
    from benchmarks.faults.reports import Said
    from benchmarks.faults.validators import Validator

FOUND = "found"
NOTED = "note"
SILENT = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one validator made of one fault.

    ``mark`` is `FOUND`, `NOTED`, `SILENT`, ``crash`` or ``hang``; ``kinds`` are those
    of the faulty pack that the twin has not; ``alarm`` tells that the twin has an
    error or a warning too.
    """

    mark: str
    kinds: tuple[str, ...] = ()
    alarm: bool = False


def find(
    validator: Validator, faults: Sequence[Fault]
) -> Mapping[tuple[str, str], Outcome]:
    """Return what it makes of each fault, by group and id."""
    found: dict[tuple[str, str], Outcome] = {}
    together = [fault for fault in faults if not fault.alone]
    for fault, bad, good in _together(validator, together):
        found[fault.group, fault.id] = judge(bad, good)
    twins: dict[tuple[str, bytes], Said] = {}
    for fault in faults:
        if fault.alone:
            key = (fault.good.folder, fault.good.files["SKILL.md"])
            if key not in twins:
                (twins[key],) = validate(validator, [fault.good])
            (bad,) = validate(validator, [fault.bad])
            found[fault.group, fault.id] = judge(bad, twins[key])
    return found


def _together(
    validator: Validator, faults: Sequence[Fault]
) -> Iterator[tuple[Fault, Said, Said]]:
    bad = validate(validator, [fault.bad for fault in faults])
    good = validate(validator, [fault.good for fault in faults])
    yield from zip(faults, bad, good, strict=True)


def judge(bad: Said, good: Said) -> Outcome:
    """Compare what was said of a pack with what was said of its twin."""
    new = bad.reports - good.reports
    alarm = any(report.counts for report in good.reports)
    if bad.failed:
        return Outcome(bad.failed, alarm=alarm)
    counting = [report for report in new if report.counts]
    mark = FOUND if counting else NOTED if new else SILENT
    kinds = {report.kind for report in counting or new}
    return Outcome(mark, tuple(sorted(kinds)), alarm)
