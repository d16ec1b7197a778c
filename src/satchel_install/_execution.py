"""A plan that is shown and carried out: what changes, and what to know of it."""

from collections.abc import Collection
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from satchel.cli import (
    echo,
    echo_error,
    echo_json,
    echo_rows,
    finding_fields,
    one_line,
    show_findings,
    width,
)
from satchel.files import digest_bytes, write_file
from satchel.model import SKILL_FILE
from satchel.text import plural
from satchel_install._lock import EMPTY, LockedSkill
from satchel_install._project import Project
from satchel_install._sync import SIGNS, SyncPlan, apply_plan
from satchel_install._trust import NOT_APPROVED, approve, is_approved, lock_digest
from satchel_store.content import ContentStore

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

    def run(self, typed: Collection[str] | None) -> int:
        """Carry it out; ``typed`` are entries that the user has just typed.

        None is where [skills] stays as it is, ``()`` where a file lists what is new.
        """
        plan, project, store = self.plan, self.project, self.store
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
            echo_error(line)
        if not dry_run:
            config = None if typed is None else project.config_with(plan.entries)
            # Both, so that whatever ends this leaves a lock that counts.
            after = digest_bytes(plan.after.data)
            if counts:
                approve(project.folder, lock_digest(project.folder), after)
            apply_plan(plan, project, store, config)
            if counts:
                approve(project.folder, after)
            _note_project(project, store)
            if not counts and (was_approved or typed == ()):
                echo_error(NOT_APPROVED)
        if as_json:
            echo_json(self._fields() | advice)
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
        return {
            "changes": changes,
            "edited": edited,
            "skills": len(skills),
            "dry_run": self.output.dry_run,
            "warnings": plan.warnings,
            "findings": finding_fields(plan.findings),
        }

    def _show(self) -> None:
        plan = self.plan
        show_findings(plan.findings, hint=_ALL)
        for warning in plan.warnings:
            echo_error(f"warning: {warning}")
        echo_rows([self._row(skill_id) for skill_id in plan.changes], width())
        if self.output.dry_run:
            for skill_id in plan.changes:
                self._show_files(skill_id)
        for skill_id, texts in plan.edited.items():
            more = len(texts) - _SHOWN
            echo_error(f"{skill_id} was edited by hand, and is left as it is:")
            for line in texts[:_SHOWN]:
                echo_error(f"  {line}")
            if more > 0:
                echo_error(f"  and {more} more")
            echo_error(f"  to take the locked one: satchel sync --discard {skill_id}")
        count = plural(len(plan.after.skills), "skill")
        done = "would change" if self.output.dry_run else "changed"
        state = f"{len(plan.changes)} {done}" if plan.changes else "nothing to do"
        echo_error(f"{self.project.skills}: {count}, {state}")

    def _row(self, skill_id: str) -> tuple[str, ...]:
        plan, change = self.plan, self.plan.changes[skill_id]
        skill = plan.after.skills.get(skill_id) or plan.before.skills[skill_id]
        return f"{SIGNS[change]} {skill_id}", change, skill.source

    def _show_files(self, skill_id: str) -> None:
        """Print what would change of one skill: its files, and its description."""
        states = self.plan.before.skills, self.plan.after.skills
        before, after = (skills.get(skill_id) for skills in states)
        old, new = (
            {file.path: file.digest for file in skill.files} if skill else {}
            for skill in (before, after)
        )
        for path in sorted({*old, *new}):
            if old.get(path) != new.get(path):
                sign = "+" if path not in old else "-" if path not in new else "~"
                echo(f"  {sign} {skill_id}/{path}")
        if before is None or after is None:
            return
        first, second = (_description(one, self.store) for one in (before, after))
        if first is not None and first != second:
            echo(f"  its description was: {one_line(first)}")
            echo(f"  and would be:        {one_line(second or '')}")


def _description(skill: LockedSkill, store: ContentStore) -> str | None:
    """Return what a locked skill says it is for; None where its bytes are not here."""
    digest = next(file.digest for file in skill.files if file.path == SKILL_FILE)
    if not store.has(digest):
        return None
    from satchel.skill_md import parse  # it is for --dry-run

    manifest = parse(store.get(digest), profile="auto").manifest
    return manifest.description if manifest else None


def _note_project(project: Project, store: ContentStore) -> None:
    """Note that a project's lock needs what is in the store."""
    place = str(project.lock_file)
    noted = store.folder / "projects" / sha256(place.encode()).hexdigest()[:32]
    noted.parent.mkdir(parents=True, exist_ok=True)
    write_file(noted, place.encode(), _MODE)
