"""What the commands do: find the project, plan, show, apply."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Final

import click

from satchel import cli
from satchel.errors import ConfigError, NotInstalledError
from satchel.files import digest_bytes, write_file
from satchel.model import SKILL_FILE
from satchel.text import plural
from satchel_install._entries import SkillsEntry, Upstream, name_problem
from satchel_install._lock import EMPTY, LOCK_FILE, LockedSkill, parse_lock
from satchel_install._project import Project, relative_place
from satchel_install._sync import SIGNS, SyncOptions, SyncPlan, apply_plan, plan_sync
from satchel_install._trust import NOT_APPROVED, approve, is_approved, lock_digest
from satchel_store.content import ContentStore

_PATTERN: Final = frozenset("*?[")
_SHOWN: Final = 10
_MODE: Final = 0o644
# What is locked is not asked for again, so that another entry has to ask.
_ALL: Final = "satchel add SOURCE --name AGAIN --dry-run --verbose"


@dataclass(frozen=True, slots=True)
class Output:
    """Whether a command only shows what it would do, and whether as JSON."""

    dry_run: bool
    as_json: bool


@dataclass(frozen=True, slots=True)
class Execution:
    """A plan that is carried out, and shown."""

    project: Project
    store: ContentStore
    plan: SyncPlan
    output: Output

    def run(self) -> int:
        """Carry it out, and return the status."""
        plan, project, store = self.plan, self.project, self.store
        typed = plan.options.typed
        was_approved = is_approved(project.folder, lock_digest(project.folder))
        # An entry that came with a project, also later, is one that nobody here typed.
        counts = (was_approved or (plan.before == EMPTY and bool(typed))) and all(
            name in (typed or ()) or plan.before.resolves(entry)
            for name, entry in plan.entries.items()
        )
        dry_run, as_json = self.output.dry_run, self.output.as_json
        advice: dict[str, object] = {"review": [], "routing": [], "not_advised": ""}
        lines: list[str] = []
        if {*plan.changes.values()} - {"restore"}:
            from satchel_install._advice import advice_on  # 0.1 s

            advice, lines = advice_on(plan, project, store, routing=dry_run)
        for line in () if as_json else lines:
            cli.echo_error(line)
        # A container may have its project, and its user's folders, to read only.
        is_new = plan.after != plan.before or typed is not None
        if not dry_run and (plan.changes or is_new):
            config = None if typed is None else project.config_with(plan.entries)
            # Both, so that whatever ends this leaves a lock that counts.
            after = digest_bytes(plan.after.data)
            if counts:
                approve(project.folder, lock_digest(project.folder), after)
            apply_plan(plan, project, store, config)
            if counts:
                approve(project.folder, after)
        if not dry_run:
            _note_project(project, store)
            if not counts and (was_approved or typed == ()):
                cli.echo_error(NOT_APPROVED)
        if as_json:
            cli.echo_json(self._fields() | advice)
        else:
            self._show()
        return 1 if plan.edited else 0

    def _fields(self) -> dict[str, object]:
        plan, skills = self.plan, self.plan.after.skills
        changes = [
            {"id": skill_id, "change": change}
            | ({"digest": skills[skill_id].digest} if skill_id in skills else {})
            for skill_id, change in plan.changes.items()
        ]
        edited = [{"id": i, "differences": texts} for i, texts in plan.edited.items()]
        fields: dict[str, object] = {"changes": changes, "edited": edited}
        fields |= {"skills": len(skills), "dry_run": self.output.dry_run}
        findings = cli.finding_fields(plan.findings)
        return fields | {"warnings": plan.warnings, "findings": findings}

    def _show(self) -> None:
        plan = self.plan
        cli.show_findings(plan.findings, hint=_ALL)
        for warning in plan.warnings:
            cli.echo_error(f"warning: {warning}")
        cli.echo_rows([self._row(skill_id) for skill_id in plan.changes], cli.width())
        if self.output.dry_run:
            for skill_id in plan.changes:
                self._show_files(skill_id)
        for skill_id, texts in plan.edited.items():
            more = len(texts) - _SHOWN
            cli.echo_error(f"{skill_id} was edited by hand, and is left as it is:")
            for line in texts[:_SHOWN]:
                cli.echo_error(f"  {line}")
            if more > 0:
                cli.echo_error(f"  and {more} more")
            advice = f"to take the locked one: satchel sync --discard {skill_id}"
            if skill_id not in plan.after.skills:
                advice = "nothing asks for it any more; if nobody does, delete it"
            cli.echo_error(f"  {advice}")
        count = plural(len(plan.after.skills), "skill")
        done = "would change" if self.output.dry_run else "changed"
        state = f"{len(plan.changes)} {done}" if plan.changes else "nothing to do"
        cli.echo_error(f"{self.project.skills}: {count}, {state}")

    def _row(self, skill_id: str) -> tuple[str, ...]:
        plan, change = self.plan, self.plan.changes[skill_id]
        skill = plan.after.skills.get(skill_id) or plan.before.skills[skill_id]
        return f"{SIGNS[change]} {skill_id}", change, skill.source

    def _show_files(self, skill_id: str) -> None:
        """Print what would change of one skill: its files, and its description."""
        before = self.plan.before.skills.get(skill_id)
        after = self.plan.after.skills.get(skill_id)
        old = {file.path: file.digest for file in before.files} if before else {}
        new = {file.path: file.digest for file in after.files} if after else {}
        for path in sorted({*old, *new}):
            if old.get(path) != new.get(path):
                sign = "+" if path not in old else "-" if path not in new else "~"
                cli.echo(f"  {sign} {skill_id}/{cli.one_line(path)}")
        if before is None or after is None:
            return
        first, second = (_description(one, self.store) for one in (before, after))
        if first is not None and first != second:
            cli.echo(f"  its description was: {cli.one_line(first)}")
            cli.echo(f"  and would be:        {cli.one_line(second or '')}")


def _description(skill: LockedSkill, store: ContentStore) -> str | None:
    """Return what a locked skill says it is for; None where its bytes are not here."""
    digest = next(file.digest for file in skill.files if file.path == SKILL_FILE)
    if not store.has(digest):
        return None
    from satchel.skill_md import parse  # it is for --dry-run

    manifest = parse(store.get(digest), profile="auto").manifest
    return manifest.description if manifest else None


def _note_project(project: Project, store: ContentStore) -> None:
    """Note once that a project's lock needs what is in the store, if that is ours."""
    place = str(project.lock_file)
    noted = store.folder / "projects" / sha256(place.encode()).hexdigest()[:32]
    if not noted.exists() and os.access(store.folder, os.W_OK):
        noted.parent.mkdir(parents=True, exist_ok=True)
        write_file(noted, place.encode(), _MODE)


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
        with cli.progress(f"reading {upstream.place}"):
            plan = plan_sync(project, entries | new, store, options)
        for one in filter(entries.get, new):
            if (was := entries[one]) != (now := new[one]):
                plan.warnings.append(f"{one} was {was} in [skills], and is {now} now")
        return Execution(project, store, plan, output).run()


def add_from(start: Path, file: Path, output: Output) -> int:
    """Add what another tool's lock file lists; see ``satchel add --help``."""
    from satchel_install._foreign_lock import differences, read_foreign_lock

    project, store = Project.nearest(start), ContentStore()
    with project.changing(store):
        entries = project.entries()
        foreign = read_foreign_lock(file, project, entries)
        with cli.progress(f"reading what {foreign.where} lists"):
            # The file may be of anybody: nobody here has typed what it lists.
            typed = () if foreign.entries else None
            options = SyncOptions(typed=typed, optional=foreign.entries)
            plan = plan_sync(project, entries | foreign.entries, store, options)
        foreign.left += plan.left
        plan.warnings += foreign.left + differences(foreign, plan.after, store)
        return Execution(project, store, plan, output).run() or bool(foreign.left)


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
            # At the top of a repository there are all the others, too.
            rows = ((one, at, () if at.path else (one,)) for one, at in places)
            return {row[0]: SkillsEntry(*row) for row in rows}
        # What is wrong with the names is said where they are resolved.
        return {one: SkillsEntry(one, upstream, (one,)) for one in names}
    own = name or _entry_name(upstream, entries)
    return {own: SkillsEntry(own, upstream, tuple(names))}


def _entry_name(upstream: Upstream, entries: Mapping[str, SkillsEntry]) -> str:
    """Return a name for all of an upstream: its last part, and above it where taken."""
    parts = f"{upstream.place}/{upstream.path}".rstrip("/").replace(":", "/").split("/")
    words = [word for part in parts if (word := part.removesuffix(".git")).strip(".")]
    for count in range(1, len(words) + 1):
        name = "-".join(words[-count:])
        there = entries.get(name)
        is_free = there is None or replace(there.upstream, rev=upstream.rev) == upstream
        if is_free and not name_problem(name):
            return name
    raise ConfigError(upstream.place, "name the entry that it becomes: --name ENTRY")


def remove(start: Path, names: Collection[str], output: Output) -> int:
    """Remove entries; see ``satchel remove --help``."""
    project, store = Project.nearest(start), ContentStore()
    with project.changing(store):
        before, entries = project.entries(), project.entries()
        for name in names:
            _remove_one(name, project, entries)
        changed = {name for name, entry in entries.items() if entry != before[name]}
        plan = plan_sync(project, entries, store, SyncOptions(typed=changed))
        return Execution(project, store, plan, output).run()


def _remove_one(name: str, project: Project, entries: dict[str, SkillsEntry]) -> None:
    """Take an entry out, or a skill out of the entry that lists it."""
    if entries.pop(name, None) is not None:
        return
    owner = next((entry for entry in entries.values() if name in entry.skills), None)
    if owner is None:
        others = ", ".join(entries) or "none"
        detail = f"[skills] has no entry {name!r}; it has: {others}"
        skill = project.lock().skills.get(name)
        if skill is not None and skill.entry in entries:
            count = plural(len(project.lock().of_entry(skill.entry)), "skill")
            detail = f"{name} is one of {count} of the entry {skill.entry}; list those "
            detail += "that you want in its `skills`"
        raise ConfigError(str(project.config_file), detail)
    rest = tuple(one for one in owner.skills if one != name)
    del entries[owner.name]
    if rest:
        entries[owner.name] = SkillsEntry(owner.name, owner.upstream, rest)


def sync(start: Path, options: SyncOptions, output: Output) -> int:
    """Make the project what it wants; see ``satchel sync --help``."""
    project, store = Project.nearest(start), ContentStore()
    with project.changing(store):
        entries = project.entries()
        if not entries and not project.lock().skills:
            detail = "there is no [skills] to sync; add one: satchel add SOURCE"
            raise ConfigError(str(project.config_file), detail)
        with cli.progress("looking for skills"):
            plan = plan_sync(project, entries, store, options)
        return Execution(project, store, plan, output).run()


def trust(start: Path, *, revoke: bool, yes: bool) -> int:
    """Approve a lock; see ``satchel trust --help``."""
    project = Project.nearest(start)
    if revoke:
        approve(project.folder)
        cli.echo_error(f"{project.lock_file} is not approved any more")
        return 0
    if not project.lock_file.is_file():
        detail = f"there is no {LOCK_FILE} to approve; make one: satchel sync"
        raise NotInstalledError(str(project.folder), detail)
    data = project.lock_file.read_bytes()
    lock, digest = parse_lock(data, str(project.lock_file)), digest_bytes(data)
    if is_approved(project.folder, digest):
        cli.echo_error(f"{project.lock_file} is approved already: {digest}")
        return 0
    cli.echo_rows([(i, one.digest, one.source) for i, one in lock.skills.items()], None)
    if not yes:
        if not cli.on_terminal():
            raise click.UsageError("nobody is here to ask; read it, and add --yes")
        click.confirm(f"Use {plural(len(lock.skills), 'skill')} as locked?", abort=True)
    approve(project.folder, digest)
    cli.echo_error(f"{project.lock_file} is approved: {digest}")
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
        cli.echo_json({"removed": files, "bytes": size, "projects": projects})
    else:
        removed = f"removed {plural(files, 'file')}, {size:,} bytes; kept for "
        cli.echo_error(f"{store.folder}: {removed}{plural(projects, 'project')}")
    return 0
