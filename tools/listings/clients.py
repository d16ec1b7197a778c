"""How each client is asked what it shows at a context window, and how that is read."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from tools.loaders.clients import inside, reading
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


class Lister(Protocol):
    """A client or a framework that shows a library to a model.

    ``windows`` are those that it can be run at; ``names`` says whether its rows begin
    with the name of a skill or of its folder. One that ``is_slow`` is run on fewer
    libraries.
    """

    @property
    def key(self) -> str:
        """The key of its loader."""
        ...

    @property
    def windows(self) -> tuple[int, ...]:
        """Context windows, in tokens."""
        ...

    @property
    def names(self) -> str:
        """Either ``name`` or ``folder``."""
        ...

    @property
    def is_slow(self) -> bool:
        """Whether it is run on fewer libraries."""
        ...

    def prepare(self) -> str:
        """Install it where it is missing, and return its version.

        Raises:
            UnavailableError: It cannot be had here.
        """
        ...

    def remove(self) -> None:
        """Throw it away, so that the next one is the newest release."""
        ...

    def look(self, libraries: Sequence[Library]) -> Iterator[tuple[Library, Seen]]:
        """Yield what it shows of each library at each of its windows.

        Raises:
            UnavailableError: It cannot be run.
        """
        ...


@dataclass(frozen=True, slots=True)
class ListingClient:
    """One client; ``ask`` returns the text that a model gets, ``read`` its rows."""

    key: str
    ask: Callable[[Desk, int], str]
    read: Callable[[str, Desk, Library], Rows]
    windows: tuple[int, ...] = (128_000, 200_000, 1_000_000)
    names: str = "name"
    is_slow: bool = False

    @property
    def client(self) -> Client:
        """The loader of the same key, which knows how to install it."""
        found = DRIVERS[self.key]
        if not hasattr(found, "package"):
            raise UnavailableError(f"{self.key} is no program")
        return found  # type: ignore[return-value]

    def prepare(self) -> str:
        """Install it where it is missing, and return its version.

        Raises:
            UnavailableError: It cannot be had here.
        """
        return self.client.prepare()

    def remove(self) -> None:
        """Throw it away, so that the next one is the newest release."""
        shutil.rmtree(self.client.package.folder, ignore_errors=True)

    def look(self, libraries: Sequence[Library]) -> Iterator[tuple[Library, Seen]]:
        """Yield what it shows of each library at each of its windows.

        Raises:
            UnavailableError: It cannot be run.
        """
        client = self.client
        with open_desk(client.package.command) as desk:
            for library in libraries:
                with tempfile.TemporaryDirectory(prefix="listings-") as folder:
                    library.write(Path(folder, "packs"))
                    with desk.laid(Path(folder, "packs"), client.place):
                        for window in self.windows:
                            try:
                                text = self.ask(desk, window)
                            except UnavailableError:
                                continue  # the list alone is more than the window
                            rows = self.read(text, desk, library)
                            yield library, Seen(window, rows, text)


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


_SKILL: Final = re.compile(
    r"<skill>\s*<name>(.*?)</name>\s*<description>(.*?)</description>\s*<location>",
    re.DOTALL,
)
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


_KEYS: Final = {"OPENAI_API_KEY": "none"}


def _gemini(desk: Desk, window: int) -> str:
    del window
    desk.write(".gemini/trustedFolders.json", f'{{"{desk.project}": "TRUST_FOLDER"}}')
    auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    privacy = {"privacy": {"usageStatisticsEnabled": False}}
    desk.write(".gemini/settings.json", json.dumps({**auth, **privacy}))
    environ = {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": desk.api.address}
    desk.run(("-p", "hello", "-m", "gemini-2.5-pro"), environ)
    return _xml_section(desk)


def _copilot(desk: Desk, window: int) -> str:
    environ = {
        "COPILOT_MODEL": "gpt-4.1",
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_API_KEY": "none",
        "COPILOT_PROVIDER_BASE_URL": f"{desk.api.address}/v1",
        "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": str(window),
        "COPILOT_PROVIDER_TYPE": "openai",
    }
    desk.run(("-p", "hello", "--allow-all-tools"), environ)
    return _xml_section(desk)


def _opencode(desk: Desk, window: int) -> str:
    limit = {"context": window, "output": 8000}
    options = {"baseURL": f"{desk.api.address}/v1", "apiKey": "none"}
    fake = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "fake",
        "options": options,
        "models": {"fake": {"name": "fake", "limit": limit}},
    }
    settings = json.dumps({"provider": {"fake": fake}, "model": "fake/fake"})
    for path in (".config/opencode/opencode.json", ".config/kilo/opencode.json"):
        desk.write(path, settings)
    environ = {
        f"{name}_DISABLE_{what}": "1"
        for name in ("OPENCODE", "KILO")
        for what in ("AUTOUPDATE", "MODELS_FETCH")
    }
    desk.run(("run", "hello", "--model", "fake/fake"), environ)
    return _xml_section(desk)


def _qwen(desk: Desk, window: int) -> str:
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        "model": {"generationConfig": {"contextWindowSize": window}},
    }
    desk.write(".qwen/settings.json", json.dumps(settings))
    base = {"OPENAI_BASE_URL": f"{desk.api.address}/v1", "OPENAI_MODEL": "fake"}
    desk.run(("-p", "hello"), {**_KEYS, **base})
    return _xml_section(desk)


def _kimi(desk: Desk, window: int) -> str:
    desk.write(".kimi-code/config.toml", "telemetry = false\n")
    environ = {
        "KIMI_CODE_NO_AUTO_UPDATE": "1",
        "KIMI_MODEL_API_KEY": "none",
        "KIMI_MODEL_BASE_URL": f"{desk.api.address}/v1",
        "KIMI_MODEL_MAX_CONTEXT_SIZE": str(window),
        "KIMI_MODEL_NAME": "fake",
        "KIMI_MODEL_PROVIDER_TYPE": "openai",
    }
    desk.run(("-p", "hello"), environ)
    return reading.with_section(desk.api.texts(), "Current available skills:")


def _read_kimi(text: str, desk: Desk, library: Library) -> Rows:
    del library
    pairs = reading.kimi(text, str(desk.project / ".kimi-code/skills"))
    return tuple((name, shown or "") for name, shown in pairs)


def _pi(desk: Desk, window: int) -> str:
    fake = {
        "baseUrl": f"{desk.api.address}/v1",
        "api": "openai-completions",
        "apiKey": "none",
        "models": [{"id": "fake", "contextWindow": window}],
    }
    desk.write(".pi/agent/models.json", json.dumps({"providers": {"fake": fake}}))
    arguments = ("--provider", "fake", "--model", "fake", "-p", "hello")
    desk.run(arguments, {"PI_OFFLINE": "1"})
    return _xml_section(desk)


def _goose(desk: Desk, window: int) -> str:
    environ = {
        **_KEYS,
        "GOOSE_CONTEXT_LIMIT": str(window),
        "GOOSE_DISABLE_KEYRING": "1",
        "GOOSE_MODEL": "fake",
        "GOOSE_PROVIDER": "openai",
        "GOOSE_TELEMETRY_ENABLED": "false",
        "OPENAI_HOST": desk.api.address,
    }
    desk.run(("run", "--no-session", "-t", "hello"), environ)
    return reading.with_section(desk.api.texts(), reading.GOOSE)


def _read_goose(text: str, desk: Desk, library: Library) -> Rows:
    del desk, library
    return tuple((name, shown or "") for name, shown in reading.goose(text))


def _hermes(desk: Desk, window: int) -> str:
    del window
    with inside.program(desk, "hermes") as process:
        return str(inside.ask(process, desk.project).get("found") or "")


def _read_hermes(text: str, desk: Desk, library: Library) -> Rows:
    del desk, library
    return tuple((name, shown or "") for name, shown in reading.hermes(text))


def _xml_section(desk: Desk) -> str:
    """Return the longest list of skills that was sent.

    Raises:
        UnavailableError: None was sent.
    """
    marked = [text for text in desk.api.texts() if "<available_skills>\n" in text]
    parts = [text.partition("<available_skills>\n")[2] for text in marked]
    if not parts:
        raise UnavailableError("it sent no list of skills")
    return max((part.rpartition("</available_skills>")[0] for part in parts), key=len)


def _read_xml(text: str, desk: Desk, library: Library) -> Rows:
    """Read ``<skill>`` elements with an escaped text, those of the library alone."""
    del desk
    return _ours(reading.xml(text), library)


def _read_plain_xml(text: str, desk: Desk, library: Library) -> Rows:
    """Read ``<skill>`` elements whose text is as it is."""
    del desk
    pairs = tuple((name.strip(), shown.strip()) for name, shown in _SKILL.findall(text))
    return _ours(pairs, library)


def _read_copilot(text: str, desk: Desk, library: Library) -> Rows:
    rows = _read_xml(text, desk, library)
    _, _, names = text.partition("\nAdditional skills available (invoke by name): ")
    named = re.sub(r"\.\.\. and \d+ more$", "", names.strip()).split(", ")
    return (*rows, *_ours(tuple((name, "") for name in named if name), library))


def _read_qwen(text: str, desk: Desk, library: Library) -> Rows:
    del desk
    ours = " (project)"
    return _ours(
        tuple(
            (name, shown.removesuffix(ours).strip())
            for name, shown in reading.xml(text)
            if shown and shown.endswith(ours)
        ),
        library,
    )


def _ours(pairs: reading.Pairs, library: Library) -> Rows:
    """Return the rows of a library: a client has skills of its own."""
    own = _OWN_SKILLS - {pack.folder for pack in library.packs}
    return tuple((name, shown or "") for name, shown in pairs if name not in own)


_OWN_SKILLS: Final = frozenset(
    [
        "antigravity-support",
        "customize-cloud-agent",
        "customize-opencode",
        "github-pr-media",
        "kilo-config",
        "skill-creator",
    ]
)
"""What these clients bring along themselves."""

CLIENTS: Final[dict[str, ListingClient]] = {
    client.key: client
    for client in (
        ListingClient("claude-code", _claude, _read_claude, names="folder"),
        ListingClient("codex", _codex, _read_codex),
        ListingClient("gemini-cli", _gemini, _read_plain_xml, (1_000_000,)),
        ListingClient("github-copilot-cli", _copilot, _read_copilot),
        ListingClient("opencode", _opencode, _read_xml, is_slow=True),
        ListingClient("qwen-code", _qwen, _read_qwen, is_slow=True),
        ListingClient("goose", _goose, _read_goose),
        ListingClient("hermes", _hermes, _read_hermes, (200_000,)),
        ListingClient("kimi-code", _kimi, _read_kimi, is_slow=True),
        ListingClient("pi", _pi, _read_xml),
        ListingClient("kilo-code-cli", _opencode, _read_xml, (200_000,), is_slow=True),
    )
}
