"""What the commands do: find the project, plan, show, apply."""

import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from satchel.cli import echo_error, echo_json, echo_rows, on_terminal, progress
from satchel.errors import ConfigError, NotInstalledError
from satchel.files import digest_bytes
from satchel.text import plural
from satchel_install._entries import SkillsEntry, Upstream, name_problem
from satchel_install._execution import Execution, Output
from satchel_install._lock import LOCK_FILE, parse_lock
from satchel_install._project import Project, relative_place
from satchel_install._sync import SyncOptions, plan_sync
from satchel_install._trust import approve, is_approved
from satchel_store.content import ContentStore

_PATTERN: Final = frozenset("*?[")


def add(
    start: Path, upstream: Upstream, names: Collection[str], name: str, output: Output
) -> int:
    """Add a source's skills to the project; see ``satchel add --help``."""
    if name and (problem := name_problem(name)):
        raise ConfigError("--name", problem)
    project, store = Project.nearest(start), ContentStore()
    upstream = relative_place(upstream, project, start)
    with project.changing(store):
        entries = project.entries()
        new = _new_entries(upstream, names, name, project, entries)
        options = SyncOptions(typed=new.keys())
        with progress(f"reading {upstream.place}"):
            plan = plan_sync(project, entries | new, store, options)
        for one in filter(entries.get, new):
            was, now = entries[one].upstream, new[one].upstream
            if was != now:
                plan.warnings.append(f"{one} was {was} in [skills], and is {now} now")
        return Execution(project, store, plan, output).run(options.typed)


def add_from(start: Path, file: Path, output: Output) -> int:
    """Add what another tool's lock file lists; see ``satchel add --help``."""
    from satchel_install._foreign_lock import differences, read_foreign_lock

    project, store = Project.nearest(start), ContentStore()
    with project.changing(store):
        entries = project.entries()
        foreign = read_foreign_lock(file, project, entries)
        with progress(f"reading what {foreign.where} lists"):
            # The file may be of anybody: nobody here has typed what it lists.
            plan = plan_sync(project, entries | foreign.entries, store, SyncOptions())
        plan.warnings += foreign.left + differences(foreign, plan.after, store)
        typed = () if foreign.entries else None
        status = Execution(project, store, plan, output).run(typed)
        return 1 if foreign.left else status


def _new_entries(
    upstream: Upstream,
    names: Collection[str],
    name: str,
    project: Project,
    entries: Mapping[str, SkillsEntry],
) -> dict[str, SkillsEntry]:
    """Return the entries to add: one a skill that is named, else one for all."""
    if names and not name and not any(_PATTERN & {*one} for one in names):
        paths: dict[str, str] = {}
        if upstream.kind == "git":
            from satchel_install._resolve import opened_upstream  # 0.1 s

            with opened_upstream(upstream, project.folder) as opened:
                library = opened.library(upstream.path)
                paths = {e.id: library.path_of(e) for e in library.entries}
        if all(one in paths for one in names):
            places = [(one, replace(upstream, path=paths[one])) for one in names]
            return {one: SkillsEntry(one, at) for one, at in places}
        # What is wrong with the names is said where they are resolved.
        return {one: SkillsEntry(one, upstream, (one,)) for one in names}
    own = name or _entry_name(upstream, entries)
    return {own: SkillsEntry(own, upstream, tuple(names))}


def _entry_name(upstream: Upstream, entries: Mapping[str, SkillsEntry]) -> str:
    """Return a name for all of an upstream: its last part, and above it where taken."""
    parts = f"{upstream.place}/{upstream.path}".rstrip("/").replace(":", "/").split("/")
    words = [part.removesuffix(".git") for part in parts if part not in ("", "..")]
    for count in range(1, len(words) + 1):
        name = "-".join(words[-count:])
        there = entries.get(name)
        if there is None or replace(there.upstream, rev=upstream.rev) == upstream:
            return name
    return "-".join(words)


def remove(start: Path, names: Collection[str], output: Output) -> int:
    """Remove entries; see ``satchel remove --help``."""
    project, store = Project.nearest(start), ContentStore()
    with project.changing(store):
        before, entries = project.entries(), project.entries()
        for name in names:
            _remove_one(name, project, entries)
        changed = {name for name, entry in entries.items() if entry != before[name]}
        plan = plan_sync(project, entries, store, SyncOptions(typed=changed))
        return Execution(project, store, plan, output).run(changed)


def _remove_one(name: str, project: Project, entries: dict[str, SkillsEntry]) -> None:
    """Take an entry out, or a skill out of the entry that lists it."""
    if entries.pop(name, None) is not None:
        return
    owner = next((entry for entry in entries.values() if name in entry.skills), None)
    if owner is None:
        detail = _unknown(name, project, entries)
        raise ConfigError(str(project.config_file), detail)
    rest = tuple(one for one in owner.skills if one != name)
    del entries[owner.name]
    if rest:
        entries[owner.name] = SkillsEntry(owner.name, owner.upstream, rest)


def _unknown(name: str, project: Project, entries: Mapping[str, SkillsEntry]) -> str:
    skill = project.lock().skills.get(name)
    if skill is not None and skill.entry in entries:
        count = plural(len(project.lock().of_entry(skill.entry)), "skill")
        detail = f"{name} is one of {count} of the entry {skill.entry}; list those that"
        return f"{detail} you want in its `skills`"
    return f"[skills] has no entry {name!r}; it has: {', '.join(entries) or 'none'}"


def sync(start: Path, options: SyncOptions, output: Output) -> int:
    """Make the project what it wants; see ``satchel sync --help``."""
    project, store = Project.nearest(start), ContentStore()
    with project.changing(store):
        entries = project.entries()
        if not entries and not project.lock().skills:
            detail = "there is no [skills] to sync; add one: satchel add SOURCE"
            raise ConfigError(str(project.config_file), detail)
        with progress("looking for skills"):
            plan = plan_sync(project, entries, store, options)
        return Execution(project, store, plan, output).run(None)


def trust(start: Path, *, revoke: bool, yes: bool) -> int:
    """Approve a lock; see ``satchel trust --help``."""
    project = Project.nearest(start)
    if revoke:
        approve(project.folder)
        echo_error(f"{project.lock_file} is not approved any more")
        return 0
    if not project.lock_file.is_file():
        detail = f"there is no {LOCK_FILE} to approve; make one: satchel sync"
        raise NotInstalledError(str(project.folder), detail)
    data = project.lock_file.read_bytes()
    lock, digest = parse_lock(data, str(project.lock_file)), digest_bytes(data)
    if is_approved(project.folder, digest):
        echo_error(f"{project.lock_file} is approved already: {digest}")
        return 0
    rows = [(skill.id, skill.digest, skill.source) for skill in lock.skills.values()]
    echo_rows(rows, None)
    if not yes:
        if not on_terminal():
            detail = "nobody is here to ask; read the lock, and add --yes"
            raise click.UsageError(detail)
        question = f"Use {plural(len(lock.skills), 'skill')} as locked?"
        click.confirm(question, abort=True)
    approve(project.folder, digest)
    echo_error(f"{project.lock_file} is approved: {digest}")
    return 0


def prune_store(*, as_json: bool) -> int:
    """Remove what no lock of a noted project needs."""
    store, keep, projects = ContentStore(), set[str](), 0
    for noted in sorted((store.folder / "projects").glob("*")):
        lock_file = Path(os.fsdecode(noted.read_bytes()))
        if not lock_file.is_file():
            noted.unlink()
            continue
        projects += 1
        lock = parse_lock(lock_file.read_bytes(), str(lock_file))
        keep |= {file.digest for skill in lock.skills.values() for file in skill.files}
    files, size = store.prune(keep)
    if as_json:
        echo_json({"removed": files, "bytes": size, "projects": projects})
    else:
        removed, of = plural(files, "file"), plural(projects, "project")
        counts = f"{removed}, {size:,} bytes; kept for {of}"
        echo_error(f"{store.folder}: removed {counts}")
    return 0
