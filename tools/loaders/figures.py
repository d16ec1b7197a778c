"""The figures of one comparison: printed, and kept for the page."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from tools.loaders.known import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tools.loaders.agreeing import Agreement

FILE: Final = ROOT / "tools" / "loaders" / "agreement.json"


@dataclass(frozen=True, slots=True)
class Agreed:
    """Of how many pairs of a pack and a loader what was predicted is what is."""

    checked: str
    seed: int
    without: tuple[tuple[int, int], ...]
    packs: int
    loaders: dict[str, int]

    @classmethod
    def of(
        cls,
        seed: int,
        without: Sequence[tuple[int, int]],
        packs: int,
        done: Sequence[Agreement],
    ) -> Agreed:
        """Return the figures of a run of today."""
        today = datetime.now(UTC).date().isoformat()
        found = {each.key: each.agreed for each in done}
        return cls(today, seed, tuple(without), packs, found)

    def joined(self, other: Agreed | None) -> Agreed:
        """Return these figures with those of other loaders on the same packs."""
        same = other is not None and (other.seed, other.without, other.packs) == (
            self.seed,
            self.without,
            self.packs,
        )
        if other is None or not same:
            return self
        return replace(self, loaders={**other.loaders, **self.loaders})

    @property
    def pairs(self) -> int:
        """How many pairs there were."""
        return self.packs * len(self.loaders)

    @property
    def agreed(self) -> int:
        """Of how many both are the same."""
        return sum(self.loaders.values())

    def __str__(self) -> str:
        """Return one line."""
        share = 100 * self.agreed / (self.pairs or 1)
        return (
            f"{self.agreed:,} of {self.pairs:,} pairs agree, {share:.2f} %:"
            f" {self.packs} packs, seed {self.seed}, {len(self.loaders)} loaders"
        )


def tell(result: Agreement) -> Iterator[str]:
    """Yield a line for a loader, and one for each pack that it sees otherwise."""
    share = 100 * result.agreed / (result.packs or 1)
    yield f"{result.key} {result.version}: {result.agreed}/{result.packs} {share:.2f} %"
    for each in result.disagreements:
        yield f"  {each}"


def keep(agreed: Agreed) -> Path:
    """Write the figures where the page finds them, and return that file.

    What is there of other loaders on the same packs stays.
    """
    agreed = agreed.joined(read_kept())
    data = {
        "checked": agreed.checked,
        "seed": agreed.seed,
        "without": agreed.without,
        "packs": agreed.packs,
        "loaders": dict(sorted(agreed.loaders.items())),
    }
    FILE.write_text(json.dumps(data, indent=1) + "\n", "utf-8", newline="\n")
    return FILE.relative_to(ROOT)


def read_kept() -> Agreed | None:
    """Return what was kept; None where nothing was."""
    if not FILE.exists():
        return None
    data: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    data["without"] = tuple((seed, count) for seed, count in data["without"])
    return Agreed(**data)
