"""Clients that are a server, and tell over HTTP which skills a project has."""

from __future__ import annotations

import json
import re
import threading
import time
import urllib.parse
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from tools.loaders.clients.desk import end
from tools.loaders.driver import Seen, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Generator
    from subprocess import Popen

    from tools.loaders.clients.desk import Desk

READY_S: Final = 60.0
ANSWER_S: Final = 30.0
_ADDRESS: Final = re.compile(r"listening on (http://127\.0\.0\.1:\d+)")


@contextmanager
def opencode(desk: Desk) -> Generator[str]:
    """Serve as ``opencode serve`` does, and yield the address.

    Raises:
        UnavailableError: It does not come up.
    """
    quiet = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    arguments = ("serve", "--port", "0", "--hostname", "127.0.0.1")
    process = desk.start(arguments, quiet)
    try:
        yield _address(process)
    finally:
        end(process)


def _address(process: Popen[str]) -> str:
    said: list[str] = []

    def read() -> None:
        said.extend(process.stdout or ())

    threading.Thread(target=read, daemon=True).start()
    until = time.monotonic() + READY_S
    while time.monotonic() < until and process.poll() is None:
        if match := _ADDRESS.search("".join(said)):
            return match[1]
        time.sleep(0.05)
    raise UnavailableError(f"it serves nothing: {''.join(said)[-300:]}")


def skills_of(address: str, desk: Desk) -> Seen:
    """Return the skills of the project that the client would list.

    It keeps those without a description, and leaves them out of what it tells the
    model (seen in the request of a turn).
    """
    folder = urllib.parse.quote(str(desk.project))
    # The address is the server's own, on this machine.
    opened = urllib.request.urlopen(  # noqa: S310
        f"{address}/skill?directory={folder}", timeout=ANSWER_S
    )
    with opened as answer:
        said: list[dict[str, Any]] = json.load(answer)
    ours = f"{desk.project}/"
    return Seen(
        tuple(
            (each["name"], each["description"])
            for each in sorted(said, key=lambda each: str(each["name"]))
            if each.get("description") and str(each["location"]).startswith(ours)
        )
    )
