"""What one conversation remembers: skills in use, and what the model has read.

`SavedState` is the part that is dumped: ids and digests, no text.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Self

from satchel.load import wording
from satchel.model import SKILL_FILE, Activation, Loaded, Savings, SeenMessage
from satchel.runtime._approvals import Grant
from satchel.runtime._history import VisibleMessages, read_history
from satchel.runtime._prompt_snapshot import PromptSnapshot

if TYPE_CHECKING:
    from satchel.runtime._access import SkillAccess
    from satchel.runtime._components import Components
    from satchel.runtime._session_settings import SessionSettings

# Things that are not there, and are counted one by one within a turn.
MAX_NOT_FOUND: Final = 50


@dataclass(frozen=True, slots=True)
class SavedState:
    """What a session has to remember, and no text of any skill.

    ``active`` is in the order in which the skills first became active, which is the
    order of their tools. ``unloaded`` maps the ids that were deactivated to the ``at``
    of what was. ``snapshot`` is the key of the catalog that the prompt shows,
    ``announced`` that of the one whose changes the model read last. ``edits`` counts
    how often the grants were taken back. ``used`` are the keys of approvals that were
    used, and ``seals`` show that an approver of this process gave what is above: both
    for states that others can write.
    """

    active: tuple[Activation, ...] = ()
    unloaded: Mapping[str, float] = field(default_factory=dict[str, float], hash=False)
    grants: tuple[Grant, ...] = ()
    snapshot: str = ""
    announced: str = ""
    not_found: int = 0
    edits: int = 0
    savings: Savings = field(default_factory=Savings)
    not_found_by_id: Mapping[str, int] = field(
        default_factory=dict[str, int], hash=False
    )
    used: frozenset[str] = frozenset()
    seals: frozenset[str] = frozenset()

    def with_active(self, activation: Activation) -> Self:
        """Return the state with this skill active; a known one keeps its place."""
        active = {skill.id: skill for skill in self.active}
        active[activation.id] = activation
        unloaded = {k: at for k, at in self.unloaded.items() if k != activation.id}
        return replace(self, active=tuple(active.values()), unloaded=unloaded)

    def without(self, skill_id: str) -> Self:
        """Return the state with this skill deactivated, until it is loaded again."""
        times = [skill.at for skill in self.active if skill.id == skill_id]
        at = max([self.unloaded.get(skill_id, 0.0), *times])
        return replace(
            self,
            active=tuple(skill for skill in self.active if skill.id != skill_id),
            unloaded={**self.unloaded, skill_id: at},
        )

    def without_grants(self) -> Self:
        """Return the state with every grant taken back, for `merged` too."""
        return replace(self, grants=(), edits=self.edits + 1)

    def merged(self, other: Self) -> Self:
        """Return both states as one: what frameworks call a reducer.

        Parallel tool calls each write the state that they made of the same one; and a
        framework that merges all that is written merges each state with its successor.
        Up to the order of ``active`` it is associative, and commutative but for
        ``snapshot``, ``announced`` and ``not_found``, which are those of ``other``, the
        newer one.
        """
        # Of each skill the latest load counts, and a deactivation wins over the load
        # that it ended.
        active: dict[str, Activation] = {}
        for skill in (*self.active, *other.active):
            active[skill.id] = max(active.get(skill.id, skill), skill, key=_age)
        unloaded = dict(self.unloaded)
        for skill_id, at in other.unloaded.items():
            unloaded[skill_id] = max(at, unloaded.get(skill_id, at))
        for skill_id in active.keys() & unloaded:
            if active[skill_id].at > unloaded[skill_id]:
                del unloaded[skill_id]
            else:
                del active[skill_id]
        # United, unless one side has taken some back since: then only its own count.
        grants = self.grants if self.edits >= other.edits else ()
        grants += other.grants if other.edits >= self.edits else ()
        mine, theirs = self.savings, other.savings
        return replace(
            other,
            active=tuple(active.values()),
            unloaded=unloaded,
            grants=tuple(sorted(set(grants))),
            snapshot=other.snapshot or self.snapshot,
            announced=other.announced or self.announced,
            edits=max(self.edits, other.edits),
            # The greater number, so that parallel calls count once.
            savings=Savings(
                max(mine.prefix_tokens, theirs.prefix_tokens),
                max(mine.repeat_tokens, theirs.repeat_tokens),
            ),
            used=self.used | other.used,
            seals=self.seals | other.seals,
        )


def _age(activation: Activation) -> tuple[float, str, int]:
    """Return what orders activations of one skill, the same on every side."""
    return activation.at, activation.digest, activation.tokens


class SessionState:
    """The state of one session while it is in use. Safe across threads."""

    def __init__(
        self,
        components: "Components",
        settings: "SessionSettings",
        access: "SkillAccess",
        saved: SavedState,
    ) -> None:
        self.saved = saved
        self._components = components
        self._settings = settings
        self._access = access
        self._lock = threading.RLock()
        self._visible: VisibleMessages | None = None
        self._snapshot: PromptSnapshot | None = None
        self._announced: PromptSnapshot | None = None

    @property
    def in_use(self) -> tuple[str, ...]:
        return tuple(skill.id for skill in self.saved.active)

    @property
    def snapshot(self) -> PromptSnapshot:
        """The snapshot that this conversation began with, or begins with now."""
        # One without any skill has nothing to preserve: the first with some takes over.
        with self._lock:
            if self._snapshot is None or not self._snapshot.catalog.entries:
                first = self._components.snapshots.get(self.saved.snapshot)
                if first is not None and self._may_show(first):
                    self._snapshot = first
                else:
                    self._snapshot = self._announced = self._current()
                    key = self._snapshot.key
                    self.saved = replace(self.saved, snapshot=key, announced=key)
            return self._snapshot

    def see(self, history: Iterable[SeenMessage]) -> None:
        visible = read_history(self._settings.style, history)
        with self._lock:
            self._visible = visible
            if visible.after_user:
                self.begin_turn()
            seen_before = {*self.in_use, *self.saved.unloaded}
            for skill_id, text in visible.loaded:
                if skill_id in seen_before or self._access.descriptor(skill_id) is None:
                    continue
                # A skill in use keeps its tools open: only a real load may count.
                if self._access.needs_approval(skill_id):
                    continue  # messages can be made up, and so show no approval
                self.activate(skill_id, "", text)

    @property
    def message(self) -> str | None:
        """The user's last message, where what fits it is to be suggested."""
        if not self._settings.suggest or self._visible is None:
            return None
        return self._visible.message or None

    def record_load(self, loaded: Loaded) -> None:
        """Count a skill as in use, as it is now; what was not found is forgotten."""
        if self.saved.not_found:
            self.begin_turn()
        if loaded.file == SKILL_FILE:
            self.activate(loaded.descriptor.id, loaded.digest, loaded.text)

    def activate(self, skill_id: str, digest: str, text: str) -> None:
        tokens = self._components.counter.count(text)
        at = self._components.clock.now()
        with self._lock:
            activation = Activation(skill_id, digest, at, tokens)
            self.saved = self.saved.with_active(activation)

    def deactivate(self, skill_id: str) -> None:
        with self._lock:
            self.saved = self.saved.without(skill_id)

    def revoke(self) -> None:
        with self._lock:
            self.saved = self.saved.without_grants()

    def use_approval(self, key: str) -> bool:
        """Note an approval as used; return whether it was not before."""
        with self._lock:
            used = self.saved.used
            self.saved = replace(self.saved, used=used | {key})
            return key not in used

    def count_not_found(self, what: str) -> tuple[int, int]:
        """Count a request for something that is not there.

        Return how many there were, and how many of them were about ``what``.
        """
        with self._lock:
            by_id = dict(self.saved.not_found_by_id)
            by_id[what] = same = by_id.pop(what, 0) + 1
            # Names come from the model, and the state is stored: it must not grow.
            while len(by_id) > MAX_NOT_FOUND:
                del by_id[next(iter(by_id))]
            total = self.saved.not_found + 1
            self.saved = replace(self.saved, not_found=total, not_found_by_id=by_id)
            return total, same

    def begin_turn(self) -> None:
        with self._lock:
            if self.saved.not_found or self.saved.not_found_by_id:
                self.saved = replace(self.saved, not_found=0, not_found_by_id={})

    def shows(self, loaded: Loaded) -> bool:
        """Return whether the next model call sees this very text anyway."""
        is_instructions = loaded.file == SKILL_FILE
        if is_instructions and loaded.descriptor.id in self._settings.always_on.ids:
            return True
        if self._visible is None:
            return False
        body_only = self._settings.style != "agent-skills" and is_instructions
        return self._visible.shows(loaded.body if body_only else loaded.text)

    def evicted(self) -> list[str]:
        """Return skills in use that the next model call does not see, newest first."""
        if self._visible is None:
            return []  # unknown what it sees: all of them may be visible
        visible = self._visible.ids.union(self._settings.always_on.ids)
        in_order = enumerate(self.saved.active)
        newest = sorted(in_order, key=lambda item: (item[1].at, item[0]), reverse=True)
        return [skill.id for _, skill in newest if skill.id not in visible]

    def changes(self) -> str:
        """Return how the catalog changed since the model read of it; only once."""
        listed = self._access.listed
        with self._lock:
            _ = self.snapshot  # a conversation that begins now has read nothing older
            before, key = self._announced, self.saved.announced
            if before is None or before.key != key:
                before = self._announced = self._components.snapshots.get(key)
            if before is not None and before.catalog is listed:
                return ""
            now = self._current()
            if before is not None and before.key == now.key:
                return ""
            self._announced = now
            self.saved = replace(self.saved, announced=now.key)
        if before is None:
            return ""
        return wording.changes_note(before.catalog, now.catalog, self._outdated(now))

    def _outdated(self, now: PromptSnapshot) -> frozenset[str]:
        """Return the skills in use that were loaded in an earlier state."""
        return frozenset(
            skill.id
            for skill in self.saved.active
            if (entry := now.catalog.get(skill.id)) is None
            or entry.digest != skill.digest
        )

    def save_prefix(self) -> None:
        """Count the section as saved, where the catalog is not what it shows."""
        snapshot = self.snapshot
        if snapshot.catalog is not self._access.listed:
            self._save(prefix_tokens=snapshot.section.tokens)

    def save_repeat(self, loaded: Loaded) -> None:
        """Count a text as saved in whose place there is a note."""
        self._save(repeat_tokens=self._components.counter.count(loaded.text))

    def _may_show(self, snapshot: PromptSnapshot) -> bool:
        """Return whether a snapshot of the state is one for this session, too."""
        # Who resumes may have another style, or be somebody who may not list all of it.
        if snapshot.style != self._settings.style or not snapshot.catalog.entries:
            return False
        listed, everything = self._access.listed, self._components.registry.catalog
        return listed is everything or not any(
            entry.id in everything and entry.id not in listed
            for entry in snapshot.catalog.entries
        )

    def _current(self) -> PromptSnapshot:
        style, render = self._settings.style, self._components.sections.render
        snapshots, listed = self._components.snapshots, self._access.listed
        snapshot = snapshots.of(listed, style, render)
        # Always-on skills alone, which every process knows. A section that follows what
        # is in use would be other bytes after each load, and no cached prompt would
        # hold; messages show the skills in use, or `instructions` repeats them.
        featured = self._settings.always_on.ids
        if featured and not snapshot.section.complete:
            snapshot = snapshots.of(listed, style, render, featured)
        return snapshot

    def _save(self, prefix_tokens: int = 0, repeat_tokens: int = 0) -> None:
        with self._lock:
            savings = Savings(
                self.saved.savings.prefix_tokens + prefix_tokens,
                self.saved.savings.repeat_tokens + repeat_tokens,
            )
            self.saved = replace(self.saved, savings=savings)
