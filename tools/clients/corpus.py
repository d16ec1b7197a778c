"""MCP Inspector verifies a whole library of other people's skills.

The library is not ours to keep: its place is given, and it is unpacked for one run.
Another reader of YAML says which packs are valid; all of these have to be served, and
what is served has to be verified. Of equal names the second is called ``2-<name>``.
"""

from __future__ import annotations

import gzip
import json
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from satchel.model import portable_name
from satchel.skill_md import parse
from tools.clients.bench import Bench, npm_command, serving
from tools.clients.checks.inspector import inspect, reports_of
from tools.clients.environments import NODE, ensure_npm
from tools.clients.known import HOME, PYTHON, RESULTS
from tools.clients.outcome import Report, Step, to_json
from tools.clients.registered import CHECKS

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME: Final = "corpus"
TIMEOUT_S: Final = 1800
LARGE: Final = (
    *("--skill-catalog-max-skills", "1000000"),
    *("--skill-catalog-max-bytes", "10000000000"),
    *("--connect-timeout", "0"),
)


@dataclass(frozen=True, slots=True)
class Library:
    """A corpus on disk: its folders, and the URI that each pack would have."""

    folders: tuple[Path, ...]
    uris: dict[str, str]
    packs: int


def verify_corpus(path: Path) -> Report:
    """Serve a corpus, let Inspector verify it over both transports, keep the report.

    Raises:
        UnavailableError: There is no Inspector to be had.
        NotServedError: The server did not come up.
    """
    ensure_npm("npm")
    started = time.monotonic()
    with TemporaryDirectory(prefix="satchel-corpus-") as folder:
        steps = tuple(_steps(Bench(Path(folder)), path))
    versions = CHECKS["inspector"].versions()
    today = datetime.now(UTC).date().isoformat()
    report = Report(NAME, today, versions, steps, time.monotonic() - started)
    RESULTS.mkdir(parents=True, exist_ok=True)
    text = json.dumps(to_json(report), indent=1, ensure_ascii=False)
    (RESULTS / f"{NAME}.json").write_text(text, "utf-8")
    return report


def _steps(bench: Bench, path: Path) -> Iterator[Step]:
    lines = bench.folder / "packs.jsonl"
    with gzip.open(path) as packed:
        lines.write_bytes(packed.read())
    library = unpack(lines, bench.folder / "skills")
    yield Step("packs", "passed", f"{library.packs:,}")
    node = [NODE / "node", HOME / "programs" / "valid.mjs", lines, npm_command("")]
    valid = set(json.loads(bench.run(node, timeout_s=TIMEOUT_S).out))
    wanted = {library.uris[each] for each in valid if each in library.uris}
    said = f"{len(valid):,}, of which {len(valid) - len(wanted):,} have no name for us"
    what = "valid YAML 1.2, valid name and description, says another reader"
    yield Step(what, "passed" if len(wanted) == len(valid) else "failed", said)
    server = [str(PYTHON), str(HOME / "programs" / "serve_corpus.py")]
    server += map(str, library.folders)
    RESULTS.mkdir(parents=True, exist_ok=True)
    said_by_it: list[str] = []
    with serving(server, bench.folder, bench.environ, said_by_it) as address:
        figures = json.loads(said_by_it[0])
        yield _served(figures)
        yield from _verify(bench, "http", (f"{address}/mcp",), wanted, figures)
        yield _hidden(bench, address, wanted, figures["unlisted"])
    yield from _verify(bench, "stdio", (*server, "--stdio"), wanted, figures)


def unpack(lines: Path, folder: Path) -> Library:
    """Write each pack, the n-th of one name below the n-th folder."""
    seen: Counter[str] = Counter()
    uris: dict[str, str] = {}
    packs = 0
    with lines.open(encoding="utf-8") as text:
        for pack in map(json.loads, text):
            packs += 1
            data = pack["text"].encode("utf-8", "surrogatepass")
            manifest = parse(data, directory=pack["dir"]).manifest
            name = manifest.name if manifest else pack["id"]
            seen[name] += 1
            number = seen[name]
            plain = name if name == portable_name(name) else pack["id"]
            home = folder / str(number) / plain
            if home.exists():  # two names that are one in a folder's
                home = folder / str(number) / pack["id"]
            home.mkdir(parents=True)
            (home / "SKILL.md").write_bytes(data)
            prefix = "" if number == 1 else f"{number}-{name}/"
            uris[pack["id"]] = f"skill://{prefix}{name}/SKILL.md"
    folders = sorted(folder.iterdir(), key=lambda each: int(each.name))
    return Library(tuple(folders), uris, packs)


def _served(figures: dict[str, Any]) -> Step:
    excluded: dict[str, int] = figures["withheld"]
    reasons = ", ".join(f"{code} {count:,}" for code, count in excluded.items())
    return Step(
        "served",
        "failed" if figures["conflicts"] else "passed",
        f"{figures['served']:,} skills by the tools; with a finding excluded from the "
        f"extension: {sum(excluded.values()):,} ({reasons})",
    )


def _verify(
    bench: Bench,
    transport: str,
    target: tuple[str, ...],
    wanted: set[str],
    figures: dict[str, Any],
) -> Iterator[Step]:
    """Let Inspector verify what is listed; compare that with what is valid."""
    mine = ("--verify", "--protocol-era", "modern", "--require-digests", *LARGE)
    done = inspect(bench, target, "--method", "skills/list", *mine, timeout_s=TIMEOUT_S)
    reports = reports_of(done)
    good = {each["uri"] for each in reports if each.get("outcome") == "verified"}
    bad = [each.get("uri", "?") for each in reports if each.get("uri") not in good]
    log = RESULTS / f"{NAME}-{transport}.jsonl"
    log.write_text(
        "".join(f"{json.dumps(e)}\n" for e in reports if e.get("uri") not in good),
        "utf-8",
    )
    failed = bool(done.status or bad or not good)
    yield Step(
        f"skills/list --verify over {transport}",
        "failed" if failed else "passed",
        f"status {done.status}, {len(bad)} bad, see {log.name}: {done.last}"
        if failed
        else f"{len(good):,} skills verified",
    )
    yield _unlisted(transport, wanted - good, figures["unlisted"])


def _hidden(
    bench: Bench, address: str, wanted: set[str], reasons: dict[str, str]
) -> Step:
    """Verify those that are for users alone: they are not listed, and answered for."""
    hidden = [uri for uri in sorted(wanted) if reasons.get(_id(uri)) == "hidden"]
    mine = ("--verify", "--protocol-era", "modern", "--require-digests")
    bad = [
        uri
        for uri in hidden
        if inspect(
            bench, (f"{address}/mcp",), "--method", "skills/get", "--uri", uri, *mine
        ).status
    ]
    what = "skills/get --verify of those for users alone, over http"
    said = f"{len(hidden) - len(bad)} of {len(hidden)} verified"
    return Step(what, "failed" if bad else "passed", said)


def _id(uri: str) -> str:
    return uri.removeprefix("skill://").partition("/")[0]


def _unlisted(transport: str, missing: set[str], reasons: dict[str, str]) -> Step:
    """Say which valid packs are not listed: those alone that are for users alone."""
    ids = {uri: _id(uri) for uri in missing}
    counts = Counter(reasons.get(each, "no reason") for each in ids.values())
    said = ", ".join(f"{code} {count:,}" for code, count in sorted(counts.items()))
    what = f"valid packs that are not listed over {transport}"
    excluded = sorted(uri for uri, each in ids.items() if reasons.get(each) != "hidden")
    if excluded:
        return Step(what, "failed", f"{len(missing):,} ({said}), {excluded[:5]}")
    return Step(what, "passed", f"{len(missing):,} ({said})" if missing else "none")
