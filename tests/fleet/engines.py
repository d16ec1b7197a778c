"""The engines of a fleet, each on loopback, in a folder that goes at the end.

PostgreSQL has a cluster of its own, since tests stop it; HAProxy sends each request to
the next server in turn, and tries no request a second time.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

__all__ = [
    "Balancer",
    "Engine",
    "MissingEngineError",
    "Postgres",
    "Registry",
    "Replica",
    "free_port",
    "scratch",
]

WAIT_S: Final = 30.0
# The cluster asks nobody; it is for looking whether a log has it.
PASSWORD: Final = "no-log-has-this"  # noqa: S105 - made up
_BALANCER: Final = """
global
    maxconn 2000
defaults
    mode http
    timeout connect 1s
    timeout client 60s
    timeout server 60s
    timeout check 500ms
    retries 3
    option redispatch
frontend all
    bind 127.0.0.1:{port}
    default_backend servers
backend servers
    balance roundrobin
    option httpchk GET /readyz
    http-check send hdr Host 127.0.0.1
    default-server check inter 200ms fall 1 rise 1
{servers}
"""


class MissingEngineError(Exception):
    """A program is not here; the text says how to get it."""


def free_port() -> int:
    """Return a port of this machine that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


@contextmanager
def scratch() -> Generator[Path]:
    """Give a folder that other users of this machine may enter."""
    folder = Path(tempfile.mkdtemp(prefix="satchel-fleet-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass
class Engine:
    """A process that listens at a port; it may be killed, and started again."""

    port: int
    process: "subprocess.Popen[str] | None" = field(default=None, init=False)

    def command(self) -> tuple[Sequence[str], dict[str, object]]:
        """Return the command line, and how it is started."""
        raise NotImplementedError

    def start(self) -> None:
        """Start it, and wait until it answers."""
        end = time.monotonic() + WAIT_S
        self._launch()
        while not self.answers():
            if time.monotonic() > end:
                self.stop()
                raise RuntimeError(f"{type(self).__name__} did not start")
            time.sleep(0.05)
            if self.process is None or self.process.poll() is not None:
                # What a process that was killed has left, such as its own children or
                # its port, may need a moment to go.
                time.sleep(0.2)
                self._launch()

    def _launch(self) -> None:
        line, how = self.command()
        self.process = subprocess.Popen(
            line,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            **{"stderr": subprocess.DEVNULL, **how},  # type: ignore[call-overload]
        )

    def answers(self) -> bool:
        """Tell whether somebody listens at the port."""
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False

    def kill(self) -> None:
        """End it as a machine does that loses its power."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it as an operator would."""
        self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> None:
        process, self.process = self.process, None
        if process is None:
            return
        process.send_signal(number)
        try:
            process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@dataclass
class Registry(Engine):
    """Debian's docker-registry."""

    folder: Path

    def command(self) -> tuple[Sequence[str], dict[str, object]]:
        program = shutil.which("docker-registry")
        if program is None:
            raise MissingEngineError("docker-registry: make engines")
        settings = self.folder / "registry.yml"
        settings.write_text(
            "version: 0.1\nlog: {level: error}\n"
            f"storage: {{filesystem: {{rootdirectory: {self.folder}/registry}}}}\n"
            f"http: {{addr: '127.0.0.1:{self.port}', secret: a}}\n"
        )
        return [program, "serve", str(settings)], {}

    def address(self, which: str = ":prod") -> str:
        """Return the address of a tag or a digest."""
        return f"oci://127.0.0.1:{self.port}/team/skills{which}"


@dataclass
class Postgres(Engine):
    """A cluster of PostgreSQL that is the fleet's own."""

    folder: Path

    def command(self) -> tuple[Sequence[str], dict[str, object]]:
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        if not found:
            raise MissingEngineError("postgresql: apt-get install postgresql")
        data = self.folder / "postgres"
        # It starts for nobody who may do everything.
        who: dict[str, object] = {"user": "postgres"} if os.geteuid() == 0 else {}
        if not data.exists():
            data.mkdir()
            if who:
                shutil.chown(data, "postgres")
            subprocess.run(
                [f"{found[-1]}/initdb", "-D", str(data), "-U", "postgres", "-N"],
                check=True,
                capture_output=True,
                cwd="/",
                **who,  # type: ignore[call-overload]
            )
        # A cluster that was killed leaves the mark of its process.
        (data / "postmaster.pid").unlink(missing_ok=True)
        options = ("-c", "listen_addresses=127.0.0.1", "-k", str(data))
        line = [f"{found[-1]}/postgres", "-D", str(data), "-p", str(self.port)]
        return [*line, *options], {"cwd": "/", **who}

    def answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.Error:
            return False
        return True

    @property
    def url(self) -> str:
        """Where its database is."""
        return f"postgresql://postgres:{PASSWORD}@127.0.0.1:{self.port}/postgres"


@dataclass
class Replica(Engine):
    """A server of skills; ``said`` has what it writes on standard error."""

    folder: Path
    number: int
    arguments: Sequence[str]
    environ: dict[str, str]

    def command(self) -> tuple[Sequence[str], dict[str, object]]:
        home = self.folder / f"replica-{self.number}"
        home.mkdir(exist_ok=True)
        environ = {k: v for k, v in os.environ.items() if not k.startswith("SATCHEL_")}
        environ |= {f"XDG_{kind}_HOME": str(home) for kind in _HOMES}
        environ |= {"HOME": str(home), **self.environ}
        # What waits there outlives the process.
        environ.setdefault("SATCHEL_USAGE_SPOOL", str(home / "spool"))
        line = [sys.executable, "-m", "satchel", "serve", *self.arguments]
        said = (home / "log.txt").open("a")
        return [*line, "--port", str(self.port)], {"env": environ, "stderr": said}

    def answers(self) -> bool:
        from urllib.error import URLError
        from urllib.request import urlopen

        try:
            with urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except (URLError, OSError):
            return False

    def log(self) -> str:
        """Return what it has written so far."""
        return (self.folder / f"replica-{self.number}" / "log.txt").read_text()


_HOMES: Final = ("DATA", "CONFIG", "CACHE", "STATE")


@dataclass
class Balancer(Engine):
    """HAProxy, which sends each request to the next server that is ready."""

    folder: Path
    servers: Sequence[int]

    def command(self) -> tuple[Sequence[str], dict[str, object]]:
        program = shutil.which("haproxy") or shutil.which("/usr/sbin/haproxy")
        if program is None:
            raise MissingEngineError("haproxy: make engines")
        settings = self.folder / "haproxy.cfg"
        lines = (f"    server s{port} 127.0.0.1:{port}" for port in self.servers)
        text = _BALANCER.format(port=self.port, servers="\n".join(lines))
        settings.write_text(text)
        return [program, "-db", "-f", str(settings)], {}

    @property
    def url(self) -> str:
        """Where clients ask."""
        return f"http://127.0.0.1:{self.port}"
