"""Draw findings and show how they were judged: ``python -m tools.judging``.

write CORPUS FOLDER HALF   write the packs of a half (`written`, `unseen`) into FOLDER
draw FOLDER OUT [CODE..]   draw findings; write OUT/CODE.md for each code that has some
table                      write docs/contributing/judged-findings.md
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final, cast

from tools.judging.drawing import draw, page
from tools.judging.halves import Half, write_half
from tools.judging.judged import PAGE, read_judgements, render

SEED: Final = 24


def main(arguments: list[str]) -> int:
    """Run one command."""
    parser = argparse.ArgumentParser(
        "python -m tools.judging",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=("write", "draw", "table"))
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_intermixed_args(arguments)
    rest: list[str] = options.rest
    if options.command == "write":
        corpus, folder, half = rest
        write_half(Path(corpus), Path(folder), cast("Half", half))
    elif options.command == "draw":
        folder, out, *codes = rest
        _draw(Path(folder), Path(out), codes, options.seed)
    else:
        PAGE.write_text(render(read_judgements()), "utf-8", newline="\n")
    return 0


def _draw(folder: Path, out: Path, codes: list[str], seed: int) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for code, drawn in draw(folder, seed, codes).items():
        print(f"{len(drawn):4}  {code}")
        if drawn:
            (out / f"{code}.md").write_text(page(code, drawn, folder), "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
