"""Write a corpus of packs to disk: ``python -m benchmarks.corpus CORPUS FOLDER``.

CORPUS is a gzipped file of JSON lines, each with ``id``, ``dir`` and ``text``; each
becomes ``FOLDER/<id>/<dir>/SKILL.md``. An empty ``dir`` is a pack that is at the root
of its repository: it becomes ``FOLDER/<id>/SKILL.md``. The texts are other people's:
they are data, and no part of this repository.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# NAME_MAX of the common Linux file systems.
MAX_NAME_BYTES = 255
# Names that one system or another reads as something else than a plain file name.
_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]|^\.{1,2}$|^$|[. ]$')
# The name in a frontmatter, plain or in quotes.
_NAME = re.compile(r"(?m)^(name:[ ]*[\"']?[^\s\"'#]+)")


@dataclass(frozen=True, slots=True)
class CorpusText:
    """One line of the corpus: whose it is, its directory's name, its SKILL.md."""

    id: str
    dir: str
    text: str

    @property
    def data(self) -> bytes:
        """The file's bytes; lone surrogates stay, as the three bytes they were."""
        return self.text.encode("utf-8", "surrogatepass")

    def unsafe(self) -> str | None:
        """Return why this line names no file that can be written, if so."""
        for field, name in (("id", self.id), ("dir", self.dir or "root")):
            if _UNSAFE.search(name):
                return f"{field} {name!r} is no plain file name"
            if len(name.encode("utf-8", "surrogatepass")) > MAX_NAME_BYTES:
                return f"{field} is over {MAX_NAME_BYTES} bytes"
        return None

    def again(self, turn: int) -> CorpusText:
        """Return the same text under other names; the first one is turn 0."""
        if not turn:
            return self
        suffix = f"-{turn + 1}"
        name = _NAME.sub(rf"\g<1>{suffix}", self.text, count=1)
        # A name has at most 255 bytes, and a character at most four.
        return CorpusText(self.id + suffix, self.dir and self.dir[:60] + suffix, name)


@dataclass(frozen=True, slots=True)
class Written:
    """How many packs were written, and for each other one its id and the reason."""

    packs: int
    skipped: tuple[tuple[str, str], ...]


def read_corpus(path: Path) -> Iterator[CorpusText]:
    """Yield the lines in their order."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            yield CorpusText(entry["id"], entry["dir"], entry["text"])


def write_corpus(corpus: Path, folder: Path, count: int | None = None) -> Written:
    """Write each text as ``folder/<id>/<dir>/SKILL.md``; see the module.

    With ``count`` there are so many: the texts in their order, again and again, each
    time under other names. ``folder`` must not exist, so that nothing is written
    through a link in it.

    Raises:
        FileExistsError: ``folder`` is there already.
    """
    folder.mkdir(parents=True)
    packs = 0
    skipped: list[tuple[str, str]] = []
    entries = list(read_corpus(corpus))
    for number in range(len(entries) if count is None else count):
        turn, place = divmod(number, len(entries))
        entry = entries[place].again(turn)
        reason = entry.unsafe()
        if reason is None:
            pack = folder / entry.id / entry.dir
            try:
                pack.mkdir(parents=True)
                (pack / "SKILL.md").write_bytes(entry.data)
            except (OSError, UnicodeError) as error:
                reason = str(error)
        if reason is None:
            packs += 1
        else:
            skipped.append((entry.id, reason))
    return Written(packs, tuple(skipped))


def main() -> None:
    """Write, and say what was skipped."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("folder", type=Path, help="must not exist")
    options = parser.parse_args()
    written = write_corpus(options.corpus, options.folder)
    for identity, reason in written.skipped:
        sys.stderr.write(f"skipped {identity!a}: {reason!a}\n")
    print(f"{written.packs} packs written, {len(written.skipped)} skipped")


if __name__ == "__main__":
    main()
