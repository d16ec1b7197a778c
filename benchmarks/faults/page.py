"""Write docs/reference/faults.md from what was measured."""

from __future__ import annotations

import platform
import textwrap
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from benchmarks.faults.not_found import NOT_FOUND
from benchmarks.faults.outcomes import FOUND, NOTED, SILENT
from benchmarks.faults.subjects import NOT_OURS, PARTLY, SUBJECTS
from benchmarks.faults.threats import NOT_IN_A_PACK
from benchmarks.faults.validators import OURS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchmarks.faults.fault import Fault
    from benchmarks.faults.outcomes import Outcome
    from benchmarks.faults.public import Kind
    from benchmarks.measure import Spread

    Outcomes = Mapping[tuple[str, str], Outcome]

_MARKS: Final = {
    FOUND: "yes",
    NOTED: "note",
    SILENT: "",
    "crash": "crash",
    "hang": "hang",
}

_HEAD: Final = """# Faults: what validators find

Made by `python -m benchmarks.faults CORPUS --write` on {date}, on {system} with Python
{python}, not edited by hand.

{versions}

Each *fault* has two packs: one with the fault, and the same pack without it. A
validator *finds* the fault if it reports an error or a warning on the first pack only.
So a validator that complains about everything finds nothing. Notes and information are
counted separately. Whether a message is a good one was not judged.

The faults come from four lists that were not made for this page:

- the 22 tricky packs of [other loaders](other-loaders.md); six of them break no rule of
  the specification, so there it is right to be silent;
- the codes of the linter of an earlier system, and six more;
- the rules S4 to S12 of the specification: name, description, the optional fields;
- the threats T1 to T18 of a threat model of skills, many with packs of the
  [hostile suite](hostile-packs.md).

{without}

Each validator runs with its defaults, in an environment of its own, over a plugin
whose `skills` folder has the packs, or over one pack where a pack may harm its reader:
then with {timeout:g} s and 4 GiB. `satchel check` runs with profile `spec`.

## How many
"""
_NOT_SHOWN: Final = """
## What this does not show

- How often such faults occur, and which of them matter. There is one pack for each.
- Whether a message helps. A crash or a hang does not count as a report.
- We wrote the packs, from lists that others made, and could add rules for what we
  missed; the others could not. Because of this table `satchel check` now reports
  `byte-order-mark`, `client-envelope`, `description-lines`, `impossible-date`,
  `license-file-missing`, numbers as `metadata-not-text`, names of devices, links to one
  machine, folders without a pack (`no-skills`), `argument-in-code`, `unpinned-command`
  and `unlimited-shell`.
- Peers with other options, or an online service behind them, may find more. What asks
  a model is not run.
- `claude plugin validate` is made for plugins, and asks what its own client asks; the
  specification's rules on names are no faults there.
- Files next to SKILL.md are not among the public packs: each link to one is dead there.
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """All that the page is made of; without a corpus the latter part is empty."""

    versions: Mapping[str, str]
    faults: Sequence[Fault]
    found: Mapping[str, Outcomes]
    packs: int = 0
    seed: int = 0
    kinds: Sequence[Kind] = ()
    seconds: Mapping[str, tuple[Spread, Spread]] | None = None
    rounds: int = 0


def render(measured: Measured, timeout_s: float) -> str:
    """Return the page."""
    listed = ", ".join(f"{name} {v}" for name, v in measured.versions.items())
    versions = textwrap.fill(f"The validators: {listed}.", 88)
    left_out = "; ".join(f"{row}: {why}" for row, why in NOT_IN_A_PACK.items())
    without = textwrap.fill(f"Left out are {left_out}.", 88)
    head = _HEAD.format(
        date=datetime.now(UTC).date().isoformat(),
        system=platform.system(),
        python=platform.python_version(),
        versions=versions,
        without=without,
        timeout=timeout_s,
    )
    parts = [head, *_totals(measured), *_missed(measured), *_each(measured)]
    if measured.kinds:
        parts += _public(measured)
    if measured.seconds:
        parts += _speed(measured)
    return "\n".join(parts) + _NOT_SHOWN


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table, with an empty line behind it."""
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(row)} |"
    yield ""


def _totals(measured: Measured) -> Iterator[str]:
    """Yield the table of sums: found, and in brackets with what is only noted."""
    faulty = [fault for fault in measured.faults if not fault.harmless]
    groups = list(dict.fromkeys(fault.group for fault in faulty))
    rows = []
    for name, found in measured.found.items():
        cells = [name]
        for group in (*groups, ""):
            marks = Counter(
                found[fault.group, fault.id].mark
                for fault in faulty
                if not group or fault.group == group
            )
            both = marks[FOUND] + marks[NOTED]
            cells.append(
                f"{marks[FOUND]} ({both})" if both > marks[FOUND] else str(both)
            )
        ended = Counter(outcome.mark for outcome in found.values())
        cells += [str(ended["crash"]), str(ended["hang"]), *_alarms(measured, found)]
        rows.append(cells)
    sizes = Counter(fault.group for fault in faulty)
    head = [
        "validator",
        *(f"{group}, {sizes[group]}" for group in groups),
        f"all {len(faulty)}",
        "crashed",
        "hung",
        "nothing wrong, and reported of",
        "twins with a report",
    ]
    yield "Found, and in brackets with what is only a note.\n"
    yield from table(head, rows)


def _alarms(measured: Measured, found: Outcomes) -> tuple[str, str]:
    harmless = [fault for fault in measured.faults if fault.harmless]
    reported = sum(found[fault.group, fault.id].mark == FOUND for fault in harmless)
    alarms = sum(outcome.alarm for outcome in found.values())
    return f"{reported} of {len(harmless)}", f"{alarms} of {len(found)}"


def _missed(measured: Measured) -> Iterator[str]:
    ours = measured.found[OURS]
    missed = [
        fault
        for fault in measured.faults
        if ours[fault.group, fault.id].mark not in {FOUND, NOTED} and not fault.harmless
    ]
    yield "`satchel check` says nothing of:\n"
    for fault in missed:
        why = NOT_FOUND.get(fault.id, "**no reason is known**")
        yield f"- {fault.row}, `{fault.id}`, {fault.about}: {why}."
    yield "" if missed else "- nothing.\n"


def _each(measured: Measured) -> Iterator[str]:
    yield "## Each fault\n"
    yield "Of those in brackets nothing is wrong.\n"
    groups = dict.fromkeys(fault.group for fault in measured.faults)
    for group in groups:
        yield f"### {group.capitalize()}\n"
        rows = [
            [
                fault.row,
                f"`{fault.id}`",
                f"({fault.about})" if fault.harmless else _plain(fault.about),
                *(
                    _MARKS[found[fault.group, fault.id].mark]
                    for found in measured.found.values()
                ),
            ]
            for fault in measured.faults
            if fault.group == group
        ]
        yield from table(["", "", "fault", *measured.found], rows)


def _plain(text: str) -> str:
    return text.replace("|", "\\|")


def _public(measured: Measured) -> Iterator[str]:
    yield f"## What peers report on {measured.packs} public packs\n"
    yield (
        f"Drawn with seed {measured.seed}. A kind is a code, or a message without\n"
        "the names and numbers in it. *Ours too* counts those of its packs on which\n"
        "`satchel check` says one of the codes that mean the same: the list was made\n"
        "by hand, and `benchmarks/faults/subjects.py` has it.\n"
    )
    reported = [kind for kind in measured.kinds if (kind.peer, kind.kind) in SUBJECTS]
    rows = [
        [
            kind.peer,
            _plain(kind.kind),
            kind.level,
            str(len(kind.packs)),
            *_share(kind),
        ]
        for kind in reported
    ]
    yield from table(["peer", "kind", "level", "packs", "ours too", "the rest"], rows)
    yield "Kinds that we do not report, and why:\n"
    rows = [
        [
            kind.peer,
            _plain(kind.kind),
            kind.level,
            str(len(kind.packs)),
            NOT_OURS.get((kind.peer, kind.kind), "**no reason is known**"),
        ]
        for kind in measured.kinds
        if (kind.peer, kind.kind) not in SUBJECTS
    ]
    yield from table(["peer", "kind", "level", "packs", "why"], rows)


def _share(kind: Kind) -> tuple[str, str]:
    if kind.ours == kind.packs:
        return "all", ""
    unknown = "**no reason is known**"
    return str(len(kind.ours)), PARTLY.get((kind.peer, kind.kind), unknown)


def _speed(measured: Measured) -> Iterator[str]:
    yield "## How long that takes\n"
    yield (
        f"One process over the {measured.packs} public packs, less those whose folder\n"
        f"has the name of another; {measured.rounds} rounds in turn on a shared\n"
        "machine: median (least to greatest). The ratio is taken within a round.\n"
        "`skills-ref validate` takes one pack a process; here one process calls what\n"
        "it calls.\n"
    )
    rows = [
        [name, f"{seconds:.2f}", f"{ratio:.2f}"]
        for name, (seconds, ratio) in (measured.seconds or {}).items()
    ]
    yield from table(["validator", "seconds", "over ours"], rows)
