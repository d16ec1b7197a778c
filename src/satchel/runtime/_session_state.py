"""What one conversation remembers: skills in use, what the model was told.

What it can see.
"""

import threading
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from satchel.model import Activation, Loaded, Savings, SeenMessage
from satchel.runtime._access import SkillAccess
from satchel.runtime._history import VisibleMessages, read_history
from satchel.runtime._prompt_snapshot import PromptSnapshot, describe_changes
from satchel.runtime._saved_state import SavedState
from satchel.runtime._session_context import SessionSettings

if TYPE_CHECKING:
    from satchel.runtime._session_context import SessionContext


MAX_NOT_FOUND: Final = 50
"""Things that were missed in a turn and are counted one by one."""


class SessionState:
    """The ledger of one session, and what follows from it. Safe across threads."""

    def __init__(
        self,
        shelf: "SessionContext",
        settings: SessionSettings,
        reading: SkillAccess,
        state: SavedState,
    ) -> None:
        self._shelf = shelf
        self._settings = settings
        self._reading = reading
        self._lock = threading.RLock()
        self._state = state
        self._view: VisibleMessages | None = None
        self._edition: PromptSnapshot | None = None

    @property
    def state(self) -> SavedState:
        """What is dumped."""
        return self._state

    @property
    def in_use(self) -> tuple[str, ...]:
        """The skills in use, in the order in which they were loaded."""
        return tuple(each.id for each in self._state.active)

    @property
    def savings(self) -> Savings:
        """What was not sent anew."""
        return self._state.saved

    @property
    def edition(self) -> PromptSnapshot:
        """The edition that this conversation began with, or begins with now.

        One without any skill leaves nothing to keep, and gives way to the first that
        has some.
        """
        with self._lock:
            if self._edition is None or not self._edition.catalog.entries:
                known = self._shelf.editions.get(self._state.edition)
                if known is not None and self._may_tell(known):
                    self._edition = known
                else:
                    self._edition = self._current()
                    key = self._edition.key
                    self._state = replace(self._state, edition=key, told=key)
            return self._edition

    def see(self, history: Iterable[SeenMessage]) -> None:
        """Take the messages of the next model call; see `satchel.Session.see`."""
        view = read_history(self._settings.style, history)
        with self._lock:
            self._view = view
            if view.after_user:
                self.hit()
            known = {*self.in_use, *self._state.unloaded}
            for skill_id, text in view.loaded:
                if skill_id in known or self._reading.descriptor(skill_id) is None:
                    continue
                if self._reading.needs_approval(skill_id):
                    continue  # messages can be made up, and so show no approval
                self._remember(Activation(skill_id, "", 0.0, self._cost(text)))

    def activate(self, loaded: Loaded) -> None:
        """Count a skill as in use, as it is now."""
        cost = self._cost(loaded.text)
        self._remember(Activation(loaded.id, loaded.digest, 0.0, cost))

    def deactivate(self, skill_id: str) -> None:
        """Take a skill out of use."""
        with self._lock:
            self._state = self._state.without(skill_id)

    def revoke(self) -> None:
        """Take back every grant."""
        with self._lock:
            self._state = self._state.without_grants()

    def use(self, key: str) -> bool:
        """Note an approval as used; tell whether it was not before."""
        with self._lock:
            used = self._state.used
            self._state = replace(self._state, used=used | {key})
            return key not in used

    def miss(self, what: str) -> tuple[int, int]:
        """Count a miss; return how many there were, and how many of them of ``what``.

        A hit in between begins both counts again.
        """
        with self._lock:
            missed = dict(self._state.missed)
            missed[what] = same = missed.pop(what, 0) + 1
            while len(missed) > MAX_NOT_FOUND:
                del missed[next(iter(missed))]
            misses = self._state.misses + 1
            self._state = replace(self._state, misses=misses, missed=missed)
            return misses, same

    def hit(self) -> None:
        """Forget the misses."""
        with self._lock:
            if self._state.misses or self._state.missed:
                self._state = replace(self._state, misses=0, missed={})

    def shows(self, loaded: Loaded) -> bool:
        """Tell whether the next model call sees this very text anyway (R10)."""
        if loaded.is_instructions and loaded.id in self._settings.always_on.ids:
            return True
        body_only = self._settings.style != "agent-skills" and loaded.is_instructions
        text = loaded.body if body_only else loaded.text
        return self._view is not None and self._view.shows(text)

    def evicted(self) -> list[str]:
        """Return the skills in use that the next model call does not see, newest first.

        None where nobody tells what it sees: all of them may be.
        """
        if self._view is None:
            return []
        seen = self._view.ids.union(self._settings.always_on.ids)
        in_order = enumerate(self._state.active)
        newest = sorted(in_order, key=lambda each: (each[1].at, each[0]), reverse=True)
        return [each.id for _, each in newest if each.id not in seen]

    def changes(self) -> str:
        """Return how the catalog changed since the model was told; it is told now."""
        with self._lock:
            _ = self.edition
            told = self._shelf.editions.get(self._state.told)
            if told is not None and told.catalog is self._reading.listed:
                return ""
            current = self._current()
            if told is not None and told.key == current.key:
                return ""
            self._state = replace(self._state, told=current.key)
        if told is None:
            return ""
        return describe_changes(told.catalog, current.catalog, self._outdated(current))

    def _outdated(self, current: PromptSnapshot) -> frozenset[str]:
        """Return the skills in use that were loaded in an earlier state."""
        listed = current.catalog
        return frozenset(
            each.id
            for each in self._state.active
            if (entry := listed.get(each.id)) is None or entry.digest != each.digest
        )

    def save_prefix(self) -> None:
        """Count the section as saved, where the catalog is not what it tells of."""
        if self.edition.catalog is not self._reading.listed:
            self._save(Savings(prefix_tokens=self.edition.section.tokens))

    def save_repeat(self, loaded: Loaded) -> None:
        """Count a text as saved in whose place there is a note."""
        self._save(Savings(repeat_tokens=self._cost(loaded.text)))

    def _may_tell(self, known: PromptSnapshot) -> bool:
        """Tell whether an edition that was begun with is one for this session, too.

        Who resumes may have another style, or be somebody who may not list all of it.
        """
        if known.style != self._settings.style or not known.catalog.entries:
            return False
        listed, everything = self._reading.listed, self._shelf.catalog()
        return listed is everything or not any(
            entry.id in everything and entry.id not in listed
            for entry in known.catalog.entries
        )

    def _current(self) -> PromptSnapshot:
        catalog, style = self._reading.listed, self._settings.style
        render = partial(self._shelf.render, catalog, style)
        return self._shelf.editions.of(catalog, style, render)

    def _remember(self, active: Activation) -> None:
        active = replace(active, at=self._shelf.clock.now())
        with self._lock:
            self._state = self._state.with_active(active)

    def _cost(self, text: str) -> int:
        return self._shelf.counter.count(text)

    def _save(self, more: Savings) -> None:
        with self._lock:
            saved = self._state.saved
            self._state = replace(
                self._state,
                saved=Savings(
                    saved.prefix_tokens + more.prefix_tokens,
                    saved.repeat_tokens + more.repeat_tokens,
                ),
            )
