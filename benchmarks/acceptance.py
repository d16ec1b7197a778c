"""What loaders make of a corpus: ``python -m benchmarks.acceptance CORPUS [peers]``.

CORPUS is a gzipped file of JSON lines, as `benchmarks.corpus` reads it. Each text is
written into a folder of its own, and each loader discovers those folders one by one.
An independent YAML 1.2 parser (yaml-rs, else ruamel.yaml, whichever is installed) says
what is right. The texts fall into three groups:

- valid: it reads a name and a description in the frontmatter. A loader's description
  is right, a beginning of the right one (cut), or another or empty one (wrong).
- no YAML: it refuses the frontmatter. There is no right answer that a program could
  give, so the description is compared with Satchel's.
- rest: there is no frontmatter between two fences, or one of the two is missing in it.

Descriptions are compared with their white space folded. The table is Markdown.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.corpus import CorpusText, read_corpus, write_corpus
from benchmarks.corpus_report import second_parser
from benchmarks.peers._catalog import Peer, choose
from benchmarks.peers._process import Outcome, run_peer
from satchel.skill_md import find_span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

OURS: Final = "satchel"
PEERS: Final = (
    "skills_ref",
    "strands",
    "agno_lenient",
    "deepagents",
    "crewai",
    "fastmcp",
)
TIMEOUT_S: Final = 900.0
HEAD: Final = (
    *("loader", "version", "loaded", "share"),
    *("valid: right", "cut", "wrong", "not loaded"),
    *("no YAML: as Satchel", "otherwise", "not loaded"),
    "rest: loaded",
)


class Kind(StrEnum):
    """The group of a text."""

    VALID = "valid"
    INVALID = "no YAML"
    REST = "rest"


@dataclass(frozen=True, slots=True)
class Truth:
    """A text's group, and the right name and description where it is valid."""

    kind: Kind
    name: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many texts one loader got where; `HEAD` names the groups."""

    loader: str
    version: str
    counts: Counter[tuple[Kind, str]]

    def row(self) -> tuple[str, ...]:
        """Return a row of the table."""
        loaded = sum(n for (_, mark), n in self.counts.items() if mark != "not loaded")
        columns = (
            *((Kind.VALID, mark) for mark in ("right", "cut", "wrong", "not loaded")),
            *((Kind.INVALID, mark) for mark in ("as ours", "otherwise", "not loaded")),
            (Kind.REST, "loaded"),
        )
        return (
            self.loader,
            self.version,
            f"{loaded:,}",
            f"{loaded / self.counts.total():.1%}",
            *(f"{self.counts[column]:,}" for column in columns),
        )


def judge(text: CorpusText, load: Callable[[str], Any]) -> Truth:
    """Return what an independent parser makes of a text's frontmatter."""
    span = find_span(text.data)
    if span is None:
        return Truth(Kind.REST)
    head = text.data[span.head : span.end].decode("utf-8", "replace")
    try:
        value = load(head)
    except Exception:  # noqa: BLE001 - another library's own errors
        return Truth(Kind.INVALID)
    if not isinstance(value, dict):
        return Truth(Kind.REST)
    asked = [value.get(key) for key in ("name", "description")]
    texts = [fold(each) for each in asked if isinstance(each, str)]
    return Truth(Kind.VALID, *texts) if all(texts) and texts[1:] else Truth(Kind.REST)


def fold(text: str) -> str:
    """Return a text with its white space folded and stripped."""
    return " ".join(text.split())


def by_folder(outcome: Outcome) -> dict[str, str]:
    """Return folder to description; each folder has one pack."""
    return {
        found.partition("/")[0]: fold(description)
        for found, description in outcome.found.items()
    }


def tally(
    peer: Peer,
    outcome: Outcome,
    truths: Mapping[str, Truth],
    ours: Mapping[str, str],
) -> Tally:
    """Count one loader's results; ``ours`` are Satchel's, by folder."""
    found = by_folder(outcome)
    counts = Counter(
        (truth.kind, mark(truth, found.get(folder), ours.get(folder)))
        for folder, truth in truths.items()
    )
    return Tally(peer.name, outcome.version or "?", counts)


def mark(truth: Truth, found: str | None, ours: str | None) -> str:
    """Return which column a description belongs in; None is none at all."""
    if found is None:
        return "not loaded"
    if truth.kind is Kind.REST:
        return "loaded"
    if truth.kind is Kind.INVALID:
        return "as ours" if found == ours else "otherwise"
    if found == truth.description:
        return "right"
    start = found.removesuffix("...").rstrip()
    return "cut" if start and truth.description.startswith(start) else "wrong"


def write_library(corpus: Path, library: Path, truths: dict[str, Truth]) -> None:
    """Write the texts, and forget about those that cannot be."""
    for identity, reason in write_corpus(corpus, library).skipped:
        sys.stderr.write(f"skipped {identity!a}: {reason!a}\n")
        del truths[identity]


def rename_packs(library: Path, truths: Mapping[str, Truth]) -> None:
    """Name the folder of each valid pack as the pack, where it can be a file's name."""
    for identity, truth in truths.items():
        (pack,) = (library / identity).iterdir()
        if truth.name and CorpusText(identity, truth.name, "").unsafe() is None:
            pack.rename(pack.with_name(truth.name))


def run(library: Path, peers: Iterable[Peer]) -> Iterator[tuple[Peer, Outcome]]:
    """Yield how each peer did; one that came to no end is reported, and left out."""
    for peer in peers:
        outcome = run_peer(peer.name, library, TIMEOUT_S, form="each")
        if outcome.error is None:
            yield peer, outcome
        else:
            sys.stderr.write(f"{peer.name}: {outcome.error!a}\n")


def render(tallies: Iterable[Tally]) -> Iterator[str]:
    """Yield the lines of the table."""
    rows = [HEAD, ("---", "---", *["--:"] * (len(HEAD) - 2))]
    for row in (*rows, *(each.row() for each in tallies)):
        yield f"| {' | '.join(row)} |"


def main() -> None:
    """Write the corpus, run the loaders, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("peers", nargs="*", help=f"unless named: {', '.join(PEERS)}")
    parser.add_argument(
        "--rename",
        action="store_true",
        help="name each valid pack's folder as the pack, not as the corpus does",
    )
    options = parser.parse_args()
    second = second_parser()
    if second is None:
        parser.error("this needs yaml-rs or ruamel.yaml")
    peers = choose([OURS, *(options.peers or PEERS)])
    absent = [peer.name for peer in peers if not peer.is_installed]
    if absent:
        parser.error(f"not installed: {', '.join(absent)}")
    truths = {text.id: judge(text, second[1]) for text in read_corpus(options.corpus)}
    with tempfile.TemporaryDirectory(prefix="satchel-acceptance-") as folder:
        library = Path(folder, "library")
        write_library(options.corpus, library, truths)
        if options.rename:
            rename_packs(library, truths)
        outcomes = dict(run(library, peers))
    ours = next((by_folder(o) for peer, o in outcomes.items() if peer.is_ours), {})
    kinds = Counter(truth.kind for truth in truths.values())
    sizes = ", ".join(f"{kinds[kind]:,} {kind}" for kind in Kind)
    print(f"{len(truths):,} texts; as {second[0]} reads them: {sizes}.\n")
    tallies = [tally(peer, each, truths, ours) for peer, each in outcomes.items()]
    print("\n".join(render(tallies)))


if __name__ == "__main__":
    main()
