"""Session files: which there are, and their sessions, read line by line."""

import json
import os
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Final, cast

from satchel.errors import MissingPathError
from satchel_lab.sessions._formats import FORMATS, SessionFormat
from satchel_lab.sessions._rows import ClientSession, Row, value_at

# A longer line is passed over; the longest of real files has an image in it.
MAX_LINE_BYTES: Final = 64 * 1024 * 1024
NO_SESSION: Final = "it is no session of these clients"
_HEAD_BYTES: Final = 64 * 1024
_GAP_BYTES: Final = 4_096
_TYPE: Final = re.compile(rb'"type"\s*:\s*"([^"\\]{1,64})"')
_TYPES: Final = ("type", "payload.type", "attachment.type")
_NUMBERS: Final = re.compile(r"[0-9]+")
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PLAIN: Final = ".jsonl"
_COMPRESSED: Final = ".jsonl.zst"  # Codex compresses what is old; Python reads no zstd


@dataclass(slots=True)
class SessionFiles:
    """The sessions of some files, and what could not be read of them.

    ``unknown`` counts the types of lines that nobody has seen yet, as ``codex: x``.
    ``unread`` are files that could not be read, with the reason.
    """

    sessions: list[ClientSession] = field(default_factory=list[ClientSession])
    unknown: Counter[str] = field(default_factory=Counter[str])
    unread: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    copies: set[bytes] = field(default_factory=set[bytes])

    def miss(self, error: OSError) -> None:
        """Note a path that could not be read."""
        self.unread.append((str(error.filename), str(error.strerror)))

    @property
    def bad(self) -> int:
        """How many lines are no JSON, or too long."""
        return sum(len(one.gaps) for one in self.sessions)

    def versions(self) -> list[tuple[str, str, int]]:
        """Return each client and version, with the number of sessions."""
        counts = Counter((one.client, one.version) for one in self.sessions)
        return [(*key, count) for key, count in sorted(counts.items())]

    def newer(self) -> Iterator[tuple[SessionFormat, str]]:
        """Yield the newest version of each client that is newer than the one tried."""
        for key, kind in FORMATS.items():
            versions = {one.version for one in self.sessions if one.client == key}
            newest = max(versions, key=_order, default="")
            if _order(newest) > _order(kind.tried):
                yield kind, newest


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part[:9]) for part in _NUMBERS.findall(version[:64])[:4])


def read_sessions(
    paths: Sequence[str] = (), clients: Iterable[str] = FORMATS, since: float = 0.0
) -> SessionFiles:
    """Read the sessions of these clients.

    Args:
        paths: Files, or folders of files; none is where the clients keep theirs.
        clients: Keys of `FORMATS`.
        since: Passes over files that were last written before, and earlier sessions.

    Raises:
        MissingPathError: A path does not exist.
    """
    result, kinds = SessionFiles(), [FORMATS[key] for key in clients]
    if gone := [path for path in paths if not os.path.lexists(path)]:
        raise MissingPathError(gone[0])
    usual = (kind.home / folder for kind in kinds for folder in kind.sessions)
    every = (one for place in paths or usual for one in _files(place, result))
    for file in dict.fromkeys(every):
        try:
            if file.stat().st_mtime < since:
                continue
            if not file.is_file():  # a pipe, or a device
                result.unread.append((str(file), "it is no file"))
            elif not file.name.endswith(_COMPRESSED):
                _read(file, kinds, result)
            elif not file.with_suffix("").exists():
                result.unread.append((str(file), "it is compressed"))
        except OSError as error:
            result.unread.append((str(file), error.strerror or "it cannot be read"))
    recent = (one for one in result.sessions if one.until >= since)
    result.sessions = sorted(_with_helpers(recent), key=lambda one: (one.at, one.id))
    return result


def _files(place: str | Path, result: SessionFiles) -> Iterator[Path]:
    walked: dict[str, str] = {}
    if not os.path.isdir(place):  # noqa: PTH112
        yield from (Path(place),) if os.path.exists(place) else ()  # noqa: PTH110
        return
    for folder, below, names in os.walk(place, onerror=result.miss, followlinks=True):
        if walked.setdefault(os.path.realpath(folder), folder) != folder:
            del below[:], names[:]  # a link to what was there already
        for name in sorted(names):
            if name.endswith((_PLAIN, _COMPRESSED)):
                yield Path(folder, name)


def _read(file: Path, kinds: Sequence[SessionFormat], result: SessionFiles) -> None:
    with file.open("rb") as lines:
        head = lines.read(_HEAD_BYTES)
        lines.seek(0)
        # Signs of the first format are the most general.
        every = [*FORMATS.values()][::-1]
        signs = ((kind, sign.encode()) for kind in every for sign in kind.sign)
        kind = next((kind for kind, sign in signs if sign in head), None)
        if kind is None and head.strip():
            result.unread.append((str(file), NO_SESSION))
        if kind is None or kind not in kinds:
            return
        above = (one for one in file.absolute().parents if one.name in kind.sessions)
        config = next((str(one.parent) for one in above), "")
        session = ClientSession(kind.key, config, file.stem)
        result.sessions.append(session)
        while line := lines.readline(MAX_LINE_BYTES):
            if len(line) == MAX_LINE_BYTES and line[-1:] != b"\n":
                session.gaps.append("")
                while (rest := lines.readline(MAX_LINE_BYTES)) and rest[-1:] != b"\n":
                    pass
            elif line.strip() and not _take(line, kind, session, result):
                gap = line[:_GAP_BYTES].decode("utf-8", "replace")
                session.gaps.append(gap)
    # A helper of another session has that one's id in its lines, and no turns.
    if not session.id or (session.turns and _UUID.fullmatch(file.stem)):
        session.id = file.stem


def _take(
    line: bytes, kind: SessionFormat, session: ClientSession, result: SessionFiles
) -> bool:
    """Add what a line says; False where it is damaged."""
    calls = (call.encode("utf-8", "replace") for call in session.calls)
    may_say = kind.may_say(line) or any(call in line for call in calls)
    if not may_say and line.rstrip().endswith(b"}"):
        first = _TYPE.search(line)
        if first and first[1].decode("ascii", "replace") in kind.types.split():
            return True
    try:
        loaded: object = json.loads(line)
        if not isinstance(loaded, dict):
            return False
        row = cast("Row", loaded)
        kinds = [value_at(row, path) for path in _TYPES]
        # Of attachments only those about skills matter.
        names = [str(name)[:64] for name in kinds[:2] if name is not None]
        names += [kinds[2]] if isinstance(kinds[2], str) and "skill" in kinds[2] else []
        strange = {*names}.difference(kind.types.split()) or not names
        if strange and kinds[0] != "event_msg":
            result.unknown[f"{kind.key}: {'/'.join(names) or 'no type'}"] += 1
        if may_say:
            session.take(row, kind, is_copy=_is_copy(row, session, result.copies))
    except (ValueError, RecursionError):  # a line that is cut, or nested without end
        return False
    return True


def _is_copy(row: Row, session: ClientSession, copies: set[bytes]) -> bool:
    """Tell whether another file has this entry: a resumed session copies them.

    An entry without an id may be the same twice, but for one in a fork.
    """
    entry = (row.get("uuid"), row.get("timestamp"))
    if not entry[0]:
        entry = (value_at(row, "payload.id"), row.get("payload"))
    digest = blake2b(repr(entry).encode("utf-8", "replace"), digest_size=12).digest()
    is_there = bool(entry[0] or session.is_fork) and digest in copies
    copies.add(digest)
    return is_there


def _with_helpers(sessions: Iterable[ClientSession]) -> list[ClientSession]:
    """Add what helpers loaded to the sessions that started them."""
    every = list(sessions)
    parents = {(one.client, one.id): one for one in every if one.turns}
    for one in every:
        parent = parents.get((one.client, one.id))
        if parent and not one.turns:
            times = [turn.at for turn in parent.turns]
            parent.uses += (
                replace(use, turn=bisect_right(times, use.at) - 1, helper=one.file)
                for use in one.uses
            )
    return [one for one in every if one.turns or (one.client, one.id) not in parents]
