"""What a catalogued pack of one file costs in memory, by tracemalloc after gc."""

from __future__ import annotations

import gc
import subprocess
import sys
import tracemalloc
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Final

from benchmarks.measure import Bar, Spread, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.library import Library

# Behind these lies the whole program.
_CODE: Final = (type, ModuleType, FunctionType)
LIMIT_BYTES: Final = 3_000
# A body that is held would be a block of its own, nearly always larger than this.
LARGE_BYTES: Final = 4_096


def run(library: Library) -> list[Bar]:
    """Measure in a process of its own, print the table, return the bar."""
    command = [sys.executable, "-m", "benchmarks.memory", str(library.folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    packs, held, large, body = map(int, done.stdout.split())
    print(f"## Memory of {packs:,} packs\n")
    each = held / packs
    print(
        table(
            ("", "bytes"),
            (
                ("held for each pack", f"{each:,.0f}"),
                ("a SKILL.md on average", f"{body / packs:,.0f}"),
                (f"held in texts over {LARGE_BYTES:,} bytes", f"{large:,}"),
            ),
        )
    )
    spread = Spread.of([each / LIMIT_BYTES])
    return [Bar(f"memory for each pack, over {LIMIT_BYTES:,} bytes", 1, spread)]


def main(folder: str) -> None:
    """Print packs, bytes held, bytes of large texts among them, bytes on disk."""
    from satchel import Satchel

    files = list(Path(folder).glob("*/*/SKILL.md"))
    on_disk = sum(file.stat().st_size for file in files)
    packs = len(files)
    del files
    # Once on one pack, so that what is imported on first use does not count.
    Satchel(next(Path(folder).glob("*/*"))).prompt()
    gc.collect()
    tracemalloc.start()
    skills = Satchel(folder)
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    large = sum(size for size in _text_sizes(skills) if size > LARGE_BYTES)
    skills.close()
    print(packs, held, large, on_disk)


def _text_sizes(root: object) -> Iterator[int]:
    """Yield the size of each text and each bytes that ``root`` leads to."""
    pending, seen = [root], {id(root)}
    while pending:
        for each in gc.get_referents(pending.pop()):
            if id(each) not in seen and not isinstance(each, _CODE):
                seen.add(id(each))
                pending.append(each)
                if isinstance(each, (str, bytes)):
                    yield sys.getsizeof(each)


if __name__ == "__main__":
    main(sys.argv[1])
