"""Try loaders as their maintainers can, and write the page for them."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections import Counter
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.peers._catalog import HERE
from satchel_lab.clients import PROPERTIES, Candidate, PackReader, read_measured
from satchel_lab.clients._properties import properties_in
from satchel_lab.conformance import check_loader
from satchel_lab.conformance._cases import ShownPack, all_cases, shown_of
from satchel_lab.conformance._check import LoaderNotRunError, LoaderProcess
from satchel_lab.conformance._packs import PACKS
from satchel_lab.conformance._report import (
    CONTRACT,
    FLAWS,
    VERDICTS,
    CaseResult,
    LoaderReport,
)
from satchel_lab.hostile import CannotMake
from tools.loaders.driver import UnavailableError
from tools.loaders.known import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tools.loaders.drivers.peers import PeerDriver

FILE: Final = ROOT / "tools" / "loaders" / "conformance.json"
FINDINGS: Final = ROOT / "docs" / "reference" / "loader-findings.md"
_LIBRARY_S: Final = 60.0
_LIST: Final = re.compile(r"\[((?:\n\s+\"(?:[^\"\\\n]|\\.)*\",?)+)\n\s+\]")
_BREAK: Final = re.compile(r"\n\s+")

_HEAD: Final = """# What loaders do to a library

For maintainers of loaders: what was found of yours, each with the smallest pack that
shows it and the fix. Each loader was given {packs} small or hostile packs, one by one,
next to good packs. `pytest --satchel-loader module:function` does the same with a
version that you are working on, in less than a minute:
[test a loader](../how-to/test-a-loader.md).

`python -m tools.loaders report` makes this page; do not edit it. Each loader is called
as its documentation loads a folder, with its defaults. Where its public API makes no
prompt, none was looked at, so one that leaks there looks better than it is. A pack that
a loader may refuse, by the specification, counts only where the loader does not say so,
or where a good pack suffers from it. A program may clean a prompt later. The machine
had two cores and other work to do: a pack that *hangs* had two seconds of work, or four
to wait, so what is large (`bomb`) may only be slow.

"""

_FIELDS: Final = {
    "tools-text": "the specification has `allowed-tools` as a text with spaces; take "
    "it, and a list too",
    "tools-list": "take a list, too: many packs are written for clients that do",
    "tools-commas": "the specification has `allowed-tools` as a text; take it, "
    "whatever separates the tools",
    "compatibility-text": "the specification has `compatibility` as a text; take it",
    "name-not-folder": "warn, and list the pack under its `name`",
    "unknown-field": "ignore a field that you do not know",
}


@dataclass(frozen=True, slots=True)
class LibraryRun:
    """What a loader made of a public library: nothing of the library but numbers.

    ``guilty`` counts the packs that fail alone, too, by the property that does it.
    """

    packs: int
    listed: int
    guilty: dict[str, int]


def report(driver: PeerDriver, libraries: Path | None) -> str:
    """Try one loader, write what came of it, and return its score.

    Raises:
        UnavailableError: It cannot be had or run here.
    """
    version = driver.prepare()
    file = HERE / f"{driver.peer.name}.py"
    has_prompt = "def catalog(" in file.read_text("utf-8")
    target = f"{file}:discover" + (f",{file}:catalog" if has_prompt else "")
    python = str(driver.folder / "bin" / "python")
    data: dict[str, Any] = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    old: dict[str, Any] = data.get(driver.key, {})
    runs: list[dict[str, Any]] = old.get("libraries", [])
    try:
        done = check_loader(target, python=python)
        if libraries is not None:
            runs = [
                asdict(run) for run in _libraries(driver, target, python, libraries)
            ]
    except LoaderNotRunError as error:
        raise UnavailableError(str(error)) from error
    data[driver.key] = {
        "title": driver.title,
        "version": version,
        "checked": datetime.now(UTC).date().isoformat(),
        "source": driver.source,
        "packs": len(done.results),
        "shows_prompt": done.shows_prompt,
        "alone": dict(done.alone),
        "failed": {
            result.name: [result.flaw, result.detail, _line(result)]
            for result in done.results
            if result.flaw
        },
        "libraries": runs,
    }
    keep(data)
    return done.score


def keep(data: dict[str, Any]) -> None:
    """Write what was found, a line for each pack."""
    text = json.dumps(dict(sorted(data.items())), indent=1)
    FILE.write_text(_LIST.sub(_on_one_line, text) + "\n", "utf-8")


def _on_one_line(match: re.Match[str]) -> str:
    return f"[{_BREAK.sub(' ', match[1].strip())}]"


def _line(result: CaseResult) -> str:
    """Return where it raised; not where our own call did so for the loader."""
    return "" if result.where.startswith("benchmarks/") else result.where


def _libraries(
    driver: PeerDriver, target: str, python: str, libraries: Path
) -> Iterator[LibraryRun]:
    """Give it each library, one level deep, and each pack of those that it loses."""
    verdicts = read_measured().loaders[driver.key].verdicts
    call = target.partition(",")[0]
    with (
        tempfile.TemporaryDirectory(prefix="libraries-") as home,
        closing(LoaderProcess(call, python=python, timeout_s=_LIBRARY_S)) as process,
    ):
        for source in sorted(libraries.iterdir()):
            library = Path(home, source.name)
            library.mkdir()
            for file in sorted(source.rglob("SKILL.md")):
                _copy(file, library / file.parent.name)
            packs = sorted(library.iterdir())
            listed = len(process.ask(library).listed)
            guilty: Counter[str] = Counter()
            if not listed:
                for pack in packs:
                    alone = Path(home, "alone")
                    _copy(pack / "SKILL.md", alone / pack.name)
                    if not process.ask(alone).listed:
                        guilty[_blamed(pack, verdicts)] += 1
                    shutil.rmtree(alone)
            yield LibraryRun(len(packs), listed, dict(sorted(guilty.items())))


def _copy(file: Path, folder: Path) -> None:
    if file.is_file() and not folder.exists():
        folder.mkdir(parents=True)
        shutil.copyfile(file, folder / "SKILL.md")


def _blamed(pack: Path, verdicts: Any) -> str:  # noqa: ANN401
    """Return the first property of a pack that is known to break neighbours."""
    candidate = Candidate((pack / "SKILL.md").read_bytes(), pack.name)
    keys = properties_in(PackReader(candidate))
    worst = [key for key in keys if verdicts.get(key) == "breaks-neighbours"]
    return (worst or [*keys] or ["plain"])[0]


def write() -> Path:
    """Write the page from what was found."""
    FINDINGS.write_text(render(json.loads(FILE.read_text("utf-8"))), "utf-8")
    return FINDINGS


def render(data: dict[str, Any]) -> str:
    """Return the page."""
    shown = _Shown({name for entry in data.values() for name in entry["failed"]})
    reports = {key: shown.report(entry) for key, entry in data.items()}
    order = sorted(reports, key=lambda key: (-reports[key].passed, key))
    lines = [_HEAD.format(packs=max(entry["packs"] for entry in data.values()))]
    lines += [*_first(data), *_summary(data, reports, order)]
    for key in order:
        entry = data[key]
        title = f"{entry['title']} {entry['version']}"
        lines += ["", reports[key].to_markdown(title=title, level=2).rstrip()]
    return "\n".join(lines) + "\n"


def _first(data: dict[str, Any]) -> Iterator[str]:
    """Yield the worst: what one field of one pack costs in public libraries."""
    yield "## Begin here: one field of one pack takes all others along\n"
    yield (
        "These loaders list nothing of a library where some packs, or a single one, are"
        " not as they expect. *Lost* are packs that load when each is alone. The"
        " libraries are ten public ones; nothing of them is here. A pack that has"
        " several properties counts for the first that breaks the loader.\n"
    )
    yield "| loader | library of | packs that fail alone | lost with them | they have |"
    yield "|---|--:|--:|--:|---|"
    blamed: Counter[str] = Counter()
    rows: list[tuple[bool, int, str]] = []
    for entry in data.values():
        for run in entry["libraries"]:
            bad = sum(run["guilty"].values())
            if run["listed"] or not 0 < bad < run["packs"]:
                continue
            blamed.update(run["guilty"].keys())
            keys = ", ".join(f"{n} `{key}`" for key, n in run["guilty"].items())
            lost = run["packs"] - bad
            cells = f"{run['packs']} | {bad} | {lost} | {keys} |"
            rows.append(
                (bad > 1, -lost, f"| {entry['title']} {entry['version']} | {cells}")
            )
    yield from (row for _, _, row in sorted(rows))
    yield (
        "\n**Fix, for all of them:** "
        f"{FLAWS['raises'].fix}. A validator may be strict; a loader that raises for a"
        " whole folder makes each author of a pack able to switch off all others.\n"
    )
    yield "The smallest packs that do it, each next to any number of good ones:\n"
    for key, _ in blamed.most_common():
        if key not in PROPERTIES:
            continue
        pack = PACKS[key][0]
        head = pack.data.decode("utf-8", "replace").partition("\n\n")[0].splitlines()
        block = [f"{pack.folder}/{pack.file}:", *(ascii(line)[1:-1] for line in head)]
        more = _FIELDS.get(key, "leave this one out, with a warning")
        yield f"- `{key}`: {PROPERTIES[key].about}. Here: {more}.\n"
        yield "\n".join(["  ````text", *(f"  {line}" for line in block), "  ````\n"])


def _summary(
    data: dict[str, Any], reports: dict[str, LoaderReport], order: Sequence[str]
) -> Iterator[str]:
    yield "## All loaders\n"
    verdicts = [verdict for verdict in VERDICTS if verdict != CONTRACT]
    yield f"| loader | version | passed | {' | '.join(verdicts)} | prompt |"
    yield f"|---|---|--:|{'--:|' * len(verdicts)}---|"
    for key in order:
        entry, one = data[key], reports[key]
        counts = " | ".join(str(one.counts.get(verdict, 0)) for verdict in verdicts)
        prompt = "looked at" if one.shows_prompt else "no"
        yield (
            f"| {entry['title']} | {entry['version']} | {one.score} | {counts} |"
            f" {prompt} |"
        )


class _Shown:
    """The packs that some loader fails, made again for the page."""

    def __init__(self, names: set[str]) -> None:
        """Make those of these names."""
        self._packs: dict[str, CaseResult] = {}
        for case in all_cases():
            if case.name not in names:
                continue
            pack = ShownPack()
            if not case.name.startswith("tree/"):  # thousands of files, and no text
                with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
                    try:
                        library = case.write(Path(home), with_neighbours=True)
                    except CannotMake:
                        continue
                    pack = shown_of(library, case)
            self._packs[case.name] = CaseResult(
                case.name, case.about, "", text=pack.text, size_bytes=pack.size_bytes
            )

    def report(self, entry: dict[str, Any]) -> LoaderReport:
        """Return the report of a loader as it was."""
        failed = [
            replace(self._packs[name], flaw=flaw, detail=detail, where=where)
            for name, (flaw, detail, where) in entry["failed"].items()
            if name in self._packs
        ]
        passed = [CaseResult("", "", "")] * (entry["packs"] - len(failed))
        return LoaderReport(
            entry["source"],
            "",
            (*failed, *passed),
            shows_prompt=entry["shows_prompt"],
            alone=entry["alone"],
        )
