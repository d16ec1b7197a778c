"""Fix just the lines that ``satchel predict`` names first, and count."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from satchel_lab.checking import plan_repairs, predict_library

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from satchel_lab.checking import LineRepair
    from tools.loaders.driver import Driver

GOOD: Final = "description: Use when words are counted."
# A line that loaders mind, and what it is once it is fixed as it is said.
FIXED: Final = {
    "description: Use when: words are counted.": (
        'description: "Use when: words are counted."'
    ),
    "description: [fast] use it.": 'description: "[fast] use it."',
    "license: ": "",
    "author: ana": "metadata:\n  author: ana",
}
GOOD_PACKS: Final = 9


@dataclass(frozen=True, slots=True)
class Repaired:
    """How many skills one loader lists before and after, and how many were promised."""

    key: str
    before: int
    after: int
    promised: int

    @property
    def is_kept(self) -> bool:
        """Whether just that came back."""
        return self.after - self.before == self.promised

    def __str__(self) -> str:
        """Return one line."""
        kept = "kept" if self.is_kept else "NOT KEPT"
        return (
            f"{self.key}: {self.before} skills before, {self.after} after; "
            f"{self.promised} promised: {kept}"
        )


def repair(drivers: Sequence[Driver]) -> Iterator[Repaired]:
    """Write a library, fix the lines that are named, and ask each loader twice.

    Raises:
        UnavailableError: A loader cannot be had or run here.
    """
    with tempfile.TemporaryDirectory() as home:
        library = Path(home) / "library"
        write_packs(library)
        before = [count(driver, library) for driver in drivers]
        keys = [driver.key for driver in drivers]
        plan = plan_repairs(predict_library([str(library)], keys))
        for one in plan.lines:
            print(f"{Path(one.path).relative_to(library)}:{one.line}: {one.fixes}")
            fix(one)
        for driver, listed in zip(drivers, before, strict=True):
            promised = plan.back.get(driver.key, 0)
            yield Repaired(driver.key, listed, count(driver, library), promised)


def write_packs(library: Path) -> None:
    """Write good packs, and one for each line that can be fixed."""
    heads = [GOOD] * GOOD_PACKS + [
        line if line.startswith("description") else f"{GOOD}\n{line}" for line in FIXED
    ]
    for number, head in enumerate(heads):
        name = f"pack-{number}"
        (library / name).mkdir(parents=True)
        text = f"---\nname: {name}\n{head}\n---\n# Count\n\nCount the words.\n"
        (library / name / "SKILL.md").write_text(text, "utf-8")


def fix(one: LineRepair) -> None:
    """Change the line as it is said, and nothing else."""
    path = Path(one.path)
    lines = path.read_text("utf-8").splitlines()
    lines[one.line - 1] = FIXED[lines[one.line - 1]]
    path.write_text("\n".join([*lines, ""]), "utf-8")


def count(driver: Driver, library: Path) -> int:
    """Return how many skills of the library a loader lists."""
    driver.prepare()
    (seen,) = driver.look([library])
    return len({name for name, _ in seen.found})
