"""Run a validator over packs, in libraries of many or one by one."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.faults.reports import Report, Said, kind_of
from tools.clients.environments import NODE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.faults.fault import Pack
    from benchmarks.faults.validators import Validator

ALONE_TIMEOUT_S: Final = 15.0
TOGETHER_TIMEOUT_S: Final = 300.0
MEMORY_BYTES: Final = 4 << 30
_PLUGIN: Final = {
    ".claude-plugin/plugin.json": (
        '{"name": "library", "version": "1.0.0", "description": "Skills to check",'
        ' "author": {"name": "Somebody"}, "license": "MIT"}'
    ),
    "README.md": "# Library\n\nSkills, one in each folder.\n",
    "LICENSE": "Do what you like.\n",
}
_CRASH: Final = "CRASH"


@dataclass(frozen=True, slots=True)
class Done:
    """How a run ended; ``status`` is None where its time was up."""

    status: int | None
    out: str
    err: str


def validate(validator: Validator, packs: Sequence[Pack]) -> list[Said]:
    """Return what it says of each; where many fail together, each half is tried."""
    with library(packs) as root:
        places = [root / "skills" / pack.folder for pack in packs]
        several = len(packs) > 1
        paths = [root / "skills"] if several else places
        done = run(validator, root, paths, alone=not several)
        said = _read(validator, done, root, places)
    if said is not None:
        return said
    if not several:
        return [_alone(done)]
    half = len(packs) // 2
    return [*validate(validator, packs[:half]), *validate(validator, packs[half:])]


def _read(
    validator: Validator, done: Done, root: Path, places: list[Path]
) -> list[Said] | None:
    """Return what was said, by pack; None where the run gave no report."""
    if done.status is None:
        return None
    try:
        found = list(validator.read(done.out))
    except (ValueError, KeyError, TypeError):
        return None
    by_pack: dict[Path, set[Report]] = {place: set() for place in places}
    for path, report in found:
        full = Path(os.path.normpath(root / path))
        for place in (full, *full.parents):
            if place in by_pack:
                by_pack[place].add(report)
    return [_said(reports) for reports in by_pack.values()]


def _said(reports: set[Report]) -> Said:
    crashed = any(report.kind.startswith(_CRASH) for report in reports)
    return Said(failed="crash") if crashed else Said(frozenset(reports))


def _alone(done: Done) -> Said:
    """Tell of a run over one pack without a report: it refused, crashed or hung."""
    if done.status is None:
        return Said(failed="hang")
    text = (done.err or done.out).strip()
    if done.status > 0 and text and "Traceback" not in text:
        return Said(frozenset({Report(kind_of(text.splitlines()[-1]), "error")}))
    return Said(failed="crash")


@contextmanager
def library(packs: Sequence[Pack]) -> Iterator[Path]:
    """Lay out a plugin with the packs, so that each validator finds what it wants."""
    with tempfile.TemporaryDirectory(
        prefix="satchel-faults-", ignore_cleanup_errors=True
    ) as folder:
        root = Path(folder, "library")
        for path, text in _PLUGIN.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        (root / "skills").mkdir()
        for pack in packs:
            pack.write(root / "skills")
        try:
            yield root
        finally:
            shutil.rmtree(root, ignore_errors=True)


def run(validator: Validator, root: Path, paths: list[Path], *, alone: bool) -> Done:
    """Run it to its end, or until its time is up; nothing of it stays behind."""
    home = root.parent / "home"
    home.mkdir(exist_ok=True)
    process = subprocess.Popen(
        validator.command(root, paths),
        cwd=root,
        env=_environ(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    _limit(process.pid, validator)
    try:
        timeout_s = ALONE_TIMEOUT_S if alone else TOGETHER_TIMEOUT_S
        out, err = process.communicate(timeout=timeout_s)
        status: int | None = process.returncode
    except subprocess.TimeoutExpired:
        out, err, status = "", "", None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    return Done(status, out, err)


def _limit(process: int, validator: Validator) -> None:
    if validator.limits_memory:
        import resource

        with suppress(ProcessLookupError):
            resource.prlimit(process, resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def _environ(home: Path) -> dict[str, str]:
    nobody = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    return {
        "PATH": os.pathsep.join([str(NODE), "/usr/bin", "/bin"]),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "CI": "1",
        "DO_NOT_TRACK": "1",
        "NO_COLOR": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        **nobody,
    }
