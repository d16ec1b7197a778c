"""What is taken from a session: the user's turns, the list of skills, the loads."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from html import unescape
from typing import Any, Final, NamedTuple, TypeAlias, cast

from satchel_lab.sessions._formats import SessionFormat

Row: TypeAlias = Mapping[str, Any]
# A turn says what it is about at its beginning; what follows is often a pasted log.
_TURN_CHARS: Final = 1_000
_FRONT_CHARS: Final = 30_000
_MOST_CHARS: Final = 200_000
_REMINDER: Final = re.compile(r"<(system-reminder|command-message)>.*?</\1>", re.DOTALL)
# What a client puts in front of the user's own words: `<ide_opened_file>...`.
_BLOCK: Final = re.compile(r"<([A-Za-z][\w-]*)(?:\s[^<>]*)?>(.*?)</\1>\s*", re.DOTALL)
_COMMAND: Final = "command-"  # its name, and what is behind it
_NO_TURN: Final = re.compile(
    r"\[Request interrupted|Caveat: The messages below|This session is being continued|"
    r"<system-reminder>|# AGENTS.md instructions|Base directory for this skill:"
)
_READS: Final = re.compile(
    r"awk|bat|cat|get-content|gc|head|less|more|nl|sed|tail|type"
)
_RUNS: Final = re.compile(r"bash|bun|deno|node|perl|pwsh|python3?|ruby|sh|uv|zsh")
_PARTS: Final = re.compile(r"[;|\n]|&&")
_REDIRECTED: Final = re.compile(r">{1,2}\s*[\"']?([^\s\"']+)")
_WORDS: Final = re.compile(r"[^\s'\"`;&|<>(){}\[\],=]+")
_NOTHING: Final = r"(?!)"
_LATEST: Final = 2**33  # of the year 2242: a time that is later is damaged


@dataclass(frozen=True, slots=True)
class UserTurn:
    """What a user asked once, shortened, and when, in seconds since 1970.

    ``is_copy`` says that another file has it, too: a resumed session repeats it.
    ``is_whole`` says that the text is all of it: no image, and nothing cut off.
    """

    text: str
    at: float
    is_copy: bool = False
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class SessionUse:
    """A skill that was loaded by its name, or a file that was opened or edited.

    A file that a call only names, or a call that failed, is a ``touch``.

    ``number`` is its place in the file, from 1, which stays when the file grows;
    ``turn`` that of the turn, from 0, and -1 before the first. ``is_copy`` says that
    another file has it, too; ``helper`` is the file of the helper that did it, empty
    for the session itself.
    """

    how: str
    what: str
    number: int
    turn: int
    at: float
    call: str
    is_copy: bool
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
    calls: set[str] = field(default_factory=set[str])
    number: int = 0
    is_helper: bool = False
    is_fork: bool = False

    def take(self, row: Row, kind: SessionFormat, *, is_copy: bool) -> None:
        """Add what a line says, by the rules of its client."""
        at = _seconds(row.get("timestamp"))
        self.at, self.until = min(self.at or at, at or self.at), max(self.until, at)
        for rule in kind.rules:
            for part in _parts_of(row, rule) if _holds(row, rule, "when") else ():
                if _holds(part, rule, "part"):
                    _Part(self, row, part, rule, at, is_copy).add()

    def fail(self, call: str) -> None:
        """Note that a call used nothing; it only named it."""
        every = (replace(u, how="touch") if u.call == call else u for u in self.uses)
        self.uses = [*every]


class _Part(NamedTuple):
    """A row of a session, or a part of it, that a rule counts for."""

    session: ClientSession
    row: Row
    part: Row
    rule: Mapping[str, Any]
    at: float
    is_copy: bool

    def add(self) -> None:
        session, rule = self.session, self.rule
        session.id = session.id or self.text("id")
        session.version = self.text("version") or session.version
        session.cwd = session.cwd or self.text("cwd")
        # A helper of Codex has the first line of the session that started it, too.
        if (helps := value_at(self.row, rule.get("helper", ""))) is not None:
            session.is_helper = bool(helps)
        session.is_fork |= bool(self.text("fork"))
        window = value_at(self.row, rule.get("window", ""))
        if isinstance(window, int) and 0 < window < _LATEST:
            session.window = round(window / rule["share"])
        if (asked := self.text("ask")) and not session.is_helper:
            self.add_turn(asked)
        for name in re.findall(rule.get("loads", _NOTHING), asked):
            self.use("load", name)
        for how in ("load", "open", "edit", "touch"):
            self.use(how, self.text(how))
        edits = rule.get("edits", _NOTHING)
        for how, path in paths_in(self.text("run"), self.text("folder"), edits):
            self.use(how, path)
        if call := self.text("answer"):
            session.calls.discard(call)
            if re.search(rule["failure"], self.text("failed")):
                session.fail(call)
        if "list" in rule:
            self.add_list()

    def add_turn(self, asked: str) -> None:
        turns, words = self.session.turns, plain_turn(asked)
        has_image = re.search(r"\[Image|<image", asked)
        is_whole = len(words) <= _TURN_CHARS and not has_image
        turn = UserTurn(words[:_TURN_CHARS], self.at, self.is_copy, is_whole)
        last = turns[-1].text if turns and self.rule.get("once") else ""
        if turn.text not in ("", last):
            turns.append(turn)

    def use(self, how: str, what: str) -> None:
        session, call = self.session, self.text("call")
        if how == "load":
            what = " ".join(what.removeprefix("/").split()[:1])
        what, is_once = what.strip(), self.rule.get("once")
        if what and not (is_once and any(use.what == what for use in session.uses)):
            session.calls.update(filter(None, [call]))
            session.number += 1
            place = session.number, len(session.turns) - 1, self.at
            session.uses.append(SessionUse(how, what, *place, call, self.is_copy))

    def add_list(self) -> None:
        rule, text = self.rule, self.text("list")
        if "after" in rule:
            _, after, text = text.partition(rule["after"])
            text = text.partition(rule["before"])[0]
            if not after:
                return
        named = value_at(self.row, rule.get("names", ""))
        of = {head[1]: head for head in reversed([*re.finditer(rule["head"], text)])}
        some = cast("list[object]", named) if isinstance(named, list) else of
        heads = sorted((h for n, h in of.items() if n in some), key=lambda h: h.start())
        session = self.session
        session.listed = {} if session.listed is None else session.listed
        ends = [*(head.start() for head in heads[1:]), len(text)]
        for head, end in zip(heads, ends, strict=True):
            entry = unescape(re.sub(rule["tail"], "", text[head.end() : end])).strip()
            session.listed[unescape(head[1]).strip()] = entry

    def text(self, key: str) -> str:
        """Return the first text at the paths of a key; of a list, of its blocks."""
        paths = self.rule.get(key, ())
        for path in (paths,) if isinstance(paths, str) else paths:
            value = value_at(self.part, path)
            value = value_at(self.row, path) if value is None else value
            if isinstance(value, list) and key != "failed":
                end = " " if key == "run" else "\n"
                value = end.join(map(_text_of, cast("list[object]", value)))
            if key == "failed" and not isinstance(value, str):
                value = json.dumps(value)
            if isinstance(value, str) and value:
                return value.replace('\\"', '"') if key == "failed" else value
        return ""


def _text_of(item: object) -> str:
    text = item if isinstance(item, str) else value_at(item, "text")
    return text if isinstance(text, str) else ""


def value_at(row: object, path: str) -> object:
    """Return what is at a path with dots; None where nothing is."""
    for key in path.split("."):
        row = cast("Row", row).get(key) if isinstance(row, dict) else None
    return row


def _holds(row: Row, rule: Mapping[str, Any], key: str) -> bool:
    conditions: Mapping[str, list[Any]] = rule.get(key, {})
    return all((value_at(row, p) or False) in some for p, some in conditions.items())


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
    rest = _REMINDER.sub("", text[:_FRONT_CHARS]).strip()
    words = ""
    while block := _BLOCK.match(rest):
        words += f"{block[2]} " if block[1].startswith(_COMMAND) else ""
        rest = rest[block.end() :]
    # In front of this line Codex has what an editor shows.
    words = f"{words}{rest}".rpartition("## My request for Codex:")[2].strip()
    return "" if _NO_TURN.match(words) else words


def _below(folder: str, path: str) -> str:
    return path if not folder or path[:1] in ("/", "~") else f"{folder}/{path}"


def paths_in(line: str, folder: str, edits: str) -> Iterator[tuple[str, str]]:
    """Yield the paths in a command line, each with what happens to it.

    It is ``open`` where it is read or, but for SKILL.md, run; ``edit`` where it is
    written, or by the pattern ``edits``, and then there is nothing else; ``touch``
    where it is only named.
    """
    edited = re.findall(edits, line)
    command = "" if edited else line[:_MOST_CHARS]
    for path in edited or _REDIRECTED.findall(command):
        yield "edit", _below(folder, path)
    for part in _PARTS.split(_REDIRECTED.sub(" ", command)):
        words: list[str] = _WORDS.findall(part)
        if words[:1] == ["cd"]:
            folder = _below(folder, "".join(words[1:2]))
        reads = runs = False
        for at, word in enumerate(words):
            last = word.replace("\\", "/").rpartition("/")[2].lower()
            program, is_skill = last.removesuffix(".exe"), last == "skill.md"
            if _READS.fullmatch(program):
                reads = "-i" not in words
            elif _RUNS.fullmatch(program):
                runs = True
            elif is_skill or "/" in word or "\\" in word:
                is_open = reads or (not is_skill and (runs or not at))
                yield "open" if is_open else "touch", _below(folder, word)
