"""One run: clients that load while packs change, and what became of it."""

import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from satchel import Satchel
from tests.churn.asking import Asker, OfHttp, OfLibrary, OfMcp
from tests.churn.packs import FAR, KINDS, SLOW, is_whole, write, write_library
from tests.churn.serving import HUNG_S, far_sources

__all__ = ["SURFACES", "Outcome", "run"]

SURFACES: Final = ("library", "mcp", "http")
CLIENTS: Final = 16
MAY_FAIL: Final = frozenset({"hung", "twice", "coming"})
"""Kinds of skills for which a client may get an error: one does not answer, one is
claimed twice, one is there at times."""
WEIGHTS: Final = {"hung": 1, "twice": 1, "slow": 2, "coming": 4, "swapped": 3}
"""How often a client asks for each kind; 8 for the others."""
LOOKS: Final = 0.02
"""How many of a client's requests are for lists, searches and health."""
_WAIT_S: Final = 60


@dataclass
class Outcome:
    """What became of the loads of one run, by kind of skill."""

    loads: Counter[str] = field(default_factory=Counter[str])
    errors: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])
    slowest_s: defaultdict[str, float] = field(
        default_factory=lambda: defaultdict[str, float](float)
    )
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def load(self, kind: str, took_s: float, result: str, body: str) -> None:
        """Count one load, and keep what is wrong with it."""
        with self._lock:
            self.loads[kind] += 1
            self.slowest_s[kind] = max(self.slowest_s[kind], took_s)
            if result:
                self.errors[kind] += 1
                # A writer that a busy machine stops for long leaves half a file.
                is_half = kind == "in place" and "is refused" in result
                if kind not in MAY_FAIL and not is_half:
                    self.wrong.append(f"{kind}: {result}")
            elif not is_whole(body):
                self.wrong.append(f"{kind}: a torn body of {len(body):,} characters")

    def look(self, took_s: float, result: str) -> None:
        """Count one look at lists and health."""
        with self._lock:
            self.loads["lists"] += 1
            self.slowest_s["lists"] = max(self.slowest_s["lists"], took_s)
            if result:
                self.wrong.append(f"lists: {result}")

    def table(self) -> str:
        """Return one line for each kind."""
        rows = [f"{'':10}{'loads':>8}{'errors':>8}{'slowest':>10}"]
        rows += [
            f"{kind:10}{self.loads[kind]:>8,}{self.errors[kind]:>8,}"
            f"{self.slowest_s[kind]:>9.2f}s"
            for kind in (*KINDS, "lists")
        ]
        return "\n".join(rows)


def run(
    surface: str, folder: Path, seconds: float, loads: int | None = None
) -> Outcome:
    """Let the clients load for so many seconds, or so many times each."""
    outcome = Outcome()
    library = folder / "library"
    write_library(library)
    for names, home in ((FAR, folder / "far"), (SLOW, folder / "slow")):
        for name in names:
            write(home / name, 0)
    with ExitStack() as stack:
        hung = stack.enter_context(_server("hangs", folder / "far"))
        slow = stack.enter_context(_server("slow", folder / "slow"))
        askers = _askers(surface, stack, library, hung, slow)
        for asker in askers:
            stack.callback(asker.close)
        _await_slow(askers[0])
        stack.enter_context(_rewriting(library, seconds))
        end = time.monotonic() + seconds
        threads = [
            threading.Thread(target=_client, args=(asker, n, end, loads, outcome))
            for n, asker in enumerate(askers)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return outcome


def _askers(
    surface: str, stack: ExitStack, library: Path, hung: str, slow: str
) -> list[Asker]:
    if surface == "library":
        far = far_sources(hung, slow)
        skills = stack.enter_context(Satchel(library, *far, sinks=()))
        return [OfLibrary(skills) for _ in range(CLIENTS)]
    url = stack.enter_context(_server("library", library, hung, slow))
    of = OfHttp if surface == "http" else OfMcp
    return [of(url) for _ in range(CLIENTS)]


def _await_slow(asker: Asker) -> None:
    """Wait until the slow source has answered: what is here is served before that."""
    end = time.monotonic() + _WAIT_S
    while True:
        try:
            asker.load(SLOW[0])
        except LookupError:
            assert time.monotonic() < end
        else:
            return


def _client(
    asker: Asker, number: int, end: float, loads: int | None, outcome: Outcome
) -> None:
    chance = random.Random(number)  # noqa: S311 - a run that can be repeated
    kinds = list(KINDS)
    weights = [WEIGHTS.get(kind, 8) for kind in kinds]
    while time.monotonic() < end and loads != 0:
        loads = None if loads is None else loads - 1
        start = time.monotonic()
        if chance.random() < LOOKS:
            result = ""
            try:
                asker.look()
            except Exception as error:  # noqa: BLE001 - it is what is counted
                result = repr(error)
            outcome.look(time.monotonic() - start, result)
            continue
        kind = chance.choices(kinds, weights)[0]
        result = body = ""
        try:
            body = asker.load(chance.choice(KINDS[kind]))
        except LookupError as error:
            result = str(error)
        except Exception as error:  # noqa: BLE001 - it is what is counted
            outcome.wrong.append(f"{kind}: {error!r}")
            result = repr(error)
        outcome.load(kind, time.monotonic() - start, result, body)


@contextmanager
def _server(*arguments: object) -> Generator[str]:
    command = [sys.executable, "-m", "tests.churn.serving", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()  # its requests may hang, as they should
        process.wait(_WAIT_S)
        assert process.stdout is not None
        process.stdout.close()


@contextmanager
def _rewriting(folder: Path, seconds: float) -> Generator[None]:
    """Rewrite packs in a process of its own, a little longer than the clients load."""
    limit = seconds + HUNG_S
    command = [sys.executable, "-m", "tests.churn.packs", str(folder), str(limit)]
    process = subprocess.Popen(command, env=dict(os.environ))
    try:
        yield
    finally:
        process.kill()
        process.wait(_WAIT_S)
