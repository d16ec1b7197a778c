"""What the page costs a server: ``python -m benchmarks.page``.

Processor time of this process for each view of 10,000 skills, through the guard and the
templates: of the first answer about a catalog, and of those that follow. Templates and
tables were read before, for another library. No network is in it.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.measure import BAR_HEAD, Bar, Spread, table
from satchel import Satchel
from satchel.model import CatalogSynced, UsageEvent
from satchel.sources import MemorySource
from satchel.usage import open_sink
from satchel_server import GuardSettings, ServedLibrary, guarded_app

if TYPE_CHECKING:
    from starlette.types import Message

SKILLS: Final = 10_000
EVENTS: Final = 100_000
ROUNDS: Final = 20
# The most that the first page may take.
FIRST_MS: Final = 50.0
USE_MS: Final = 200.0
_TEXT: Final = """\
---
name: skill-{0:05}
description: Use it for forms of kind {0}, when one has to be filled in or checked.
metadata:
  owner: team-{1}
  tags: [tag-{2}, forms]
---
# Skill {0}

Read the form, then fill it in. Check each field of kind {0} twice.
"""
VIEWS: Final = {
    "first page": ("/ui", ""),
    "page 100": ("/ui", "page=100"),
    "search": ("/ui", "q=check+a+form+of+kind+4242"),
    "filter by owner": ("/ui", "owner=team-7"),
    "skill": ("/ui/skills/skill-04242", ""),
    "state": ("/ui/state", ""),
    "use": ("/ui/use", ""),
}


def _library(skills: int = SKILLS) -> ServedLibrary:
    """Return made-up skills; the last one of a small library has the name asked for."""
    numbers = range(SKILLS) if skills == SKILLS else range(4_243 - skills, 4_243)
    packs = {
        f"skill-{number:05}": {
            "SKILL.md": _TEXT.format(number, number % 40, number % 100)
        }
        for number in numbers
    }
    return ServedLibrary(Satchel(MemorySource(packs), sinks=()))


def _record(library: ServedLibrary, url: str) -> None:
    sink: Any = open_sink(url)
    entries, now = library.catalog.entries, time.time()
    sink.record(CatalogSynced(now - 29 * 86_400, entries))
    for number in range(EVENTS):
        entry = entries[number % 500]
        event = UsageEvent(
            *(entry.id, None, None, entry.source, 0.01, None),
            via="mcp",
            digest=entry.digest,
            owner=entry.owner,
            client=("codex", "claude-code")[number % 2],
            at=now - number % 30 * 86_400,
        )
        sink.record(event)
        if number % 5_000 == 0:
            time.sleep(0.2)  # what does not fit its buffer would be dropped
    sink.close()


async def _ask(app: Any, path: str, query: str) -> tuple[int, int]:  # noqa: ANN401
    """Return the status and the size of an answer."""
    status = size = 0
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
        "query_string": query.encode(),
        "headers": [(b"host", b"127.0.0.1"), (b"accept", b"text/html")],
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status, size
        status = message.get("status", status)
        size += len(message.get("body", b""))

    await app(scope, receive, send)
    return status, size


def run() -> list[Bar]:
    """Print a table of the views, and return the bars."""
    library = _library()
    rows: list[tuple[str, ...]] = []
    spreads: dict[str, Spread] = {}
    with tempfile.TemporaryDirectory() as home:
        url = f"sqlite://{Path(home, 'usage.db')}"
        _record(library, url)
        settings = GuardSettings(page=True)
        warm = guarded_app(_library(1), settings, usage=url)
        app = guarded_app(library, settings, usage=url)

        async def measure() -> None:
            for name, (path, query) in VIEWS.items():
                status, _ = await _ask(warm, path, query)
                assert status == 200, (name, status)  # noqa: PLR2004, S101
                times: list[float] = []
                size = 0
                for _ in range(ROUNDS + 1):
                    start = time.process_time()
                    status, size = await _ask(app, path, query)
                    times.append(1_000 * (time.process_time() - start))
                    assert status == 200, (name, status)  # noqa: PLR2004, S101
                spreads[name] = Spread.of(times[1:])
                figures = f"{times[0]:.1f}", f"{spreads[name]:.1f}"
                rows.append((name, *figures, f"{size / 1_000:.0f}"))
                if name == "first page":
                    spreads["cold"] = Spread.of(times[:1])
                if name == "use":
                    spreads["report"] = Spread.of(times[:1])

        asyncio.run(measure())
    print(f"## The page, {SKILLS:,} skills, {EVENTS:,} events\n")
    print(table(("view", "first, ms", "then, ms", "kB"), rows))
    return [
        Bar("first page of a catalog, ms", FIRST_MS, spreads["cold"]),
        Bar("first page after that, ms", FIRST_MS, spreads["first page"]),
        Bar(f"a report of {EVENTS:,} events, ms", USE_MS, spreads["report"]),
    ]


if __name__ == "__main__":
    bars = run()
    print(f"\n{table(BAR_HEAD, [bar.row() for bar in bars])}")
