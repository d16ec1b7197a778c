"""How often is a finding on a good pack wrong?

``python -m benchmarks good_packs --libraries DIR``. DIR holds public libraries,
``<owner>+<name>/<path as in the repository>``, each with ``ALL-PATHS.txt.gz``, which
lists every path of its repository. What an archive left out is laid out as an empty
file, so that a link to it leads somewhere; findings in such a file are not counted.

Each finding is judged by a program of its own (`benchmarks.good_judges`), which reads
with other parsers than Satchel. Of a code that no program judges, a person reads a
sample: ``--show CODE`` prints one, and `READ` keeps what came of it.
"""

from __future__ import annotations

import gzip
import random
import shutil
import tempfile
from collections import Counter, defaultdict
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.good_judges import JUDGES, Judged, Library
from benchmarks.measure import table
from satchel_lab.checking import check

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from satchel.model import Finding

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "lint-rules.md"
HEAD: Final = "## On good packs\n"
LEAST: Final = 10
"""Findings from which on a code is judged."""
SHOWN: Final = 60

READ: Final[dict[str, tuple[int, int]]] = {
    "description-lacks-when": (189, 1),
    "unpinned-command": (39, 0),
}
"""Code to how many findings a person read, and how many of these were wrong."""


class Row(NamedTuple):
    """What came of one code: ``how`` it was judged, and how many findings are wrong."""

    code: str
    findings: int
    how: str
    judged: int
    wrong: int


def run(folder: Path, *, show: str = "", write: bool = False) -> None:
    """Check every pack below ``folder``, judge what is said, and print a table."""
    rows, packs, wrong = measure(folder, show)
    text = render(rows, packs)
    if write:
        page = PAGE.read_text("utf-8")
        before, _, rest = page.partition(HEAD)
        after = rest[rest.index("\n## ") + 1 :] if "\n## " in rest else ""
        whole = f"{before.rstrip()}\n\n{HEAD}\n{text}\n{after}"
        PAGE.write_text(whole.rstrip() + "\n", "utf-8")
    else:
        print(text)
    for line in wrong:
        print(line)


def measure(folder: Path, show: str = "") -> tuple[list[Row], int, list[str]]:
    """Return a row a code, the number of packs, and a line for each wrong finding."""
    found: dict[str, list[tuple[Finding, Judged | None]]] = defaultdict(list)
    packs, wrong = 0, []
    for source in sorted(each for each in folder.iterdir() if each.is_dir()):
        with laid_out(source) as library:
            report = check([str(pack) for pack in library.packs])
            packs += report.packs
            for finding in report.findings:
                if Path(finding.path) in library.stubs:
                    continue
                judge = JUDGES.get(finding.code)
                verdict = judge(finding, library) if judge else None
                found[finding.code].append((finding, verdict))
                if verdict == "wrong" or finding.code == show:
                    place = library.named(finding)
                    wrong.append(f"- {verdict}: {place}: {finding.message}")
    rows = [_row(code, each) for code, each in found.items()]
    if show:
        random.Random(1).shuffle(wrong)  # noqa: S311 - the same sample each time
    return sorted(rows, key=lambda row: (-row.findings, row.code)), packs, wrong[:SHOWN]


def _row(code: str, found: Sequence[tuple[Finding, Judged | None]]) -> Row:
    counts = Counter(verdict for _, verdict in found)
    if code in JUDGES:
        judged = counts["right"] + counts["wrong"]
        return Row(code, len(found), "program", judged, counts["wrong"])
    if code in READ:
        return Row(code, len(found), "read", *READ[code])
    return Row(code, len(found), "", 0, 0)


def render(rows: Sequence[Row], packs: int) -> str:
    """Return the section of the page."""
    many = [row for row in rows if row.findings >= LEAST]
    few = [row for row in rows if row.findings < LEAST]
    body = table(
        ("code", "findings", "judged by", "judged", "wrong"),
        (
            (
                row.code,
                f"{row.findings:,}",
                row.how or "nobody",
                f"{row.judged:,}",
                f"{100 * row.wrong / row.judged:.1f} %" if row.judged else "",
            )
            for row in many
        ),
    )
    rest = ", ".join(f"{row.code} {row.findings}" for row in few)
    return (
        f"Findings of `satchel check` on {packs:,} packs of ten public libraries, and "
        "the share of them that is\nwrong. Made by `python -m benchmarks good_packs`, "
        "which judges with parsers and file lookups of its own;\nof what no program "
        "can judge findings were read one by one.\n\n"
        f"{body}\nFewer than {LEAST} findings: {rest}.\n"
    )


@contextmanager
def laid_out(source: Path) -> Iterator[Library]:
    """Copy a library to a place of its own, with what its archive left out."""
    with tempfile.TemporaryDirectory(prefix="satchel-good-") as folder:
        root = Path(folder, source.name)
        shutil.copytree(source, root, symlinks=True)
        listed = gzip.decompress((source / "ALL-PATHS.txt.gz").read_bytes())
        paths = listed.decode("utf-8").splitlines()
        packs = sorted({path.parent for path in root.rglob("SKILL.md")})
        stubs = [root / path for path in paths if not (root / path).exists()]
        for stub in stubs:
            if stub.name != "SKILL.md":
                stub.parent.mkdir(parents=True, exist_ok=True)
                stub.touch()
        yield Library(root, frozenset(paths), frozenset(packs), frozenset(stubs))
