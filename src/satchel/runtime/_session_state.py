"""What one conversation remembers: skills in use, and what the model has read.

`SavedState` is the part that is dumped: ids and digests, no text.
"""

import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Self
from uuid import uuid4

from satchel.errors import ApprovalNeededError
from satchel.load import wording
from satchel.model import SKILL_FILE, Activation, Loaded, Question, Savings, SeenMessage
from satchel.runtime._components import Components, PromptSnapshot

if TYPE_CHECKING:
    from satchel.runtime._approvals import Grant
    from satchel.runtime._history import VisibleMessages
    from satchel.runtime._requirements import Requirements
    from satchel.runtime._view import View

# Things that are not there, and are counted one by one within a turn.
MAX_NOT_FOUND: Final = 50
# A text that is shorter than this costs no more than the note in its place.
SHORTEST_CHARS: Final = 200
# What names a work folder of ours, or a conversation on record.
_WORK: Final = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class SavedState:
    """What a session has to remember, and no text of any skill.

    ``active`` is in the order in which the skills first became active, which is the
    order of their tools. ``unloaded`` maps the ids that were deactivated to the ``at``
    of what was. ``snapshot`` is the key of the catalog that the prompt shows,
    ``announced`` that of the one whose changes the model read last. ``edits`` counts
    how often the grants were taken back. ``step`` is the model call whose tool calls
    come next, other than that of any other conversation, and ``step_at`` when it was;
    ``asked`` are the ids of its calls that a person was asked about, ``used`` the keys
    of its approvals that were used. ``seals`` show that an approver of this process
    gave what is above, for states that others can write. ``work`` names the private
    work folder of scripts. ``ready`` are the versions of required skills that this
    step's model call saw, and ``sees`` whether that is known from its messages.
    ``conversation`` is an id by which an act on the record names its load.
    """

    active: tuple[Activation, ...] = ()
    unloaded: Mapping[str, float] = field(default_factory=dict[str, float], hash=False)
    grants: "tuple[Grant, ...]" = ()
    snapshot: str = ""
    announced: str = ""
    not_found: int = 0
    edits: int = 0
    savings: Savings = field(default_factory=Savings)
    not_found_by_id: Mapping[str, int] = field(
        default_factory=dict[str, int], hash=False
    )
    asked: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()
    seals: frozenset[str] = frozenset()
    step: str = ""
    step_at: float = 0.0
    work: str = ""
    ready: frozenset[str] = frozenset()
    sees: bool = False
    conversation: str = ""

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

    def at_step(self, start: str, messages: str, now: float) -> Self:
        """Return the state at the model call that comes next, with these messages.

        ``start`` is what the first step of the conversation follows.
        """
        # From what was before, so that a run that is resumed twice is at one step.
        text = f"{self.step or start} {messages}".encode("utf-8", "surrogatepass")
        step = sha256(text).hexdigest()[:32]
        # Later than before in any case, for `merge_states`.
        at = max(now, self.step_at + 0.001)
        return replace(self, step=step, step_at=at, asked=frozenset(), used=frozenset())

    def without_grants(self) -> Self:
        """Return the state with every grant taken back, for `merge_states` too."""
        return replace(self, grants=(), edits=self.edits + 1)


class SessionState:
    """The state of one session while it is in use. Safe across threads."""

    def __init__(self, components: Components, view: "View", saved: SavedState) -> None:
        self.saved = saved
        # No other conversation has it. What an earlier release saved, and is resumed
        # twice, is one: it is told by what it has loaded, and when.
        self._start = f"{saved.active}" if saved.active else uuid4().hex
        self._components = components
        self._settings = view.settings
        self._view = view
        self._lock = threading.RLock()
        self._visible: VisibleMessages | None = None
        self._given: set[tuple[str, str, str]] = set()
        self._is_final = True
        self._snapshot: PromptSnapshot | None = None
        self._announced: PromptSnapshot | None = None
        self.requirements: Requirements | None = None
        self._prompted: frozenset[str] = frozenset()

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

    def see(self, history: Iterable[SeenMessage], *, is_final: bool) -> None:
        from satchel.runtime._history import read_history

        required = self.requirements
        if required is not None:
            history = required.as_loads(history)
        visible = read_history(self._settings.style, history)
        if required is not None:
            # The same step goes on with its calls: what its prompt showed stays.
            if visible.last != "assistant":
                self._prompted = frozenset()
            self.set_ready({*required.ready(visible), *self._prompted}, sees=True)
        with self._lock:
            self._visible, self._is_final = visible, is_final
            if visible.last == "user":
                self.begin_turn()
            # After an assistant's message its calls come, and not a call of the model.
            if visible.last != "assistant":
                self._given.clear()
            if visible.last != "assistant" and self._view.asks:
                now = self._components.clock.now()
                self.saved = self.saved.at_step(self._start, visible.end, now)
            seen_before = {*self.in_use, *self.saved.unloaded}
            for skill_id, result in visible.loaded:
                if skill_id in seen_before or self._view.get(skill_id) is None:
                    continue
                # A skill in use keeps its tools open: only a real load may count.
                if self._view.needs_approval(skill_id):
                    continue  # messages can be made up, and so show no approval
                self.activate(skill_id, "", result.text)

    def set_ready(self, ready: Iterable[str], *, sees: bool) -> None:
        """Say which versions of required skills the next calls may rest on."""
        with self._lock:
            self.saved = replace(self.saved, ready=frozenset(ready), sees=sees)

    def add_ready(self, ready: Iterable[str]) -> None:
        """Add versions that the instructions of this step's model call show."""
        with self._lock:
            self._prompted = self._prompted.union(ready)
            ready = self.saved.ready | self._prompted
            self.saved = replace(self.saved, ready=ready)

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

    def ask(self, call_id: str) -> None:
        with self._lock:
            self.saved = replace(self.saved, asked=self.saved.asked | {call_id})

    def show_script(self, call: str, version: str) -> None:
        """Note which bytes and runner a question about a script is about.

        A framework that goes on asks again: what was shown first is what counts.
        """
        with self._lock:
            if not any(one.startswith(f"{call} ") for one in self.saved.asked):
                asked = self.saved.asked | {f"{call} {version}"}
                self.saved = replace(self.saved, asked=asked)

    def take_shown(self, call: str) -> str | None:
        """Return the version that was shown, once; None where nothing was."""
        with self._lock:
            shown = [one for one in self.saved.asked if one.startswith(f"{call} ")]
            if shown:
                self.saved = replace(self.saved, asked=self.saved.asked - {*shown})
            return shown[0].partition(" ")[2] if shown else None

    def open_work(self) -> None:
        """Give the conversation a work folder of its own, for all calls of its steps.

        Now, and not with the first script: scripts may run side by side.
        """
        # A state may come from anywhere: its text is no path until it was looked at.
        if not _WORK.fullmatch(self.saved.work):
            from secrets import token_hex

            self.saved = replace(self.saved, work=token_hex(16))

    def name_conversation(self) -> str:
        """Return the id of the conversation, which has one from now on."""
        if not _WORK.fullmatch(self.saved.conversation):
            self.saved = replace(self.saved, conversation=uuid4().hex)
        return self.saved.conversation

    def use_approval(self, question: Question, call_id: str) -> str | None:
        """Note the approval of a call as used; return its key if it was not before.

        Raises:
            ApprovalNeededError: The call has waited too long for it.
        """
        from satchel.runtime._used_approvals import MAX_WAIT_S, approval_key

        with self._lock:
            saved, used = self.saved, self.saved.used
            if saved.step and self._components.clock.now() - saved.step_at > MAX_WAIT_S:
                of = question.action, question.skill, question.tool
                raise ApprovalNeededError(*of, "it waited too long; make a new call")
            agent, tool = question.agent, question.tool
            key = approval_key(call_id, agent, tool, question.arguments, saved.step)
            self.saved = replace(saved, used=used | {key})
            return None if key in used else key

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
        """Return whether the next model call sees this, as our own tools gave it.

        Of a text that costs no more than the note in its place that is not said.
        """
        text = loaded.body if loaded.is_instructions else loaded.text
        visible = self._visible if self._is_final else None
        if visible is None or len(text.strip()) < SHORTEST_CHARS:
            return False
        return visible.shows(self._settings.style, loaded)

    def gives_again(self, loaded: Loaded) -> bool:
        """Note a text as given; return whether another call of this step has it."""
        text = loaded.body if loaded.is_instructions else loaded.text
        if self._visible is None or len(text.strip()) < SHORTEST_CHARS:
            return False  # unknown when a step ends, or shorter than the note
        key = loaded.id, loaded.file, text
        with self._lock:
            count = len(self._given)
            self._given.add(key)
            return len(self._given) == count

    def shows_other(self, loaded: Loaded) -> bool:
        """Return whether the newest load that it sees gave another text."""
        visible = self._visible
        return bool(visible and visible.shows_other(self._settings.style, loaded))

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
        listed = self._view.catalog
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
        if snapshot.catalog is not self._view.catalog:
            self._save(prefix_tokens=snapshot.section.tokens)

    def save_repeat(self, loaded: Loaded) -> None:
        """Count a text as saved in whose place there is a note."""
        self._save(repeat_tokens=self._components.counter.count(loaded.text))

    def _may_show(self, snapshot: PromptSnapshot) -> bool:
        """Return whether a snapshot of the state is one for this session, too."""
        # Who resumes may have another style, or be somebody who may not list all of it.
        if snapshot.style != self._settings.style or not snapshot.catalog.entries:
            return False
        listed, everything = self._view.catalog, self._components.registry.catalog
        return listed is everything or not any(
            entry.id in everything and entry.id not in listed
            for entry in snapshot.catalog.entries
        )

    def _current(self) -> PromptSnapshot:
        style, render = self._settings.style, self._components.sections.render
        snapshots, listed = self._components.snapshots, self._view.catalog
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
