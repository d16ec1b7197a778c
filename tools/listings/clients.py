"""How each client is asked what it shows at a context window, and how that is read."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tools.loaders.clients import reading
from tools.loaders.clients.desk import open_desk
from tools.loaders.driver import UnavailableError
from tools.loaders.registered import DRIVERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tools.listings.libraries import Library
    from tools.loaders.clients.desk import Desk
    from tools.loaders.drivers.node import Client

Rows = tuple[tuple[str, str], ...]
"""A pair for each skill of the library that is listed, in order: name, text."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one client showed of one library at one window, and the text it came in."""

    window: int
    rows: Rows
    text: str


@dataclass(frozen=True, slots=True)
class ListingClient:
    """One client; ``ask`` returns the text that a model gets, ``read`` its rows.

    ``windows`` are those that it can be run at; ``names`` says whether its rows begin
    with the name of a skill or of its folder.
    """

    key: str
    windows: tuple[int, ...]
    ask: Callable[[Desk, int], str]
    read: Callable[[str, Desk, Library], Rows]
    names: str = "name"

    @property
    def client(self) -> Client:
        """The loader of the same key, which knows how to install it."""
        found = DRIVERS[self.key]
        if not hasattr(found, "package"):
            raise UnavailableError(f"{self.key} is no program")
        return found  # type: ignore[return-value]

    def look(self, libraries: Sequence[Library]) -> Iterator[tuple[Library, Seen]]:
        """Yield what it shows of each library at each of its windows.

        Raises:
            UnavailableError: It cannot be run, or shows no list at all.
        """
        client = self.client
        with open_desk(client.package.command) as desk:
            for library in libraries:
                with tempfile.TemporaryDirectory(prefix="listings-") as folder:
                    library.write(Path(folder, "packs"))
                    with desk.laid(Path(folder, "packs"), client.place):
                        for window in self.windows:
                            text = self.ask(desk, window)
                            rows = self.read(text, desk, library)
                            yield library, Seen(window, rows, text)


# Claude Code ------------------------------------------------------------------


def _claude(desk: Desk, window: int) -> str:
    environ = {
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": desk.api.address,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_ERROR_REPORTING": "1",
        # The window of a model can be set only where nothing is compacted.
        "DISABLE_COMPACT": "1",
        "CLAUDE_CODE_MAX_CONTEXT_TOKENS": str(window),
    }
    desk.run(("-p", "hello", "--model", "claude-sonnet-5"), environ)
    texts = desk.api.texts()
    found = reading.with_section(texts, "The following skills are available")
    return found.split("</system-reminder>")[0]


def _read_claude(text: str, desk: Desk, library: Library) -> Rows:
    del desk
    folders = [pack.folder for pack in library.packs]
    pairs = reading.angle_brackets(reading.bullets(text, folders))
    return tuple((name, shown or "") for name, shown in pairs)


def claude_own(text: str) -> str:
    """Return the part of the list that has Claude Code's own skills."""
    at = text.find("\n- dataviz")
    return text[at:].strip("\n") if at >= 0 else ""


# Codex ------------------------------------------------------------------------

_CODEX_LINE: Final = re.compile(
    r"^- (?P<name>.*?):(?: (?P<text>.*))? \(file: (?P<file>.*)\)$"
)


def _codex(desk: Desk, window: int) -> str:
    desk.write(
        "codex/config.toml",
        'model = "gpt-6-sol"\nmodel_provider = "fake"\n'
        f"model_context_window = {window}\n"
        "check_for_update_on_startup = false\n[analytics]\nenabled = false\n"
        f'[model_providers.fake]\nname = "fake"\nwire_api = "responses"\n'
        f'base_url = "{desk.api.address}/v1"\n',
    )
    arguments = ("exec", "--skip-git-repo-check", "hello")
    desk.run(arguments, {"CODEX_HOME": str(desk.home / "codex")})
    return reading.with_section(desk.api.texts(), "<skills_instructions>")


def _codex_lines(text: str, start: str) -> Rows:
    matches = filter(None, map(_CODEX_LINE.match, text.split("\n")))
    return tuple(
        (match["name"], match["text"] or "")
        for match in matches
        if match["file"].startswith(start)
    )


def _read_codex(text: str, desk: Desk, library: Library) -> Rows:
    del library
    roots = re.findall(r"^- `(r\d+)` = `(.*)`$", text, re.MULTILINE)
    ours = [alias for alias, path in roots if path.startswith(str(desk.project))]
    return tuple(row for alias in ours for row in _codex_lines(text, f"{alias}/"))


def codex_own(text: str) -> Rows:
    """Return Codex's own skills, of a text in which none is shortened."""
    roots = re.findall(r"^- `(r\d+)` = `(.*/\.system)`$", text, re.MULTILINE)
    return tuple(row for alias, _ in roots for row in _codex_lines(text, f"{alias}/"))


CLIENTS: Final[dict[str, ListingClient]] = {
    client.key: client
    for client in (
        ListingClient(
            "claude-code",
            (128_000, 200_000, 1_000_000),
            _claude,
            _read_claude,
            names="folder",
        ),
        ListingClient("codex", (128_000, 200_000, 1_000_000), _codex, _read_codex),
    )
}
