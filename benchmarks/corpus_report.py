"""What the parser makes of a corpus: ``python -m benchmarks.corpus_report CORPUS``.

CORPUS is a gzipped file of JSON lines, as `benchmarks.corpus` reads it; each text is
parsed as the pack of its folder. Prints, as Markdown, how many packs are clean,
repaired and refused, by code; how often a second YAML 1.2 parser (yaml-rs, else
ruamel.yaml, whichever is installed) agrees with the values; and what parsing costs
next to the events of the C parser alone.

``--sample N`` prints N repaired packs instead, drawn in turn from each kind of repair
with a fixed seed, to be read by a person. Their list is
docs/contributing/repaired-200.md.
"""

from __future__ import annotations

import argparse
import datetime as dt
import random
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from yaml.cyaml import CParser
from yaml.error import YAMLError

from benchmarks.corpus import CorpusText, read_corpus
from satchel.skill_md import Parsed, find_span, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SEED = 20261121
# What the parser only remarks on; everything else is a repair.
REMARKS = {"name-not-folder", "name-too-long", "duplicate-key", "hidden-text"}
CHUNK = 400
ROUNDS = 5

Read = list[tuple[CorpusText, Parsed]]


def repairs(parsed: Parsed) -> list[str]:
    """Return the codes of what was repaired, in the order of the file."""
    return [f.code for f in parsed.findings if f.code not in REMARKS]


def summary(read: Read) -> Iterable[str]:
    """Yield the table of what became of the texts."""
    loaded = [(text, parsed) for text, parsed in read if parsed.manifest is not None]
    clean = sum(not repairs(parsed) for _, parsed in loaded)
    by_kind = Counter(code for _, parsed in loaded for code in set(repairs(parsed)))
    remarks = Counter(
        f.code for _, p in loaded for f in p.findings if f.code in REMARKS
    )
    reasons = Counter(p.findings[0].code for _, p in read if p.manifest is None)
    profiles = Counter(parsed.profile for _, parsed in loaded)
    yield f"| texts | {len(read)} |"
    yield "|---|---:|"
    yield f"| loaded, nothing to repair | {clean} |"
    yield f"| loaded, repaired | {len(loaded) - clean} |"
    for code, count in sorted(by_kind.items(), key=_by_count):
        yield f"| - `{code}` | {count} |"
    yield f"| refused, explained | {len(read) - len(loaded)} |"
    for code, count in sorted(reasons.items(), key=_by_count):
        yield f"| - `{code}` | {count} |"
    for code, count in sorted(remarks.items(), key=_by_count):
        yield f"| remarked on: `{code}` | {count} |"
    for profile, count in sorted(profiles.items(), key=_by_count):
        yield f"| matched profile `{profile}` | {count} |"


def _by_count(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def second_parser() -> tuple[str, Callable[[str], Any]] | None:
    """Return the name and the loader of a YAML 1.2 parser that is not ours."""
    try:
        import yaml_rs
    except ImportError:
        pass
    else:
        return f"yaml-rs {yaml_rs.__version__}", yaml_rs.loads
    try:
        import ruamel.yaml
    except ImportError:
        return None
    loader = ruamel.yaml.YAML(typ="safe", pure=True)
    return f"ruamel.yaml {ruamel.yaml.__version__}", loader.load


def agreement(read: Read, load: Callable[[str], Any]) -> Iterable[str]:
    """Yield how often the other parser gives the values that we give."""
    counts: Counter[str] = Counter()
    for text, parsed in read:
        span = find_span(text.data)
        if span is None:
            continue
        head = text.data[span.head : span.end].decode("utf-8", "replace")
        try:
            value = load(head)
        except Exception:  # noqa: BLE001 - another library's own errors
            counts["it refuses, we " + ("load" if parsed.manifest else "refuse")] += 1
            continue
        if parsed.manifest is None:
            counts[f"it reads, we refuse: {parsed.findings[0].code}"] += 1
        elif same(parsed.manifest.frontmatter, value):
            counts["equal"] += 1
        else:
            counts["different"] += 1
            sys.stderr.write(f"different: {text.id}\n")
    for outcome, count in sorted(counts.items(), key=_by_count):
        yield f"| {outcome} | {count} |"


def same(ours: Any, theirs: Any) -> bool:  # noqa: ANN401 - two parsers' values
    """Tell whether two values are equal, but for what the other adds to YAML 1.2.

    Both libraries also read dates, and numbers with underscores, which the core
    schema does not know; ``.inf`` and ``.nan`` are text with us, for JSON's sake.
    """
    if isinstance(theirs, dict):
        return (
            isinstance(ours, dict)
            and len(ours) == len(theirs)
            and all(map(same, ours.values(), theirs.values()))
            and all(isinstance(k, bool) or str(k) in ours for k in theirs)
        )
    if isinstance(theirs, list):
        return (
            isinstance(ours, list)
            and len(ours) == len(theirs)
            and all(map(same, ours, theirs))
        )
    if isinstance(theirs, dt.date):
        return isinstance(ours, str) and ours.startswith(str(theirs.year))
    if isinstance(theirs, int | float) and isinstance(ours, str):
        return "_" in ours or ours.lstrip("+-").lower() in {".inf", ".nan"}
    return type(ours) is type(theirs) and bool(ours == theirs)


def costs(texts: list[CorpusText]) -> Iterable[str]:
    """Yield microseconds a pack: the best of a few rounds, in small chunks."""
    files = [(text.data, text.dir) for text in texts]
    heads = [
        data[span.head : span.end]
        for data, _ in files
        if (span := find_span(data)) is not None
    ]
    yield f"| C parser's events alone, a frontmatter | {best(_events, heads):.1f} us |"
    yield f"| parse(), a pack | {best(_parse, files):.1f} us |"


def _events(head: bytes) -> None:
    try:
        get_event = CParser(head).get_event
        while get_event() is not None:
            pass
    except YAMLError:
        pass


def _parse(file: tuple[bytes, str]) -> None:
    parse(file[0], directory=file[1])


def best(run: Callable[[Any], None], items: list[Any]) -> float:
    """Return the mean time of one call, each chunk's best round counted."""
    total = 0.0
    for start in range(0, len(items), CHUNK):
        rounds: list[float] = []
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            for item in items[start : start + CHUNK]:
                run(item)
            rounds.append(time.perf_counter() - begun)
        total += min(rounds)
    return total / len(items) * 1e6


def sample(read: Read, size: int) -> Read:
    """Return repaired packs, in turn from each kind of repair, small kinds whole."""
    kinds: dict[str, Read] = defaultdict(list)
    for text, parsed in read:
        if parsed.manifest is not None and repairs(parsed):
            kinds[repairs(parsed)[0]].append((text, parsed))
    chance = random.Random(SEED)  # noqa: S311 - to be the same each time
    queues = [chance.sample(kinds[kind], len(kinds[kind])) for kind in sorted(kinds)]
    drawn: Read = []
    while any(queues) and len(drawn) < size:
        for queue in queues:
            if queue and len(drawn) < size:
                drawn.append(queue.pop())
    return sorted(drawn, key=lambda each: (repairs(each[1])[0], each[0].id))


def show(text: CorpusText, parsed: Parsed) -> Iterable[str]:
    """Yield what a person needs to judge one repair."""
    assert parsed.manifest is not None  # noqa: S101 - only what loaded is drawn
    yield f"## {text.id} {text.dir} {repairs(parsed)}"
    for finding in parsed.findings:
        if finding.code not in REMARKS:
            yield f"  {finding.line} - {finding.before!r}"
            yield f"  {finding.line} + {finding.after!r}"
    yield f"  = {parsed.manifest.name!r}: {parsed.manifest.description!r}"
    yield f"    fields {list(parsed.manifest.frontmatter)}"


def main() -> None:
    """Print the report, or the sample."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--sample", type=int, default=0, metavar="N")
    options = parser.parse_args()
    texts = list(read_corpus(options.corpus))
    read = [(text, parse(text.data, directory=text.dir)) for text in texts]
    if options.sample:
        for text, parsed in sample(read, options.sample):
            print("\n".join(show(text, parsed)))
        return
    print("\n".join(summary(read)))
    other = second_parser()
    if other is not None:
        print(f"\n| frontmatter as {other[0]} reads it | |\n|---|---:|")
        print("\n".join(agreement(read, other[1])))
    print("\n| cost | |\n|---|---:|")
    print("\n".join(costs(texts)))


if __name__ == "__main__":
    main()
