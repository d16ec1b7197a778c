"""What an index knows of one source: packs that need not be read, or looked for."""

import json
import os
import sys
import time
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from stat import S_ISDIR
from typing import Final, cast

from satchel.catalog import ParseOptions, ScannedPack, SourceScanner
from satchel.errors import SkillError
from satchel.index._file import IndexFile, NewRow, PackRow, StoredRows
from satchel.index._stored_packs import (
    ROW_ERRORS,
    UTF_8,
    IndexedSource,
    StoredPacks,
    decode_findings,
    decode_pack,
    encode_findings,
    encode_pack,
    folder_mark,
    is_racy,
    mark_now,
    mark_of_read,
    paths_of,
)
from satchel.model import SKILL_FILE, Finding
from satchel.protocols import SkillSource, index_key
from satchel.published import VERSION

# Raised when what reads packs reads them otherwise, so that older rows are not used.
READER_VERSION: Final = 6
# Where more packs than these changed, one search is quicker than a look at each.
_MOST_LOOKS: Final = 500


@dataclass(frozen=True, slots=True)
class _State:
    """What is stored of a source next to its packs and folders.

    ``pending`` packs are read again in any case, since their marks may not show an
    edit; ``seen`` is how many entries the search looked at.
    """

    links: Mapping[str, bool]
    findings: tuple[Finding, ...]
    pending: tuple[str, ...]
    seen: int
    is_plain: bool

    @classmethod
    def of(cls, data: bytes) -> "_State":
        links, findings, pending, seen, is_plain = json.loads(data)
        return cls(links, decode_findings(findings), tuple(pending), seen, is_plain)

    def encode(self) -> bytes:
        findings = encode_findings(self.findings)
        return _json((self.links, findings, self.pending, self.seen, self.is_plain))


class DiskSourceIndex:
    """The rows of one source; only the thread that scans it uses this."""

    def __init__(
        self, file: IndexFile, name: str, source: IndexedSource, check: str
    ) -> None:
        self._file = file
        self.name = name
        self._source = source
        self._check = check
        self._rows: dict[str, PackRow] = {}
        self._stored: StoredRows | None = None
        self._lost = 0
        self._began = 0, 0.0
        self.looked = 0
        """How many packs were looked at: grows while it goes on."""
        self._forgotten: set[str] = set()
        # Packs that were stored, their generation, and their numbers by key.
        self._written: tuple[object, str, Mapping[str, int]] | None = None

    @classmethod
    def of(
        cls, file: IndexFile, check: str, source: SkillSource, accept: ParseOptions
    ) -> "DiskSourceIndex | None":
        """Return what a file has of a source; None if it can have nothing."""
        key = index_key(source)
        if not key:
            return None
        # Rights are a part of it: who may read less must not get what others read.
        rights: object = ()
        if sys.platform != "win32":
            rights = os.geteuid(), os.getegid(), sorted(os.getgroups())
        # So is the locale: under one that is not UTF-8, names of files read otherwise.
        names = sys.getfilesystemencoding()
        all_of_it = (READER_VERSION, VERSION, rights, names, accept, key)
        name = sha256(repr(all_of_it).encode("utf-8", "backslashreplace")).hexdigest()
        # Through wrappers: what they pass on is that of the folder.
        folder = cast("IndexedSource", source)
        return cls(file, f"source/{name}", folder, check)

    def forget(self, key: str) -> None:
        """Take no row for this pack: it was read again, whatever its marks say."""
        self._forgotten.add(key)

    def rows_of(self, packs: object) -> tuple[str, Mapping[str, int]] | None:
        """Return the generation and the rows of these packs; None without any."""
        if isinstance(packs, StoredPacks):
            return packs.generation, packs.number_of()
        written = self._written
        return written[1:] if written is not None and written[0] is packs else None

    def begin(self, began: tuple[int, float]) -> None:
        """Read the rows for a scan that began at this time, by two clocks."""
        self._began = began
        self._load_rows(with_marks=self._check != "trust")

    def _load_rows(self, *, with_marks: bool) -> None:
        self._stored = stored = self._file.rows(self.name, with_marks=with_marks)
        self._rows, self._lost = {}, 0
        if stored is not None:
            self._rows = {row.key.decode(*UTF_8): row for row in stored.rows}
            twice = len(stored.rows) - len(self._rows)
            self._lost = stored.lost + twice

    def packs(self, label: str) -> dict[str, ScannedPack]:
        """Return the packs as they were when they had their marks."""
        if self._stored is not None and not self._rows:
            self._load_rows(with_marks=True)
        data = self._file.packs(self.name)
        packs: dict[str, ScannedPack] = {}
        for key, row in self._rows.items():
            try:
                pack = decode_pack(data[row.number], label)
            except ROW_ERRORS:
                self.forget(key)
                continue
            if key not in self._forgotten:
                packs[key] = pack
        return packs

    def recall(
        self, scanner: SourceScanner, last: object
    ) -> tuple[Mapping[str, ScannedPack], tuple[Finding, ...]] | None:
        """Return what a scan would find, by looking at what the last one depended on.

        None where only a scan can tell, or where ``last`` has more than the file.
        Packs that changed are read. Where they are those of ``last``, that is returned.
        """
        written = self._written is not None and self._written[0] is last
        if not (last is None or written or isinstance(last, StoredPacks)):
            return None
        check = self._check
        self._check = "files"  # a later sync looks at everything
        state, stored = self._plain_state(), self._stored
        if state is None or stored is None:
            return None
        changed = self._changed(check, stored, state)
        if changed is None or len(changed) > _MOST_LOOKS:
            return None
        # Before a pack is read: its place is asked for.
        self._source.skip_scan(self._rows)
        if changed:
            packs = self._with_changed(
                scanner, stored, changed, state, is_first=last is None
            )
            return None if packs is None else (packs, state.findings)
        if isinstance(last, StoredPacks) and last.generation == stored.generation:
            return last, state.findings
        keys = list(self._rows) or None
        self._rows = {}
        packs = StoredPacks(self._file, self.name, self._source, scanner, stored, keys)
        return packs, state.findings

    def _changed(
        self, check: str, stored: StoredRows, state: _State
    ) -> set[str] | None:
        """Return the packs that are not as they were; None if there may be others."""
        changed = {*state.pending, *self._forgotten}
        if check != "trust":
            if self._is_folder_changed(stored, state):
                return None
            changed.update(self._changed_packs(folders_only=check == "folders"))
        elif changed:
            self._load_rows(with_marks=True)
            generation = self._stored.generation if self._stored else ""
            if self._lost or generation != stored.generation:
                return None  # another process was here
        return changed

    def _with_changed(
        self,
        scanner: SourceScanner,
        stored: StoredRows,
        changed: set[str],
        state: _State,
        *,
        is_first: bool,
    ) -> Mapping[str, ScannedPack] | None:
        """Return all packs, of which some are read; None where only a scan can tell."""
        now_ns = self._now_ns()
        read: dict[str, ScannedPack] = {}
        keys, rows = list(self._rows), cast("list[int | NewRow]", [*stored.numbers])
        pending: list[str] = []
        for key in sorted(changed):
            pack = self._read_again(scanner, key, state)
            # A pack that was good may be half written: a scan waits for that.
            if pack is None or (pack[0].refused and not is_first):
                return None
            read[key] = pack[0]
            row = self._new_row(key, *pack, now_ns)
            if not _has_mark(row):
                pending.append(key)
            place = bisect_left(keys, key)
            replaced = int(keys[place : place + 1] == [key])
            keys[place : place + replaced] = [key]
            rows[place : place + replaced] = [row]
        state = replace(state, pending=tuple(pending))
        written = self._file.write(self.name, state.encode(), None, rows)
        if written is None:  # a full disk
            packs = {**self.packs(scanner.label), **read}
            return None if len(packs) < len(keys) else {key: packs[key] for key in keys}
        self._forgotten.clear()
        now = stored._replace(numbers=written[0], generation=written[1])
        became = {
            self._rows[key].number: written[0][bisect_left(keys, key)]
            for key in read
            if key in self._rows
        }
        self._rows = {}
        return StoredPacks(
            self._file,
            self.name,
            self._source,
            scanner,
            now,
            keys,
            (stored.generation, became),
        )

    def _plain_state(self) -> _State | None:
        """Return what is stored, where it says all that a scan would find."""
        if self._stored is None or self._lost:
            return None
        try:
            state = _State.of(self._stored.state)
        except ROW_ERRORS:
            return None
        return state if state.is_plain else None

    def save(
        self, packs: Mapping[str, ScannedPack], findings: tuple[Finding, ...]
    ) -> None:
        """Store what a scan found."""
        trace, self._written = self._source.trace, None
        if trace is None:
            return
        if self._stored is not None and len(self._rows) < len(self._stored.numbers):
            self._load_rows(with_marks=True)
        now_ns = self._now_ns()
        order: dict[str, int | NewRow] = {}
        for key, pack in packs.items():
            row = self._rows.get(key)
            new = self._new_row(key, pack, trace.subfolders.get(key, ()), now_ns)
            is_same = new[2] and row is not None and new[1:3] == row[2:]
            if row is not None and is_same and key not in self._forgotten:
                order[key] = row.number
            else:
                order[key] = new
        folders = _json({key: self._folder_mark(key, now_ns) for key in trace.folders})
        pending = (key for key, row in order.items() if not _has_mark(row))
        state = _State(
            *(trace.links, findings, tuple(pending)),
            *(self._source.progress, trace.is_plain),
        ).encode()
        stored, rows = self._stored, list(order.values())
        written: tuple[Sequence[int], str] | None
        if (
            stored is not None
            and (stored.state, stored.folders) == (state, folders)
            and list(stored.numbers) == rows
        ):
            written = stored.numbers, stored.generation
        else:
            written = self._file.write(self.name, state, folders, rows)
        if written is not None:
            numbers = dict(zip(packs, written[0], strict=True))
            self._written = packs, written[1], numbers
        self._forgotten.clear()
        self._rows = {}

    def _new_row(
        self, key: str, pack: ScannedPack, subfolders: tuple[str, ...], now_ns: int
    ) -> NewRow:
        """Return a row; without a mark where that might not show an edit."""
        folder = f"{self._source.root}/{key}"
        paths = mark = b""
        with suppress(OSError, *ROW_ERRORS):
            paths = paths_of(pack, subfolders)
            mark = mark_of_read(folder, pack, subfolders)
            if is_racy(mark, paths, now_ns):
                mark = b""
        return key.encode(*UTF_8), paths, mark, partial(encode_pack, pack)

    def _folder_mark(self, key: str, now_ns: int) -> str | None:
        try:
            mark = folder_mark(f"{self._source.root}/{key}", follow=not key)
        except (OSError, ValueError):
            return None
        return None if is_racy(mark, b"", now_ns) else mark.hex()

    def _is_folder_changed(self, stored: StoredRows, state: _State) -> bool:
        root = self._source.root
        try:
            folders: dict[str, str | None] = json.loads(stored.folders)
            for key, mark in folders.items():
                if mark != folder_mark(f"{root}/{key}", follow=not key).hex():
                    return True
        except (OSError, ValueError):
            return True
        for key, leads_to_file in state.links.items():
            try:
                status = os.stat(f"{root}/{key}")  # noqa: PTH116
            except (OSError, ValueError):
                if leads_to_file:
                    return True
                continue
            if not leads_to_file or S_ISDIR(status.st_mode):
                return True
        return False

    def _changed_packs(self, *, folders_only: bool) -> list[str]:
        root = self._source.root
        changed: list[str] = []
        for key, (_, _, paths, mark) in self._rows.items():
            self.looked += 1
            try:
                now = mark_now(f"{root}/{key}", paths, folders_only=folders_only)
            except (OSError, ValueError):
                changed.append(key)
                continue
            if now != (mark[: len(now)] if folders_only else mark):
                changed.append(key)
        return changed

    def _read_again(
        self, scanner: SourceScanner, key: str, state: _State
    ) -> tuple[ScannedPack, tuple[str, ...]] | None:
        """Return one pack as a scan would find it, and its folders; None if unsure."""
        try:
            looked = self._source.look_at(key)
        except SkillError:
            return None
        if looked is None:
            return None
        listed, entries, subfolders = looked
        row = self._rows.get(key)
        top = {name.partition("/")[0] for name in _names(row)}
        # More entries than before might be more than a search may look at.
        if entries > len(top) and state.seen * 4 > scanner.accept.limits.scan_entries:
            return None
        where = listed.location
        inside = f"{where}/"
        if any(f.path == where or f.path.startswith(inside) for f in state.findings):
            return None
        return scanner.builder(scanner.source).read(listed), subfolders

    def _now_ns(self) -> int:
        """Return when this began, by the clock that is further behind."""
        wall_ns, monotonic = self._began
        passed_ns = int((time.monotonic() - monotonic) * 1e9)
        return min(wall_ns, self._file.time_ns() - passed_ns)


def _has_mark(row: int | NewRow) -> bool:
    """Return whether an edit would show; a row that was stored before has a mark."""
    return isinstance(row, int) or bool(row[2])


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _names(row: PackRow | None) -> list[str]:
    if row is None or not row.paths:
        return [SKILL_FILE]
    return row.paths.decode(*UTF_8).split("\0")[1:]
