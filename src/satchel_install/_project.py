"""A project that has skills installed: its files, and how they are changed as one.

What changes is written down first, in a journal, so that a command that was cut off is
finished by the next one. The lock is written last.
"""

import json
import os
import shutil
import stat
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from satchel.config import doubt_of, load_config, own_config
from satchel.errors import ConfigError, ExtraMissingError, NotWrittenError
from satchel.files import digest_bytes, list_folder, naming, write_file
from satchel.model import CONFIG_FILE, Resource
from satchel_install._entries import SkillsEntry, Upstream, parse_entries
from satchel_install._lock import (
    LOCK_FILE,
    Lock,
    LockedSkill,
    check_merged,
    parse_lock,
    read_file,
    read_lock,
    stored_files,
)
from satchel_install._trust import check_places
from satchel_store.content import ContentStore

SKILLS_FOLDER: Final = "skills"
_PROJECT_FILE: Final = "pyproject.toml"
# Below the folder of skills, as a rename needs one file system.
_WORK: Final = ".satchel"
_JOURNAL: Final = "journal.json"
_FILE_MODE: Final = 0o644
# How often, and after how many seconds, another command is looked for again: one that
# was killed may have left a child that is about to end.
_TRIES: Final = 20
_PAUSE_S: Final = 0.05
_Skills: TypeAlias = list[LockedSkill]


class Project:
    """The folder of a project; nothing is read before it is asked for."""

    def __init__(self, folder: Path, skills: str = SKILLS_FOLDER) -> None:
        self.folder: Final = folder.absolute()
        self.skills: Final = self.folder / skills
        self.lock_file: Final = self.folder / LOCK_FILE

    @classmethod
    def nearest(cls, start: Path) -> "Project":
        """Return the project of the nearest folder, from ``start`` upwards.

        It is the one with a satchel.toml, a satchel.lock, or a table in pyproject.toml;
        without any it is ``start``.
        """
        for folder in (start, *start.parents):
            named = any((folder / name).is_file() for name in (CONFIG_FILE, LOCK_FILE))
            if named or _table_in(folder / _PROJECT_FILE) is not None:
                return cls(folder)
        return cls(start)

    @property
    def config_file(self) -> Path:
        """The file that has ``[skills]``."""
        own, project = self.folder / CONFIG_FILE, self.folder / _PROJECT_FILE
        return own if own.is_file() or _table_in(project) is None else project

    def entries(self) -> dict[str, SkillsEntry]:
        """Return the entries of ``[skills]``, by name."""
        file = self.config_file
        table = (_table_in(file) or {}).get("skills", {})
        if isinstance(table, list):
            folders = [*map(os.path.normpath, map(str, cast("list[object]", table)))]
            if folders in ([], [SKILLS_FOLDER]):
                return {}
            detail = "skills is a list of folders here; write the table [skills] in a "
            detail += f"{CONFIG_FILE} of a folder of its own"
            raise ConfigError(str(file), detail)
        if not isinstance(table, dict):
            raise ConfigError(str(file), "skills: expected a table")
        return parse_entries(cast("dict[str, object]", table), str(file))

    def lock(self) -> Lock:
        """Return what satchel.lock says; an empty lock without one."""
        return read_lock(self.lock_file)

    def withdrawn(self) -> dict[str, str]:
        """Return what the user or the project has withdrawn: why, by digest.

        Raises:
            ConfigError: A file of settings cannot be used.
        """
        trust = (_table_in(self.config_file) or {}).get("trust")
        more = isinstance(trust, dict) and "withdrawn" in trust
        config = load_config(self.config_file) if more else own_config(os.environ)
        if not config.withdrawn:
            return {}
        from satchel_install._verifiers import read_withdrawn  # 0.1 s

        return read_withdrawn(config.withdrawn)

    def config_with(self, entries: Mapping[str, SkillsEntry]) -> str:
        """Return the configuration file with other entries; comments are kept."""
        try:
            import tomlkit
        except ImportError as error:
            raise ExtraMissingError("writing satchel.toml", "install") from error
        file = self.config_file
        document: Any = tomlkit.parse((read_file(file) or b"").decode("utf-8-sig"))
        table = document
        for key in ("tool", "satchel") if file.name == _PROJECT_FILE else ():
            table = table[key]
        if not isinstance(table.get("skills"), dict):
            table.pop("skills", None)
            table["skills"] = tomlkit.table()
        rows = table["skills"]
        for name in rows.keys() - entries.keys():
            del rows[name]
        for name, entry in entries.items():
            fields = entry.to_toml()
            if name not in rows or rows[name].unwrap() != fields:
                row: Any = tomlkit.inline_table()
                row.update(fields)
                rows[name] = row
        return str(tomlkit.dumps(document))

    # --- the folder of skills ---------------------------------------------------------

    def state_of(self, skill: LockedSkill) -> str:
        """Return how an installed pack is: ``equal``, ``missing`` or ``edited``.

        Raises:
            OSError: A file cannot be read, so that nobody knows.
        """
        if not os.path.lexists(self.skills / skill.id):
            return "missing"
        return "edited" if self.differences(skill, readable=True) else "equal"

    def differences(self, skill: LockedSkill, *, readable: bool = False) -> list[str]:
        """Return how the files of an installed pack differ from those of a lock.

        A file that cannot be read is one, or with ``readable`` an error.
        """
        folder = self.skills / skill.id
        if folder.is_symlink() or not folder.is_dir():
            return [f"{skill.id} is no folder, or a link"]
        paths = dict(files_below(folder))
        texts: list[str] = []
        for file in skill.files:
            path = paths.pop(file.path, None)
            try:
                problem = "is missing" if path is None else _difference(path, file)
            except OSError as error:
                if readable:
                    raise
                problem = f"cannot be read: {error.strerror}"
            texts += [f"{skill.id}/{file.path} {problem}"] if problem else []
        texts += [f"{skill.id}/{path} is not in satchel.lock" for path in paths]
        return texts

    @contextmanager
    def changing(self, store: ContentStore) -> Generator[None]:
        """Let one command at a time change the project; finish what was cut off first.

        Raises:
            NotWrittenError: Another command is at work, or a folder is a link.
        """
        work = self.skills / _WORK
        # All that a command moves, writes or removes is below these.
        for place in (self.skills, work, work / "new", work / "old"):
            if place.is_symlink():
                raise NotWrittenError(str(place), "it is a link; put a folder there")
        with _alone(self.folder):
            self._recover(store)
            yield

    def apply(self, change: "Journal", skills: _Skills, store: ContentStore) -> None:
        """Put packs of the new lock in place, then the files of the project.

        Each pack is old or new, and never half of each. If this is cut off, the next
        command goes on with it.
        """
        work = self.skills / _WORK
        work.mkdir(parents=True, exist_ok=True)
        write_file(work / _JOURNAL, change.data, _FILE_MODE)
        self._finish(change, skills, store)

    def _finish(self, change: "Journal", skills: _Skills, store: ContentStore) -> None:
        before, after = change.before.skills, change.after.skills
        for name in ("new", "old"):
            _remove(left := self.skills / _WORK / name)
            left.mkdir()
        # Some were put there before this was cut off.
        for skill in [one for one in skills if self.state_of(one) != "equal"]:
            self._swap(skill.id, stored_files(skill, store))
        for skill_id in before.keys() - after.keys() - change.leave:
            self._swap(skill_id, None)
        if change.config is not None:
            write_file(self.config_file, change.config.encode(), _FILE_MODE)
        write_file(self.lock_file, change.after.data, _FILE_MODE)
        shutil.rmtree(self.skills / _WORK, ignore_errors=True)

    def _swap(self, skill_id: str, files: Mapping[str, bytes] | None) -> None:
        """Put a pack in the place of what is there; None removes it."""
        # Texts: to make paths of them would take longer than what is done with them.
        place, work = f"{self.skills}/{skill_id}", f"{self.skills}/{_WORK}"
        new, old = f"{work}/new/{skill_id}", f"{work}/old/{skill_id}"
        for folder in {path.rpartition("/")[0] for path in files or ()}:
            os.makedirs(f"{new}/{folder}", exist_ok=True)  # noqa: PTH103
        for path, data in (files or {}).items():
            file = f"{new}/{path}"
            with naming(file), open(file, "xb") as out:  # noqa: PTH123
                out.write(data)
        if is_there := os.path.lexists(place):
            os.rename(place, old)  # noqa: PTH104
        if files is not None:
            os.rename(new, place)  # noqa: PTH104
        if is_there:
            _remove(Path(old))

    def _recover(self, store: ContentStore) -> None:
        """Finish what a command that was cut off had begun."""
        journal = self.skills / _WORK / _JOURNAL
        data = read_file(journal)
        if data is None:
            shutil.rmtree(self.skills / _WORK, ignore_errors=True)
            return
        change = Journal.parse(data, str(journal))
        # A pack that was moved out of the way, and whose new one never came.
        for skill_id in {*change.before.skills, *change.after.skills}:
            old = self.skills / _WORK / "old" / skill_id
            if os.path.lexists(old) and not os.path.lexists(self.skills / skill_id):
                old.rename(self.skills / skill_id)
        after = change.after
        due = [one for i, one in after.skills.items() if i not in change.leave]
        missing = [skill for skill in due if self.state_of(skill) != "equal"]
        # It may have come along with a cloned project, as a lock does.
        of = after.entries
        rows = ((one.entry, one.upstream, of.get(one.entry, ())) for one in missing)
        requested = [SkillsEntry(*row) for row in rows]
        check_places(self.folder, requested, after)
        from satchel_install._resolve import fetch_locked  # it seldom happens

        fetch_locked(missing, self.folder, store)
        self._finish(change, missing, store)


def relative_place(upstream: Upstream, project: Project, start: Path) -> Upstream:
    """Return an upstream whose path is relative to the project, as its file has it."""
    if upstream.kind not in {"folder", "archive"} or "://" in upstream.place:
        return upstream
    place = os.path.relpath(start.absolute() / upstream.place, project.folder)
    if Path(place) == Path("skills"):
        detail = "it is the folder that skills are installed in"
        raise ConfigError(upstream.place, f"{detail}; they are in use as they are")
    return replace(upstream, place=Path(place).as_posix())


@dataclass(frozen=True, slots=True)
class Journal:
    """What a command changes: the locks of before and after, and the settings.

    ``config`` is None where the settings stay. ``leave`` are ids of packs that stay as
    they are, whatever the locks say.
    """

    before: Lock
    after: Lock
    config: str | None = None
    leave: frozenset[str] = frozenset()

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        texts = {"before": self.before.data.decode(), "after": self.after.data.decode()}
        more = {"config": self.config, "leave": sorted(self.leave)}
        return json.dumps({**texts, **more}).encode()

    @classmethod
    def parse(cls, data: bytes, where: str) -> "Journal":
        """Return what a file says; ``where`` is its path.

        Raises:
            ConfigError: It is damaged.
        """
        try:
            document = json.loads(data)
            texts = (str(document[key]).encode() for key in ("before", "after"))
            before, after = (parse_lock(text, where) for text in texts)
            text = document["config"]
            config = None if text is None else str(text)
            return cls(before, after, config, frozenset(map(str, document["leave"])))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            folder = where.removesuffix(f"/{_JOURNAL}")
            detail = f"it is damaged; delete {folder}, and type: satchel sync"
            raise ConfigError(where, detail) from error


def _table_in(file: Path) -> dict[str, object] | None:
    """Return what a file says of Satchel; None where it says nothing."""
    import tomllib

    data = read_file(file)
    if data is None:
        return None
    try:
        table: Any = tomllib.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        check_merged(data, str(file), "keep the entries of both sides")
        raise ConfigError(str(file), str(error)) from error
    for key in ("tool", "satchel") if file.name == _PROJECT_FILE else ():
        is_table = isinstance(table, dict)
        table = cast("dict[str, object]", table).get(key) if is_table else None
    if not isinstance(table, dict):
        return None
    if doubt := doubt_of(file):
        raise ConfigError(str(file), f"{doubt}, so it is not used")
    return cast("dict[str, object]", table)


def _difference(path: str, file: Resource) -> str:
    """Return how a file differs from that of a lock; empty where it does not."""
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode):
        return "is no regular file"
    # So that no more is read than the lock says.
    if status.st_size != file.size:
        return f"has {status.st_size} bytes, locked {file.size}"
    digest = digest_bytes(Path(path).read_bytes())
    return "" if digest == file.digest else f"is {digest}, locked {file.digest}"


def files_below(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield all that is in a folder and is no folder, by its path there."""
    folders = [(str(folder), "")]
    while folders:
        inner, start = folders.pop()
        for entry in list_folder(inner, 100_000):
            if entry.is_dir(follow_symlinks=False):
                folders.append((entry.path, f"{start}{entry.name}/"))
            else:
                yield f"{start}{entry.name}", entry.path


def _remove(place: Path) -> None:
    if place.is_symlink() or place.is_file():
        place.unlink()
    elif place.is_dir():
        shutil.rmtree(place)


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Let no other command of ours work on a project meanwhile, where that is held.

    The lock is on the folder itself, and ends with the process, however it ends.
    """
    try:
        import fcntl
    except ImportError:  # Windows has no such lock on a folder
        yield
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        for left in range(_TRIES, -1, -1):
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if not left:
                    detail = "another satchel command is changing this project; wait "
                    raise NotWrittenError(str(folder), f"{detail}for it") from error
            time.sleep(_PAUSE_S)
        yield
    finally:
        with suppress(OSError):
            os.close(opened)
