"""Running a server until it is told to stop: over HTTP, or standard streams."""

import signal
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import anyio
import uvicorn

from satchel.errors import ConfigError
from satchel.serve.ending import Ending
from satchel.serve.guard import GuardSettings
from satchel.serve.guard.connections import uvicorn_options
from satchel.serve.library import Library
from satchel.serve.mcp import run_stdio

if TYPE_CHECKING:
    from types import FrameType

    from starlette.types import ASGIApp

__all__ = ["listen", "serve_http", "serve_stdio"]

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_BACKLOG: Final = 2048
DRAIN_S: Final = 1.0
"""How long connections that clients keep are answered before they are closed."""
_LOOK_S: Final = 0.02


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 is any that is free.

    Raises:
        ConfigError: The address is not of this machine, or the port is taken.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family, _, _, _, address = found[0]
        at = socket.create_server(address, family=family, backlog=_BACKLOG)
    except OSError as error:
        advice = "choose another --port, 0 for any that is free, or --host"
        detail = f"{error.strerror}; {advice}"
        raise ConfigError(f"{host}:{port}", detail) from error
    # asyncio says so for sockets of its own making. Without it an answer in two writes
    # waits some 40 ms for the client to acknowledge the first.
    at.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return at


def serve_http(
    app: "ASGIApp",
    at: socket.socket,
    settings: GuardSettings,
    *,
    started: Callable[[], object],
) -> None:
    """Serve until SIGINT or SIGTERM, then answer what is under way and return.

    Streams of events are ended: their clients would not go by themselves. For a second
    more, or until no connection is open, requests are answered, each answer closing its
    connection, so that a client that keeps one learns of it.

    ``started`` is called once requests are answered.

    Raises:
        ConfigError: The application did not start; the log says why.
    """
    ending = Ending(app)
    config = uvicorn.Config(
        ending,
        **uvicorn_options(settings),
        log_config=None,
        log_level="error",  # a warning for each malformed request would fill a disk
        access_log=False,  # it would hold what people search for
        lifespan="on",
    )
    server = _Server(config, started, ending)
    try:
        server.run(sockets=[at])
    except SystemExit as error:  # uvicorn's word for it
        raise ConfigError("satchel serve", "the application did not start") from error


class _Server(uvicorn.Server):
    """Uvicorn's, that says when it answers, and returns when it was told to stop."""

    def __init__(
        self,
        config: uvicorn.Config,
        started: Callable[[], object],
        ending: Ending,
    ) -> None:
        super().__init__(config)
        self._tell = started
        self._ending = ending

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._tell()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._ending.drain()
        self._ending.end()
        await self._let_clients_go()
        self._ending.end()
        await super().shutdown(sockets)

    async def _let_clients_go(self) -> None:
        """Wait until no connection is open, for a second; a second signal ends that."""
        with anyio.move_on_after(DRAIN_S):
            while self.server_state.connections and not self.force_exit:  # noqa: ASYNC110 - uvicorn tells of no end
                await anyio.sleep(_LOOK_S)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        # Uvicorn raises the signal again at the end, which would end the process before
        # events are written.
        with _handled(self.handle_exit):
            yield


def serve_stdio(library: Library) -> bool:
    """Serve the client at the standard streams until it goes, or a signal comes.

    Returns:
        Whether a signal came. The thread that reads standard input then still waits
        for a line: end the process with `os._exit` once all is written.

    Raises:
        Exception: Whatever ended the server.
    """
    done = threading.Event()
    failed: list[BaseException] = []

    def run() -> None:
        try:
            anyio.run(run_stdio, library)
        except BaseException as error:  # noqa: BLE001 - raised again, by the caller
            failed.append(error)
        done.set()

    told: list[int] = []

    def stop(number: int, frame: "FrameType | None") -> None:
        del frame
        told.append(number)
        done.set()

    with _handled(stop):
        threading.Thread(target=run, name="satchel-stdio", daemon=True).start()
        while not done.wait(1.0):  # Windows sees a Ctrl-C between two waits only
            continue
    if failed:
        raise failed[0]
    return bool(told)


@contextmanager
def _handled(
    handler: "Callable[[int, FrameType | None], object]",
) -> Generator[None]:
    """Let ``handler`` have the signals, where this is the thread that gets them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.signal(each, handler) for each in _SIGNALS}
    try:
        yield
    finally:
        for each, known in before.items():
            signal.signal(each, known)
