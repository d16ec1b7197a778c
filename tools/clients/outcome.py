"""What a check found, as values, and as the JSON that keeps them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Outcome: TypeAlias = Literal["passed", "failed", "left out"]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that a client did, and how it ended.

    ``said`` is one line: figures, or why it failed or was left out.
    """

    what: str
    outcome: Outcome
    said: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """One run of one check.

    ``date`` is its day, ``versions`` are those of the clients. ``skipped`` says why
    nothing was run, where nothing could be.
    """

    check: str
    date: str
    versions: Mapping[str, str]
    steps: tuple[Step, ...]
    seconds: float = 0.0
    skipped: str = ""

    @property
    def failed(self) -> tuple[Step, ...]:
        """The steps that did not pass. A run without a step is no pass, either."""
        if not (self.steps or self.skipped):
            return (Step("anything", "failed", "no step was run"),)
        return tuple(step for step in self.steps if step.outcome == "failed")

    def __str__(self) -> str:
        """Return one line, with what failed below it."""
        if self.skipped:
            return f"SKIPPED {self.check:<20} {self.skipped}"
        state = "FAILED " if self.failed else "ok     "
        outcomes = [step.outcome for step in self.steps]
        counts = [
            f"{outcomes.count(kind)} {kind}"
            for kind in ("passed", "left out", "failed")
            if kind in outcomes
        ]
        lines = [f"{state} {self.check:<20} {', '.join(counts)}, {self.seconds:.0f} s"]
        lines += [f"  {step.what}: {step.said}" for step in self.failed]
        return "\n".join(lines)


def to_json(report: Report) -> dict[str, Any]:
    """Return a report as JSON has it; the seconds are for the terminal only."""
    data = asdict(report)
    del data["seconds"], data["skipped"]
    return data


def from_json(data: Mapping[str, Any]) -> Report:
    """Return the report that `to_json` wrote."""
    steps = tuple(Step(**step) for step in data["steps"])
    return Report(data["check"], data["date"], data["versions"], steps)
