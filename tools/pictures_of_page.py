"""Take the pictures of the page in docs/images: ``python -m tools.pictures_of_page``.

It serves a library that is made up here, and looks at it with Chromium: each view at
three widths, light and dark. Needs Debian's ``chromium``.
"""

from __future__ import annotations

import base64
import os
import random
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

import uvicorn

from satchel import Satchel
from satchel.errors import SourceUnavailableError
from satchel.model import CatalogSynced, UsageEvent
from satchel.sources import released
from satchel.testing import write_pack
from satchel.usage import open_sink
from satchel_server import GuardSettings, ServedLibrary, guarded_app
from satchel_store.release import build_folder, publish

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from satchel.model import FileStat, Found
    from satchel_server import Application

IMAGES: Final = Path(__file__).parents[1] / "docs" / "images"
CHROMIUM: Final = Path("/usr/bin/chromium")
WIDTHS: Final = (360, 768, 1280)
HEIGHTS: Final = {360: 780, 768: 900, 1280: 860}
VIEWS: Final = {"library": "/ui", "skill": "/ui/skills/refund-rules", "use": "/ui/use"}
DAYS: Final = 45
_DAY_S: Final = 86_400
_BODY: Final = """\
# {title}

Follow these steps in order. Stop and ask when a step does not fit.

1. **Read** the request twice, and say in one line what is asked.
2. **Check** it against [the rules](references/rules.md).
3. **Write** the answer; name each rule that you used.

| Case | What to do |
|---|---|
| clear | answer at once |
| unclear | ask one question |

{more}
"""
# Id, owner, tag, about how many loads it has in a day, description.
SKILLS: Final = (
    (
        "brand-voice",
        "marketing",
        "writing",
        9,
        "Write in the voice of the brand. Use for all that customers read.",
    ),
    ("contract-review", "legal", "review", 4, "Review a contract before it is signed."),
    ("data-retention", "legal", "privacy", 0, "Decide how long data is stored."),
    (
        "expense-report",
        "finance",
        "review",
        6,
        "Check an expense report: receipts, limits, sums.",
    ),
    (
        "incident-review",
        "platform",
        "review",
        3,
        "Run a review after an outage: causes, actions.",
    ),
    (
        "invoice-check",
        "finance",
        "review",
        14,
        "Check invoices before they are paid: sums, taxes.",
    ),
    ("onboarding", "people", "help", 2, "Answer the questions of new colleagues."),
    (
        "pdf-forms",
        "platform",
        "documents",
        11,
        "Fill in and check any PDF that has fields.",
    ),
    (
        "refund-rules",
        "support",
        "customers",
        22,
        "Decide whether a customer gets money back.",
    ),
    ("release-notes", "platform", "writing", 5, "Write release notes from commits."),
    ("sql-style", "data", "code", 8, "Write and review SQL that is correct and fast."),
    (
        "travel-policy",
        "finance",
        "policy",
        0,
        "Say which trips, hotels and trains are paid.",
    ),
)


@dataclass(frozen=True)
class Sample:
    """A library that is made up, and where its events are."""

    library: ServedLibrary
    usage: str


class _AwaySource:
    """A source that has never answered."""

    label = "https://skills.example.com"

    def scan(self) -> Iterable[Found]:
        raise SourceUnavailableError(self.label, "connection refused")

    def manifest(self, key: str) -> bytes:
        raise SourceUnavailableError(self.label, key)

    def files(self, key: str) -> Iterable[FileStat]:
        raise SourceUnavailableError(self.label, key)

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        del path, limit_bytes
        raise SourceUnavailableError(self.label, key)

    def close(self) -> None:
        """Do nothing."""


def _write(home: Path, more: str) -> None:
    for name, owner, tag, _, about in SKILLS:
        extra = more if name == "refund-rules" else ""
        body = _BODY.format(title=name.replace("-", " ").capitalize(), more=extra)
        fields = f"metadata:\n  owner: {owner}\n  tags: [{tag}, everyday]\n"
        rules = {"references/rules.md": "# Rules\n\n- One rule a line.\n"}
        write_pack(home, name, about, body, files=rules)
        file = home / name / "SKILL.md"
        text = file.read_text("utf-8")
        file.write_text(text.replace("\n---\n", f"\n{fields}---\n", 1), "utf-8")


def sample(home: Path, *, away: bool = True) -> Sample:
    """Return a published site of two releases, a team's folder, and their use."""
    site = home / "site"
    before = time.time() - 3 * _DAY_S
    for number, more in enumerate(("", "Above 500 euros, ask a person first.\n")):
        _write(home / "packs", more)
        build_folder(Satchel(home / "packs", sinks=()), home / "release")
        publish(released(home / "release"), site)
        for folder in (site / "releases").iterdir():
            # The second one is later, whatever the clock of the file system counts in.
            if number == 0:
                os.utime(folder, (before, before))
    team = home / "team"
    write_pack(
        team, "standup-notes", "Write the notes of a stand-up meeting.", "# Notes\n"
    )
    (team / "draft").mkdir()
    (team / "draft" / "SKILL.md").write_text("---\nname: draft\n---\nLater.\n", "utf-8")
    sources: list[Any] = [released(site, label="releases"), team]
    skills = Satchel(*sources, *([_AwaySource()] if away else []), sinks=())
    usage = f"sqlite://{home / 'usage.db'}"
    _record(skills, usage)
    return Sample(ServedLibrary(skills), usage)


def _record(skills: Satchel, url: str) -> None:
    """Write events of `DAYS` days, the same ones at each run."""
    drawn = random.Random(7)  # noqa: S311 - no secret
    sink = open_sink(url)
    now = time.time()
    entries = skills.catalog.entries
    owners = {entry.id: entry.owner for entry in entries}
    loads = {name: most for name, _, _, most, _ in SKILLS}
    for back in range(DAYS, -1, -1):
        at = now - back * _DAY_S - 60
        sink.record(CatalogSynced(at, entries, owners=owners))  # type: ignore[arg-type]
        weekday = int(at // _DAY_S + 4) % 7
        for entry in entries:
            most = loads.get(entry.id, 1)
            works = weekday not in (0, 6)
            for _ in range(drawn.randint(0, most) if works else most // 6):
                agent = drawn.choice(("desk", "finance-bot", "reviewer"))
                client = drawn.choice(("claude-code", "codex", "langchain"))
                sink.record(
                    UsageEvent(
                        *(entry.id, None, None, entry.source, 0.01, None),
                        via=drawn.choice(("mcp", "mcp", "http")),
                        digest=entry.digest,
                        tokens=300,
                        owner=entry.owner,
                        agent=agent,
                        client=client,
                        at=at,
                    )
                )
    for name, times in (("holiday-calendar", 7), ("vat-rates", 3)):
        for _ in range(times):
            error, code = "there is no such skill", "skill-not-found"
            sink.record(
                UsageEvent(
                    name, None, None, "", 0.0, error, code=code, via="mcp", at=now
                )
            )
    close = getattr(sink, "close", None)
    if close is not None:
        close()


@contextmanager
def served(app: Application) -> Generator[str]:
    """Serve an application on a free port of this machine; give its URL."""
    config = uvicorn.Config(app, port=0, log_level="error", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            thread.join(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)


def main() -> None:
    """Take each picture."""
    from playwright.sync_api import sync_playwright

    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        made = sample(Path(home))
        guarded = GuardSettings(page=True)
        app = guarded_app(made.library, guarded, usage=made.usage)
        name = patch("satchel_server._page._templates.replica_name", lambda: "skills-2")
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox"]
        )
        with name, served(app) as url:
            for scheme in ("light", "dark"):
                for width in WIDTHS:
                    size = {"width": width, "height": HEIGHTS[width]}
                    context = browser.new_context(color_scheme=scheme, viewport=size)  # type: ignore[arg-type]
                    page = context.new_page()
                    for view, path in VIEWS.items():
                        page.goto(url + path, wait_until="networkidle")
                        # WebP is a third of the size of PNG for such pictures.
                        devtools: Any = context.new_cdp_session(page)
                        asked = {"format": "webp", "quality": 80}
                        shot = devtools.send("Page.captureScreenshot", asked)
                        file = IMAGES / f"page-{view}-{width}-{scheme}.webp"
                        file.write_bytes(base64.b64decode(shot["data"]))
                        print(f"{file.name}: {file.stat().st_size:,} bytes")
                    context.close()
        browser.close()


if __name__ == "__main__":
    main()
