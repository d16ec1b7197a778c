"""A server in a process of its own, attacked in batches, and good requests between."""

import json
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from subprocess import Popen
from typing import IO, Any, Final

from tests.abuse import over_http, over_mcp
from tests.abuse.attack import Attack, Manner
from tests.abuse.sending import PATIENCE_S, SECRETS, Failure, send
from tests.abuse.serving import TOKEN

ROOT: Final = Path(__file__).parents[2]
PACKS: Final = ROOT / "examples" / "skills"
BATCH: Final = 100
SENDERS: Final = 8
SLOW: Final = 4
"""Slow senders that are at it while a batch is sent."""
SEED: Final = 20261121


@dataclass
class Report:
    """What was done, and what went wrong."""

    kinds: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    granted: list[bytes] = field(default_factory=list)
    """The first lines of what was answered with success."""
    seconds: float = 0.0
    grown_kib: int | None = None
    """By how much the server's memory grew, after the first fifth."""


@dataclass
class Server:
    """A server process; ``errors`` is what it has written to standard error."""

    process: Popen[bytes]
    errors: list[str]

    def port(self) -> int:
        """Wait until it listens, and return where.

        Raises:
            Failure: It ended before.
        """
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            self.process.wait(PATIENCE_S)
            raise Failure(f"the server did not start: {''.join(self.errors)[-2000:]}")
        return int(line)

    @property
    def rss_kib(self) -> int | None:
        """Its resident memory, None where the system does not say."""
        try:
            text = Path(f"/proc/{self.process.pid}/status").read_text("utf-8")
        except OSError:
            return None
        return next(int(row.split()[1]) for row in text.split("\n") if "VmRSS" in row)


@contextmanager
def started(*mode: str, packs: Path = PACKS) -> Iterator[Server]:
    """Start a server; it is gone at the end.

    Raises:
        Failure: It wrote a traceback.
    """
    command = [sys.executable, "-m", "tests.abuse.serving", str(packs), *mode]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        errors: list[str] = []
        assert process.stderr
        reader = threading.Thread(target=_keep, args=(process.stderr, errors))
        reader.start()
        try:
            yield Server(process, errors)
            alive = process.poll() is None or "stdio" in mode
        finally:
            process.kill()
            process.wait()
            reader.join()
    if not alive:
        raise Failure(f"the server ended: {errors[-20:]}")
    if any("Traceback" in row for row in errors):
        raise Failure(f"the server wrote: {''.join(errors)[:4000]}")


def over_sockets(count: int, seed: int = SEED, *, asking: bool = False) -> Report:
    """Send ``count`` malformed MCP messages and HTTP requests to one server.

    ``asking`` is whether it asks for a token, which the good requests alone have.
    """
    check = partial(check_good, secret=TOKEN if asking else "")
    random = Random(seed)  # noqa: S311 - a test that can be repeated
    report = Report()
    begun = time.monotonic()
    with (
        started(*["token"] * asking) as server,
        ThreadPoolExecutor(SENDERS + SLOW) as pool,
    ):
        port = server.port()
        after_first: int | None = None
        check(port)
        for done in range(0, count, BATCH):
            size = min(BATCH, count - done)
            attacks = [_attack(random) for _ in range(size)]
            attacks[:SLOW] = [over_http.slow(random) for _ in range(min(SLOW, size))]
            for attack, outcome in zip(
                attacks, pool.map(lambda item: _tried(port, item), attacks), strict=True
            ):
                _count(report, attack, outcome)
            check(port)
            if done >= count // 5 and after_first is None:
                after_first = server.rss_kib
        last = server.rss_kib
        if last is not None and after_first is not None:
            report.grown_kib = last - after_first
    report.seconds = time.monotonic() - begun
    return report


def over_lines(count: int, seed: int = SEED, *, earlier: bool = False) -> Report:
    """Write ``count`` bad lines to a server at its standard streams, then half a line.

    ``earlier`` is whether the client begins as one of the earlier era does.
    """
    random = Random(seed)  # noqa: S311 - a test that can be repeated
    report = Report()
    begun = time.monotonic()
    with started("stdio") as server:
        output: queue.Queue[bytes] = queue.Queue()
        process = server.process
        assert process.stdin
        assert process.stdout
        reader = threading.Thread(target=_pass_on, args=(process.stdout, output))
        reader.start()
        good = over_mcp.good_earlier if earlier else over_mcp.good
        if earlier:
            process.stdin.write(over_mcp.hello())
        _check_line(process.stdin, output, good("first"))
        for number in range(count):
            line = over_mcp.line(random)
            report.kinds["stdio: lines"] += 1
            process.stdin.write(line + b"\n")
            if number % 20 == 19 or number == count - 1:
                _check_line(process.stdin, output, good(f"good-{number}"))
        process.stdin.write(over_mcp.line(random) + b'{"jsonrpc": "2.0", "id"')
        process.stdin.close()
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            report.failures.append("stdio: it did not end with its input")
            process.kill()
        reader.join()
    report.seconds = time.monotonic() - begun
    return report


def check_good(port: int, secret: str = "") -> None:
    """Send what is good.

    Raises:
        Failure: It was not answered as it should.
    """
    for data, expected in (
        (over_mcp.good_call(), b"house-style"),
        (over_http.get("/v1/skills/house-style"), b"house-style"),
        (over_http.get("/healthz"), b'"ok"'),
    ):
        token = f"connection: close\r\nauthorization: Bearer {secret}".encode()
        good = data.replace(b"connection: close", token) if secret else data
        output = send(port, Attack("a good request", good))
        if not output.startswith(b"HTTP/1.1 200 ") or expected not in output:
            raise Failure(f"a good request was answered {output[:200]!r}")


def _attack(random: Random) -> Attack:
    make: Callable[[Random], Attack] = random.choice(
        (over_mcp.attack, over_mcp.attack, over_http.attack)
    )
    return make(random)


def _tried(port: int, attack: Attack) -> bytes | Failure:
    try:
        return send(port, attack)
    except Failure as failure:
        return failure
    except OSError as error:
        return Failure(f"{attack.kind}: {error}")


def _count(report: Report, attack: Attack, outcome: bytes | Failure) -> None:
    report.kinds[attack.kind] += 1
    if isinstance(outcome, Failure):
        report.failures.append(f"{outcome} after {attack.data[:300]!r}")
        return
    status = outcome[9:12].decode("ascii", "replace") if outcome else "closed"
    if attack.manner is not Manner.WAIT and not outcome:
        status = "left"
    report.statuses[status] += 1
    if status.startswith("2"):
        report.granted.append(attack.data.partition(b"\r\n")[0])


def _check_line(
    to: IO[bytes], output: queue.Queue[bytes], request: dict[str, Any]
) -> None:
    """Ask for something good, and wait for that answer.

    Raises:
        Failure: There is none, or one before it tells of our insides.
    """
    name = str(request["id"])
    to.write(json.dumps(request).encode() + b"\n")
    to.flush()
    while True:
        try:
            line = output.get(timeout=PATIENCE_S)
        except queue.Empty:
            raise Failure(f"stdio: no answer to {name}") from None
        if any(secret in line for secret in SECRETS):
            raise Failure(f"stdio: told {line[:400]!r}")
        if name.encode() in line and b'"result"' in line:
            return


def _keep(stream: IO[bytes], rows: list[str]) -> None:
    rows.extend(row.decode("utf-8", "replace") for row in stream)


def _pass_on(stream: IO[bytes], to: queue.Queue[bytes]) -> None:
    for line in stream:
        to.put(line)
