"""Eight processes write 1,000,000 events to one store: each is there, or counted.

``python -m benchmarks.usage.fleet sqlite``, ``... postgresql``, and ``... postgresql
--stop``: then the database is stopped in the middle, and started again. It is a cluster
of its own, made for this and removed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.measure import table

if TYPE_CHECKING:
    from collections.abc import Iterator

BIN: Final = Path("/usr/lib/postgresql/15/bin")
PROCESSES: Final = 8
SKILLS: Final = 5
TIMEOUT_S: Final = 1_800.0
# When the database is stopped, and for how long: longer than what waits has room for.
STOP_S: Final = 15.0
AWAY_S: Final = 20.0

SCRIPT: Final = """
import sys, time
from satchel import Satchel, Skill
from satchel.usage import open_sink

url, count, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
sink = open_sink(url)
made = [Skill(f"skill-{n}", instructions="Do.", description="d") for n in range(5)]
skills = Satchel(*made, sinks=[sink])
sys.stdin.readline()
start = time.monotonic()
for number in range(count):
    skills.load(f"skill-{number % 5}")
    if not number % 100:
        time.sleep(max(0.0, start + seconds * number / count - time.monotonic()))
sink.close()
print(sink.state.lost)
"""


class Cluster:
    """A cluster of PostgreSQL of its own, on a free port."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with contextlib.closing(socket.socket()) as one:
            one.bind(("127.0.0.1", 0))
            self.port = int(one.getsockname()[1])
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            shutil.chown(folder, "postgres")
        self._run("initdb", "--auth=trust", "--username=postgres", "-D", str(folder))

    def _run(self, program: str, *arguments: str) -> None:
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        before = as_user if os.geteuid() == 0 else []
        subprocess.run(
            [*before, str(BIN / program), *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        options = f"-p {self.port} -k {self._folder} -c listen_addresses=127.0.0.1"
        log = str(self._folder / "log")
        self._run("pg_ctl", "-D", str(self._folder), "-o", options, "-l", log, "start")

    def stop(self) -> None:
        """Stop the server, and end all connections."""
        self._run("pg_ctl", "-D", str(self._folder), "-m", "fast", "stop")

    @property
    def url(self) -> str:
        """The URL of its database."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"


@contextlib.contextmanager
def store(kind: str) -> Iterator[tuple[str, Cluster | None]]:
    """Yield the URL of a new store."""
    with tempfile.TemporaryDirectory() as home:
        if kind == "sqlite":
            yield f"sqlite://{home}/usage.db", None
            return
        Path(home).chmod(0o755)
        folder = Path(home, "cluster")
        folder.mkdir()
        cluster = Cluster(folder)
        cluster.start()
        try:
            yield cluster.url, cluster
        finally:
            cluster.stop()


def run(kind: str, count: int, seconds: float, *, stop: bool) -> bool:
    """Run the processes, print what became of their events; return whether it fits."""
    from satchel_server.usage import read_report

    with store(kind) as (url, cluster):
        children = [
            subprocess.Popen(
                [
                    *(sys.executable, "-c", SCRIPT, url),
                    *(str(count // PROCESSES), str(seconds)),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(PROCESSES)
        ]
        start = time.perf_counter()
        for child in children:
            assert child.stdin is not None  # noqa: S101 - it was asked for
            child.stdin.write("\n")
            child.stdin.flush()
        if stop and cluster is not None:
            time.sleep(STOP_S)
            cluster.stop()
            time.sleep(AWAY_S)
            cluster.start()
        lost = [int(child.communicate(timeout=TIMEOUT_S)[0]) for child in children]
        took = time.perf_counter() - start
        report = read_report(url, now=time.time())
    counts = {use.name: use.loads for use in report.skills}
    even = counts == {f"skill-{n}": count // SKILLS for n in range(SKILLS)}
    fits = report.loads + report.dropped == count and report.dropped == sum(lost)
    rows = (
        ("events on record", f"{report.loads:,}"),
        ("dropped, as the report says", f"{report.dropped:,}"),
        ("dropped, as the processes say", f"{sum(lost):,}"),
        ("together", f"{report.loads + report.dropped:,} of {count:,}"),
        ("exact by skill", "yes" if even else "no"),
        ("writers that did not close", str(len(report.unclosed) + len(report.at_work))),
        ("seconds", f"{took:.0f}"),
    )
    name = f"{kind}{', stopped and started' if stop else ''}"
    print(table((f"{PROCESSES} processes, {name}", ""), rows))
    return fits and (even or stop)


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("sqlite", "postgresql"))
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--stop", action="store_true")
    chosen = parser.parse_args()
    fits = run(chosen.kind, chosen.events, chosen.seconds, stop=chosen.stop)
    return 0 if fits else 1


if __name__ == "__main__":
    sys.exit(main())
