"""What is taken from a session: the user's turns, the list of skills, the loads."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias, cast

# Row: one line of a session file, as JSON.
Row: TypeAlias = Mapping[str, Any]
NO_ROW: Final[Row] = {}

# A turn says what it is about at its beginning; what follows is often a pasted log.
_TURN_CHARS: Final = 1_000
_MOST_CHARS: Final = 100_000
_REMINDER: Final = re.compile(r"<(system-reminder|command-message)>.*?</\1>", re.DOTALL)
# What a client puts in front of the user's own words: `<ide_opened_file>...`.
_BLOCK: Final = re.compile(r"<([A-Za-z][\w-]*)(?:\s[^<>]*)?>.*?</\1>\s*", re.DOTALL)
_NO_TURNS: Final = (
    "[Request interrupted",
    "Caveat: The messages below",
    "This session is being continued",
    "# AGENTS.md instructions",
    "Base directory for this skill:",
)
_READERS: Final = frozenset(
    "awk bat cat get-content gc head less more nl sed tail type".split()  # noqa: SIM905
)
_RUNNERS: Final = frozenset(
    "bash bun deno node perl pwsh python python3 ruby sh uv zsh".split()  # noqa: SIM905
)
_PARTS: Final = re.compile(r"[;|\n]|&&")
_REDIRECTED: Final = re.compile(r">{1,2}\s*\S+")
_WORDS: Final = re.compile(r"[^\s'\"`;&|<>(){}\[\],=]+")
_LATEST: Final = 2**33  # of the year 2242: a time that is later is damaged


@dataclass(frozen=True, slots=True)
class UserTurn:
    """What a user asked once, shortened, and when, in seconds since 1970.

    ``is_copy`` says that another file has it, too: a resumed session repeats it.
    """

    text: str
    at: float
    is_copy: bool = False


@dataclass(frozen=True, slots=True)
class SessionUse:
    """A skill that was loaded by its ``name``, or a file that was read, by its path.

    ``turn`` is the place of the turn, from 0, and -1 before the first. ``is_edit`` says
    that the file was written, ``is_copy`` that another file has it, too. ``number`` is
    its place in the file, from 1, which stays when the file grows; ``helper`` is the
    file of the helper that did it, empty for the session itself.
    """

    turn: int
    at: float
    name: str = ""
    path: str = ""
    is_edit: bool = False
    is_copy: bool = False
    number: int = 0
    helper: str = ""


@dataclass(frozen=True, slots=True)
class ClientSession:
    """One session of a client, without the answers of the model.

    ``listed`` has the text that was shown of each skill, by its name; None where the
    file does not record the list. ``config`` is the folder of the client that the file
    is in; empty for a file elsewhere. ``file`` is the name of the file. ``window`` is
    the context window; 0 is unknown. A session that another one started has no turns:
    nobody typed them. ``gaps`` are lines that could not be read, shortened.
    """

    client: str
    id: str
    version: str
    cwd: str
    config: str
    at: float
    until: float
    file: str
    turns: tuple[UserTurn, ...]
    uses: tuple[SessionUse, ...]
    listed: Mapping[str, str] | None
    window: int
    gaps: tuple[str, ...] = ()


class SessionDraft:
    """A session while its file is read."""

    def __init__(self, client: str, config: str) -> None:
        self.client, self.config = client, config
        self.id = self.version = self.cwd = ""
        self.at = self.until = 0.0
        self.window = 0
        self.is_helper = self.is_copy = False
        self.listed: dict[str, str] | None = None
        self.pending: dict[str, list[SessionUse]] = {}
        self.gaps: list[str] = []
        self._turns: list[UserTurn] = []
        self._uses: list[SessionUse] = []
        self._number = 0

    def note(self, *, id: object, version: object, cwd: object) -> None:
        """Take the facts of the session: its first folder, and its last version."""
        self.id = self.id or text_of(id)
        self.version = text_of(version) or self.version
        self.cwd = self.cwd or text_of(cwd)

    def tick(self, at: float) -> None:
        self.at = min(self.at or at, at or self.at)
        self.until = max(self.until, at)

    def ask(self, text: str, at: float) -> None:
        """Add a turn of the user, if there are words of the user in it."""
        words = plain_turn(text)
        if words and not self.is_helper:
            self._turns.append(UserTurn(words, at, self.is_copy))

    def load(self, name: str, at: float, call: str = "") -> None:
        """Note that a skill was loaded by its name."""
        if parts := name.removeprefix("/").split(maxsplit=1):
            self._add(call, at, name=parts[0])

    def open(
        self, path: str, at: float, call: str = "", *, is_edit: bool = False
    ) -> None:
        """Note that a file was read, or written."""
        if path:
            self._add(call, at, path=path, is_edit=is_edit)

    def run(self, command: str, at: float, call: str = "", folder: str = "") -> None:
        """Note the files that a command line reads, relative to ``folder``."""
        for path in paths_read(command):
            is_whole = not folder or path.startswith(("/", "~"))
            self.open(path if is_whole else f"{folder}/{path}", at, call)

    def _add(
        self,
        call: str,
        at: float,
        name: str = "",
        path: str = "",
        *,
        is_edit: bool = False,
    ) -> None:
        turn = len(self._turns) - 1
        self._number += 1
        use = SessionUse(turn, at, name, path, is_edit, self.is_copy, self._number)
        self._uses.append(use)
        if call:
            self.pending.setdefault(call, []).append(use)

    def answer(self, call: str, *, failed: bool) -> None:
        """Take back what a call did if it failed."""
        uses = self.pending.pop(call, [])
        if failed:
            self._uses = [one for one in self._uses if all(one is not u for u in uses)]

    def list(self, name: str, text: str) -> None:
        """Note that a skill is in the list of skills, with this text."""
        self.listed = {} if self.listed is None else self.listed
        self.listed[name] = text

    @property
    def has_turns(self) -> bool:
        """Whether a user typed something."""
        return bool(self._turns)

    def has_loaded(self, name: str) -> bool:
        """Tell whether a skill was loaded by this name."""
        return any(use.name == name for use in self._uses)

    def finished(self, file: str) -> ClientSession:
        return ClientSession(
            self.client,
            self.id,
            self.version,
            self.cwd,
            self.config,
            self.at,
            self.until,
            file,
            tuple(self._turns),
            tuple(self._uses),
            self.listed,
            self.window,
            tuple(self.gaps),
        )


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def row_of(value: object) -> Row:
    """Return an object; an empty one for any other value."""
    return cast("Row", value) if isinstance(value, dict) else NO_ROW


def rows_of(value: object) -> Iterator[Row]:
    """Yield the objects of a list."""
    for one in cast("list[object]", value) if isinstance(value, list) else ():
        if isinstance(one, dict):
            yield cast("Row", one)


def texts_of(content: object, *kinds: str) -> list[str]:
    """Return a text, or the texts among blocks of these types."""
    if isinstance(content, str):
        return [content]
    blocks = (one for one in rows_of(content) if one.get("type") in kinds)
    return [text for one in blocks if (text := text_of(one.get("text")))]


def seconds_of(value: object) -> float:
    """Return a time in seconds since 1970; 0 for what is none."""
    try:
        if isinstance(value, str):
            seconds = datetime.fromisoformat(value).timestamp()
        else:
            seconds = float(cast("float", value)) / 1000
    except (ValueError, TypeError, OverflowError, OSError):
        return 0.0
    return seconds if 0 < seconds < _LATEST else 0.0


def plain_turn(text: str) -> str:
    """Return the user's own words of a message; empty where it has none."""
    rest = _REMINDER.sub("", text[:_MOST_CHARS]).strip()
    while block := _BLOCK.match(rest):
        rest = rest[block.end() :]
    return "" if rest.startswith(_NO_TURNS) else rest[:_TURN_CHARS].strip()


def paths_read(command: str) -> Iterator[str]:
    """Yield the paths that a command line reads or, but for SKILL.md, runs."""
    for part in _PARTS.split(_REDIRECTED.sub(" ", command[:_MOST_CHARS])):
        words: list[str] = _WORDS.findall(part)
        reads = runs = False
        for at, word in enumerate(words):
            last = word.replace("\\", "/").rpartition("/")[2].lower()
            program, is_skill = last.removesuffix(".exe"), last == "skill.md"
            if program in _READERS:
                reads = "-i" not in words
            elif program in _RUNNERS:
                runs = True
            elif (is_skill or "/" in word or "\\" in word) and (
                reads or (not is_skill and (runs or not at))
            ):
                yield word
