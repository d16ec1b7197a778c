"""Make a project's skills what its ``[skills]`` wants: plan, show, apply."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from satchel.errors import (
    ConfigError,
    DigestMismatchError,
    NotInstalledError,
    ReferenceNotFoundError,
    SkillError,
)
from satchel.files import folded_name
from satchel.model import Finding
from satchel_install._entries import SkillsEntry
from satchel_install._lock import Lock, LockedSkill, is_stored
from satchel_install._project import Journal, Project
from satchel_install._trust import check_places
from satchel_store.content import ContentStore

# Files of the store that may be damaged in one sync.
_ATTEMPTS: Final = 100
Change = Literal["add", "update", "remove", "restore"]
SIGNS: Final = {"add": "+", "update": "~", "remove": "-", "restore": "="}


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncOptions:
    """How a sync decides.

    ``upgrade`` are the entries to resolve again; empty is all, None only what changed.
    ``frozen`` takes the lock as it is, and refuses any difference. ``discard`` are ids
    of packs whose edits may be lost. ``typed`` are the entries that the user has just
    typed, None where [skills] stays as it is, and empty where a file lists what is new.
    ``optional`` are entries that are left out where their place does not answer, or
    does not have what they want.
    """

    upgrade: Collection[str] | None = None
    frozen: bool = False
    discard: Collection[str] = ()
    typed: Collection[str] | None = None
    optional: Collection[str] = ()


@dataclass(slots=True)
class SyncPlan:
    """What a sync would do.

    ``changes`` are by id; ``edited`` are the packs that somebody changed by hand, each
    with how, and which are left as they are. ``left`` says of entries why they are
    left out, and ``withdrawn`` of digests why they must not be used.
    """

    before: Lock
    after: Lock
    entries: Mapping[str, SkillsEntry]
    options: SyncOptions
    withdrawn: Mapping[str, str]
    changes: dict[str, Change] = field(default_factory=dict[str, Change])
    edited: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    findings: list[Finding] = field(default_factory=list[Finding])
    warnings: list[str] = field(default_factory=list[str])
    left: list[str] = field(default_factory=list[str])


def plan_sync(
    project: Project,
    entries: Mapping[str, SkillsEntry],
    store: ContentStore,
    options: SyncOptions,
) -> SyncPlan:
    """Return what to do so that the project has what its entries want.

    Nothing of the project is written; the bytes of packs are put into ``store``.

    Raises:
        NotInstalledError: ``frozen`` is set, and the lock does not fit; or two entries
            want different skills of one id, or one names a place that nobody approved;
            or a skill is withdrawn.
        SkillError: An upstream does not answer, or has not what is wanted.
    """
    before = project.lock()
    plan = SyncPlan(before, before, entries, options, project.withdrawn())
    if options.frozen:
        _check_frozen(project, plan)
    if unknown := {*(options.upgrade or ())} - entries.keys():
        names = ", ".join(sorted(entries)) or "none"
        detail = f"there is no entry {min(unknown)!r}; there are: {names}"
        raise ConfigError("--upgrade", detail)
    others = [entries[name] for name in entries if name not in (options.typed or ())]
    check_places(project.folder, others, before)
    if not options.frozen:
        _resolve_all(project, plan, store)
    _compare(project, plan)
    _check_withdrawn(plan)
    if options.frozen and plan.edited:
        first = next(texts[0] for texts in plan.edited.values())
        raise NotInstalledError(str(project.skills), f"--frozen: {first}")
    return plan


def apply_plan(
    plan: SyncPlan, project: Project, store: ContentStore, config: str | None
) -> None:
    """Fetch what the store lacks, and put everything in place."""
    needed = [plan.after.skills[i] for i in plan.changes if i in plan.after.skills]
    change = Journal(plan.before, plan.after, config, frozenset(plan.edited))
    # What is damaged in the store goes as it is read, and is fetched again.
    for attempt in range(_ATTEMPTS):
        if not all(is_stored(skill, store) for skill in needed):
            from satchel_install._resolve import fetch_locked  # 0.1 s

            fetch_locked(needed, project.folder, store)
        try:
            project.apply(change, needed, store)
        except (DigestMismatchError, ReferenceNotFoundError):
            if attempt + 1 == _ATTEMPTS:
                raise
        else:
            return


def _resolve_all(project: Project, plan: SyncPlan, store: ContentStore) -> None:
    entries, before = dict(plan.entries), plan.before
    upgrade = plan.options.upgrade
    skills: dict[str, LockedSkill] = {}
    same: list[SkillsEntry] = []
    for name, entry in sorted(plan.entries.items()):
        is_asked = upgrade is not None and (not upgrade or name in upgrade)
        if before.resolves(entry) and not (is_asked and _has_moved(entry, before)):
            resolved = before.of_entry(name)
            same.append(entry)
        else:
            try:
                resolved = _resolved(entry, project, plan, store)
            except SkillError as error:
                if name not in plan.options.optional:
                    raise
                plan.left.append(f"{name!r} is left out: {error}")
                del entries[name]
                continue
        for skill in resolved:
            _claim(skills, skill, before)
    # What was there for an entry that is gone stays where another one wants it.
    for entry in same if before.skills.keys() - skills else ():
        for skill in before.wanted_by(entry):
            skills.setdefault(skill.id, skill)
    _check_spellings(sorted(skills))
    patterns = {name: entry.skills for name, entry in sorted(entries.items())}
    plan.entries, plan.after = entries, Lock(dict(sorted(skills.items())), patterns)
    for name, entry in entries.items():
        if not plan.after.resolves(entry):
            detail = "each of its skills is there from another place, or left out"
            raise NotInstalledError(name, f"{detail}; do without this entry")


def _resolved(
    entry: SkillsEntry, project: Project, plan: SyncPlan, store: ContentStore
) -> list[LockedSkill]:
    from satchel_install._resolve import resolve  # 0.1 s

    result = resolve(entry, project.folder, store, plan.withdrawn)
    plan.findings += result.findings
    plan.warnings += result.warnings
    return result.skills


def _has_moved(entry: SkillsEntry, lock: Lock) -> bool:
    """Tell whether an entry may come to something else now, without fetching it."""
    if entry.upstream.kind != "git":
        return True
    from satchel_install._git import current_commit

    return {s.commit for s in lock.wanted_by(entry)} != {current_commit(entry.upstream)}


def _claim(skills: dict[str, LockedSkill], skill: LockedSkill, before: Lock) -> None:
    other = skills.setdefault(skill.id, skill)
    if other.files != skill.files:
        pair = sorted((other, skill), key=lambda one: one.entry not in before.entries)
        both = " and ".join(f"{one.entry} ({one.source} {one.path})" for one in pair)
        detail = f"{both} have different skills of this name; keep one: list in "
        detail += "`skills` of one entry those that you want of it, or type: satchel "
        raise NotInstalledError(skill.id, f"{detail}remove {pair[0].entry}")


def _check_spellings(ids: Iterable[str]) -> None:
    spellings: dict[str, str] = {}
    for skill_id in ids:
        first = spellings.setdefault(folded_name(skill_id), skill_id)
        if first != skill_id:
            detail = f"on some systems this is the same as {first}; choose by --skill, "
            raise NotInstalledError(skill_id, f"{detail}or `skills` of the entry")


def _check_withdrawn(plan: SyncPlan) -> None:
    for skill_id, skill in plan.after.skills.items():
        if why := skill.withdrawal(plan.withdrawn):
            why += f"; type: satchel sync --upgrade, or satchel remove {skill.entry}"
            # What is there already, and nobody asks for, keeps nobody from a change.
            if plan.options.typed is None or skill_id in plan.changes:
                raise NotInstalledError(skill_id, why)
            plan.warnings.append(f"{skill_id}: {why}")


def _check_frozen(project: Project, plan: SyncPlan) -> None:
    entries, lock = plan.entries, plan.before
    stale = [n for n in sorted(entries) if not lock.resolves(entries[n])]
    if stale := stale or sorted(lock.entries.keys() - entries.keys()):
        detail = f"--frozen: entry {stale[0]!r} is not the one of "
        detail += f"{project.config_file.name}; type: satchel sync"
        raise NotInstalledError(str(project.lock_file), detail)


def _compare(project: Project, plan: SyncPlan) -> None:
    old, new, discard = plan.before.skills, plan.after.skills, plan.options.discard
    if unknown := {*discard} - {*old, *new}:
        raise ConfigError("--discard", f"no skill {min(unknown)!r} is locked here")
    for skill_id in sorted({*old, *new}):
        before, after = old.get(skill_id), new.get(skill_id)
        was = project.state_of(before) if before and before is not after else ""
        state = project.state_of(after) if after else ""
        kind: Change = "remove" if after is None else "update" if before else "add"
        if state == "equal":
            continue
        if "missing" in {was, state}:
            if after is not None:
                is_same = before is not None and before.files == after.files
                plan.changes[skill_id] = "restore" if is_same else kind
        elif was == "equal" or skill_id in discard:
            plan.changes[skill_id] = kind
        else:  # somebody's work: it is named, and left
            plan.edited[skill_id] = project.differences(before or new[skill_id])
