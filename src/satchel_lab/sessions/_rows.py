"""What is taken from a session: the user's turns, the list of skills, the loads."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from html import unescape
from typing import Any, Final, TypeAlias, cast

from satchel_lab.sessions._formats import SessionFormat

Row: TypeAlias = Mapping[str, Any]
# A turn says what it is about at its beginning; what follows is often a pasted log.
_TURN_CHARS: Final = 1_000
_MOST_CHARS: Final = 200_000
_REMINDER: Final = re.compile(r"<(system-reminder|command-message)>.*?</\1>", re.DOTALL)
# What a client puts in front of the user's own words: `<ide_opened_file>...`.
_BLOCK: Final = re.compile(r"<([A-Za-z][\w-]*)(?:\s[^<>]*)?>(.*?)</\1>\s*", re.DOTALL)
_COMMAND: Final = "command-"  # its name, and what is behind it
_NO_TURN: Final = re.compile(
    r"\[Request interrupted|Caveat: The messages below|This session is being continued|"
    r"# AGENTS.md instructions|Base directory for this skill:"
)
_READS: Final = re.compile(
    r"awk|bat|cat|get-content|gc|head|less|more|nl|sed|tail|type"
)
_RUNS: Final = re.compile(r"bash|bun|deno|node|perl|pwsh|python3?|ruby|sh|uv|zsh")
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

    ``number`` is its place in the file, from 1, which stays when the file grows;
    ``turn`` that of the turn, from 0, and -1 before the first. ``is_edit`` says that the
    file was written, ``is_copy`` that another file has it, too. ``helper`` is the file
    of the helper that did it, empty for the session itself.
    """

    number: int
    turn: int
    at: float
    name: str
    path: str
    is_edit: bool
    is_copy: bool
    call: str
    helper: str = ""


@dataclass(slots=True)
class ClientSession:
    """One session of a client, without the answers of the model.

    ``config`` is the folder of the client that the file is in; empty for a file
    elsewhere. ``listed`` has the text that was shown of each skill, by its name; None
    where the file does not record the list. ``window`` is the context window; 0 is
    unknown. ``gaps`` are lines that could not be read, shortened. A session that
    another one started has no turns: nobody typed them.
    """

    client: str
    config: str
    file: str
    id: str = ""
    version: str = ""
    cwd: str = ""
    at: float = 0.0
    until: float = 0.0
    window: int = 0
    turns: list[UserTurn] = field(default_factory=list[UserTurn])
    uses: list[SessionUse] = field(default_factory=list[SessionUse])
    listed: dict[str, str] | None = None
    gaps: list[str] = field(default_factory=list[str])
    calls: int = 0
    is_helper: bool = False

    def take(self, row: Row, kind: SessionFormat, *, is_copy: bool) -> None:
        """Add what a line says, by the rules of its client."""
        at = _seconds(row.get("timestamp"))
        self.at, self.until = min(self.at or at, at or self.at), max(self.until, at)
        for rule in kind.rules:
            if _holds(row, rule.get("when", {})) and not any(
                value_at(row, path) is True for path in rule.get("unless", ())
            ):
                for part in _parts_of(row, rule):
                    if _holds(part, rule.get("part", {})):
                        _Part(row, part, rule, at, is_copy).add_to(self, kind.share)


@dataclass(frozen=True, slots=True)
class _Part:
    """A row, or a part of it, that a rule counts for."""

    row: Row
    part: Row
    rule: Mapping[str, Any]
    at: float
    is_copy: bool

    def add_to(self, session: ClientSession, share: float) -> None:
        rule = self.rule
        session.id = session.id or self.text("id")
        session.version = self.text("version") or session.version
        session.cwd = session.cwd or self.text("cwd")
        if "helper" in rule:
            session.is_helper = bool(value_at(self.row, rule["helper"]))
        window = value_at(self.row, rule.get("window", ""))
        if isinstance(window, int) and 0 < window < _LATEST:
            session.window = round(window / share)
        self._add_uses(session)
        words = plain_turn(self.text("ask"))
        if words and not session.is_helper:
            session.turns.append(UserTurn(words, self.at, self.is_copy))
        for name in re.findall(rule.get("loads", r"(?!)"), self.text("ask")):
            self._use(session, name=name)
        if "list" in rule:
            self._add_list(session)

    def _add_uses(self, session: ClientSession) -> None:
        rule = self.rule
        if name := self.first("load").removeprefix("/").split():
            if not (rule.get("once") and any(u.name == name[0] for u in session.uses)):
                self._use(session, name=name[0])
        self._use(session, path=self.first("open"))
        self._use(session, path=self.first("edit"), is_edit=True)
        command, folder = self.first("run"), self.text("folder")
        edited = re.findall(rule.get("edits", r"(?!)"), command)
        for path in edited:
            self._use(session, path=path, is_edit=True)
        for path in () if edited else paths_read(command):
            is_whole = not folder or path.startswith(("/", "~"))
            self._use(session, path=path if is_whole else f"{folder}/{path}")
        if answered := self.text("answer"):
            path = rule["failed"]
            failed = value_at(self.part, path) or value_at(self.row, path)
            if "failure" in rule:
                text = failed if isinstance(failed, str) else json.dumps(failed)
                text = text.replace('\\"', '"')[:_MOST_CHARS]
                failed = re.search(rule["failure"], text)
            if failed:
                session.uses = [use for use in session.uses if use.call != answered]

    def _use(
        self,
        session: ClientSession,
        name: str = "",
        path: str = "",
        *,
        is_edit: bool = False,
    ) -> None:
        if name or path:
            session.calls += 1
            place = session.calls, len(session.turns) - 1, self.at
            flags = is_edit, self.is_copy, self.text("call")
            session.uses.append(SessionUse(*place, name, path.strip(), *flags))

    def _add_list(self, session: ClientSession) -> None:
        rule, text = self.rule, self.text("list")
        if "after" in rule:
            _, head, rest = text.partition(rule["after"])
            if not head:
                return
            text = rest.partition(rule["before"])[0] if "before" in rule else rest
        named = value_at(self.row, rule.get("names", ""))
        heads = [
            head
            for head in re.finditer(rule["head"], text)
            if not isinstance(named, list) or head[1] in named
        ]
        session.listed = {} if session.listed is None else session.listed
        ends = [*(head.start() for head in heads[1:]), len(text)]
        for head, end in zip(heads, ends, strict=True):
            entry = re.sub(
                rule.get("tail", r"(?!)"), "", text[head.end() : end].strip()
            )
            session.listed.setdefault(
                unescape(head[1]).strip(), unescape(entry).strip()
            )

    def text(self, key: str) -> str:
        """Return the text at the path of a key; of a list, that of its blocks."""
        return self._at(self.rule.get(key, ""))

    def first(self, key: str) -> str:
        """Return the first text of several paths."""
        return next(filter(None, map(self._at, self.rule.get(key, ()))), "")

    def _at(self, path: str) -> str:
        value = value_at(self.part, path) or value_at(self.row, path)
        if isinstance(value, list):
            items = cast("list[Any]", value)
            texts = [one.get("text") if isinstance(one, dict) else one for one in items]
            is_words = all(isinstance(one, str) for one in items)
            return (" " if is_words else "\n").join(
                t for t in texts if isinstance(t, str)
            )
        return value if isinstance(value, str) else ""


def value_at(row: object, path: str) -> object:
    """Return what is at a path with dots; None where nothing is."""
    for key in path.split("."):
        row = cast("Row", row).get(key) if isinstance(row, dict) else None
    return row


def _holds(row: Row, conditions: Mapping[str, list[object]]) -> bool:
    return all(value_at(row, path) in values for path, values in conditions.items())


def _parts_of(row: Row, rule: Mapping[str, Any]) -> Iterator[Row]:
    if "parse" in rule:
        text = value_at(row, rule["parse"])
        part: object = None
        with suppress(ValueError, RecursionError):  # a model wrote it
            part = json.loads(text) if isinstance(text, str) else text
        yield cast("Row", part) if isinstance(part, dict) else row
    elif "each" in rule:
        parts = value_at(row, rule["each"])
        every = cast("list[object]", parts) if isinstance(parts, list) else []
        yield from (cast("Row", one) for one in every if isinstance(one, dict))
    else:
        yield row


def _seconds(value: object) -> float:
    try:
        seconds = datetime.fromisoformat(cast("str", value)).timestamp()
    except (ValueError, TypeError, OverflowError, OSError):
        return 0.0
    return seconds if 0 < seconds < _LATEST else 0.0


def plain_turn(text: str) -> str:
    """Return the user's own words of a message; empty where it has none."""
    rest = _REMINDER.sub("", text[:_MOST_CHARS]).strip()
    words = ""
    while block := _BLOCK.match(rest):
        words += f"{block[2]} " if block[1].startswith(_COMMAND) else ""
        rest = rest[block.end() :]
    words = f"{words}{rest}".strip()
    return "" if _NO_TURN.match(words) else words[:_TURN_CHARS].strip()


def paths_read(command: str) -> Iterator[str]:
    """Yield the paths that a command line reads or, but for SKILL.md, runs."""
    for part in _PARTS.split(_REDIRECTED.sub(" ", command[:_MOST_CHARS])):
        words: list[str] = _WORDS.findall(part)
        reads = runs = False
        for at, word in enumerate(words):
            last = word.replace("\\", "/").rpartition("/")[2].lower()
            program, is_skill = last.removesuffix(".exe"), last == "skill.md"
            if _READS.fullmatch(program):
                reads = "-i" not in words
            elif _RUNS.fullmatch(program):
                runs = True
            elif (is_skill or "/" in word or "\\" in word) and (
                reads or (not is_skill and (runs or not at))
            ):
                yield word
