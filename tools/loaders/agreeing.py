"""Compare what is predicted with what loaders do, on packs nobody made for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from satchel_lab.clients import Loader, PackReader, read_measured
from satchel_lab.clients._loaders import predict_for
from satchel_lab.clients._properties import PLAIN, properties_in
from satchel_lab.conformance._cases import expected_of, judge
from tools.loaders.looking import look

if TYPE_CHECKING:
    from collections.abc import Sequence

    from satchel_lab.clients import Candidate, LoaderVerdict
    from satchel_lab.clients._loaders import LoaderData
    from tools.loaders.driver import Driver


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One pack of which one loader makes something else than was predicted."""

    folder: str
    properties: tuple[str, ...]
    predicted: LoaderVerdict
    reasons: tuple[str, ...]
    real: LoaderVerdict
    error: str

    def __str__(self) -> str:
        """Return one line."""
        why = f" ({', '.join(self.reasons)})" if self.reasons else ""
        said = f"; it said {self.error[:120]!r}" if self.error else ""
        has = ", ".join(self.properties) or PLAIN
        return (
            f"{self.folder!a} [{has}]: predicted {self.predicted}{why}, is"
            f" {self.real}{said}"
        )


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often both agreed for one loader."""

    key: str
    version: str
    packs: int
    disagreements: tuple[Disagreement, ...] = field(default=())

    @property
    def agreed(self) -> int:
        """On how many packs."""
        return self.packs - len(self.disagreements)


def agree(driver: Driver, packs: Sequence[Candidate]) -> Agreement:
    """Run one loader over the packs, and compare.

    Raises:
        UnavailableError: It cannot be had or run here.
        LookupError: It has not been measured.
    """
    version = driver.prepare()
    entry = read_measured().loaders.get(driver.key)
    if entry is None:
        raise LookupError(f"run `python -m tools.loaders measure {driver.key}` first")
    differing: list[Disagreement] = []
    for pack, seen in zip(
        packs, look(driver, packs, with_neighbours=True), strict=True
    ):
        real = judge(seen.found, expected_of(pack)).verdict
        reading = PackReader(pack)
        keys = properties_in(reading)
        predicted = predict_for(
            _loader(driver, entry), entry, keys or (PLAIN,), reading
        )
        if predicted.verdict != real:
            differing.append(
                Disagreement(
                    pack.folder,
                    keys,
                    predicted.verdict,
                    predicted.reasons,
                    real,
                    seen.error,
                )
            )
    return Agreement(driver.key, version, len(packs), tuple(differing))


def _loader(driver: Driver, entry: LoaderData) -> Loader:
    return Loader(
        driver.key,
        driver.title,
        entry.version,
        entry.kind,
        entry.checked,
        "measured",
        entry.source,
    )
