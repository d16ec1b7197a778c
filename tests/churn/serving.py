"""The servers of a run, each in a process of its own, on loopback.

``python -m tests.churn.serving library FOLDER URL...`` is the one that is asked;
the URLs are of ``serving hangs FOLDER`` and ``serving slow FOLDER``: servers of skills
that list theirs, and then never answer a read, or take their time.
"""

import sys
from dataclasses import replace
from typing import Final

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from satchel import Options, Satchel, sources
from satchel.protocols import SkillSource
from satchel_server import (
    GuardSettings,
    LibraryRefresher,
    ServedLibrary,
    guarded_app,
    listen,
    serve_http,
)

__all__ = ["HUNG_S", "far_sources"]

SLOW_S: Final = 0.3
HUNG_S: Final = 3.0
"""The time-out of the source that hangs."""
FAR_S: Final = 2.0
SETTINGS: Final = replace(GuardSettings(), burst=10_000_000)


def far_sources(hung: str, slow: str) -> list[SkillSource]:
    """Return the two sources that are elsewhere."""
    return [
        sources.mcp(f"{hung}/mcp", label="hung", timeout_s=HUNG_S),
        sources.mcp(f"{slow}/mcp", label="slow"),
    ]


class Reads:
    """An application that does something before each read of a file."""

    def __init__(self, app: ASGIApp, *, hangs: bool) -> None:
        self._app = app
        self._hangs = hangs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST":
            first = await receive()
            if b'"resources/read"' in first.get("body", b""):
                await (anyio.sleep_forever() if self._hangs else anyio.sleep(SLOW_S))
            waiting: list[Message] = [first]

            async def again() -> Message:
                return waiting.pop() if waiting else await receive()

            await self._app(scope, again, send)
        else:
            await self._app(scope, receive, send)


def main() -> None:
    """Serve, and say the port on a line of its own."""
    kind, folder, *urls = sys.argv[1:]
    far = far_sources(*urls) if urls else []
    skills = Satchel(
        folder, *far, sinks=(), options=Options(far_s=FAR_S if far else None)
    )
    library = ServedLibrary(skills)
    app: ASGIApp = guarded_app(library, SETTINGS)
    if kind != "library":
        app = Reads(app, hangs=kind == "hangs")
    at = listen("127.0.0.1", 0)

    def tell() -> None:
        sys.stdout.write(f"{at.getsockname()[1]}\n")
        sys.stdout.flush()

    with LibraryRefresher(library, every_s=5.0) as refresher:
        refresher.begin()
        serve_http(app, at, SETTINGS, started=tell)


if __name__ == "__main__":
    main()
