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
from typing import Final

from satchel.errors import MissingPathError
from satchel_lab.sessions._formats import FORMATS, SessionFormat
from satchel_lab.sessions._rows import (
    ClientSession,
    Row,
    SessionDraft,
    row_of,
    text_of,
)

# A longer line is passed over; the longest of real files has an image in it.
MAX_LINE_BYTES: Final = 64 * 1024 * 1024
_HEAD_BYTES: Final = 64 * 1024
_GAP_BYTES: Final = 4_096
_TYPE: Final = re.compile(rb'"type"\s*:\s*"([^"\\]{1,64})"')
_NUMBERS: Final = re.compile(r"[0-9]+")
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SUFFIX: Final = ".jsonl"
_COMPRESSED: Final = ".jsonl.zst"  # Codex compresses what is old; Python reads no zstd


@dataclass(slots=True)
class SessionFiles:
    """The sessions of some files, and what could not be read of them.

    ``unknown`` counts the types of lines that nobody has seen yet, as ``codex: x``;
    ``bad`` lines that are no JSON, or too long. ``unread`` are files that could not be
    read, with the reason.
    """

    sessions: list[ClientSession] = field(default_factory=list[ClientSession])
    files: int = 0
    unknown: Counter[str] = field(default_factory=Counter[str])
    bad: int = 0
    unread: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def newer(self) -> Iterator[tuple[SessionFormat, str]]:
        """Yield the newest version of each client that is newer than the one tried."""
        for key, kind in FORMATS.items():
            versions = {one.version for one in self.sessions if one.client == key}
            newest = max(versions, key=_order, default="")
            if _order(newest) > _order(kind.tried):
                yield kind, newest


def _order(version: str) -> tuple[int, ...]:
    """Return a key that sorts versions; the numbers of a damaged one are few."""
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
    result = SessionFiles()
    kinds = [FORMATS[key] for key in clients]
    seen: set[bytes] = set()
    for path in paths:
        if not os.path.lexists(path):
            raise MissingPathError(path)
    places: list[Path] = [*map(Path, paths)] or [
        kind.configs() / folder for kind in kinds for folder in kind.sessions
    ]
    for file in dict.fromkeys(one for place in places for one in _files_in(place)):
        try:
            if file.stat().st_mtime < since:
                continue
            if file.name.endswith(_COMPRESSED):
                if not file.with_suffix("").exists():
                    result.unread.append((str(file), "it is compressed"))
                continue
            _read_file(file, kinds, seen, result)
        except OSError as error:
            result.unread.append((str(file), error.strerror or "it cannot be read"))
    recent = (one for one in result.sessions if one.until >= since)
    result.sessions = _with_helpers(recent)
    result.sessions.sort(key=lambda one: (one.at, one.client, one.id))
    return result


def _files_in(place: Path) -> Iterator[Path]:
    if not place.is_dir():
        yield from (place,) if place.exists() else ()
        return
    for folder, _, names in os.walk(place):
        for name in sorted(names):
            if name.endswith((_SUFFIX, _COMPRESSED)):
                yield Path(folder, name)


def _read_file(
    file: Path, kinds: Sequence[SessionFormat], seen: set[bytes], result: SessionFiles
) -> None:
    with file.open("rb") as lines:
        head = lines.read(_HEAD_BYTES)
        lines.seek(0)
        # Signs of the first format are the most general.
        every = [*FORMATS.values()][::-1]
        kind = next((one for one in every if any(s in head for s in one.sign)), None)
        if kind is None and head.strip():
            result.unread.append((str(file), "it is no session of these clients"))
        if kind is None or kind not in kinds:
            return
        result.files += 1
        draft = SessionDraft(kind.key, _config_of(file, kind))
        while line := lines.readline(MAX_LINE_BYTES):
            if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
                _note_gap(line, draft, result)
                while (rest := lines.readline(MAX_LINE_BYTES)) and rest[-1:] != b"\n":
                    pass
                continue
            _read_line(line, kind, draft, seen, result)
    # A helper of another session has that one's id in its lines, and no turns.
    if not draft.id or (draft.has_turns and _UUID.fullmatch(file.stem)):
        draft.id = file.stem
    result.sessions.append(draft.finished(file.stem))


def _config_of(file: Path, kind: SessionFormat) -> str:
    """Return the folder of the client that a file is in; empty for none."""
    above = (one for one in file.absolute().parents if one.name in kind.sessions)
    nearest = next(above, None)
    return str(nearest.parent) if nearest else ""


def _with_helpers(sessions: Iterable[ClientSession]) -> list[ClientSession]:
    """Add what helpers loaded to the sessions that started them."""
    every = list(sessions)
    parents = {(one.client, one.id): at for at, one in enumerate(every) if one.turns}
    for one in every:
        at = parents.get((one.client, one.id))
        if one.turns or at is None:
            continue
        times = [turn.at for turn in every[at].turns]
        uses = (
            replace(use, turn=bisect_right(times, use.at) - 1, helper=one.file)
            for use in one.uses
        )
        every[at] = replace(every[at], uses=(*every[at].uses, *uses))
    return [one for one in every if one.turns or (one.client, one.id) not in parents]


def _read_line(
    line: bytes,
    kind: SessionFormat,
    draft: SessionDraft,
    seen: set[bytes],
    result: SessionFiles,
) -> None:
    is_wanted = kind.is_of_interest(line, draft)
    if not is_wanted and line.rstrip().endswith(b"}"):
        first = _TYPE.search(line)
        if first and first[1].decode("ascii", "replace") in kind.types:
            return
    try:
        row = row_of(json.loads(line))
        name = text_of(row.get("type"))
        if not row:
            _note_gap(line, draft, result)
        elif name not in kind.types:
            result.unknown[f"{kind.key}: {name[:64] or 'no type'}"] += 1
        elif is_wanted:
            draft.is_copy = _is_copy(row, seen)
            if part := kind.take(row, draft):
                result.unknown[f"{kind.key}: {part[:64]}"] += 1
    except (ValueError, RecursionError):  # a line that is cut, or nested without end
        if line.strip():
            _note_gap(line, draft, result)


def _note_gap(line: bytes, draft: SessionDraft, result: SessionFiles) -> None:
    result.bad += 1
    draft.gaps.append(line[:_GAP_BYTES].decode("utf-8", "replace"))


def _is_copy(row: Row, seen: set[bytes]) -> bool:
    """Tell whether another file has this entry: a resumed session copies them."""
    if mark := text_of(row.get("uuid")):
        entry = f"{mark} {row.get('timestamp')}"
    elif mark := text_of(row_of(row.get("payload")).get("id")):
        entry = f"{mark} {row.get('payload')}"
    else:
        return False
    digest = blake2b(entry.encode("utf-8", "replace"), digest_size=12).digest()
    is_there = digest in seen
    seen.add(digest)
    return is_there
