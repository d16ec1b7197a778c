"""A session: one conversation's view of the catalog."""

import threading
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from satchel.errors import SkillError
from satchel.load import Hooks, TurnCache
from satchel.load.telling import error_result
from satchel.model import (
    Activation,
    Catalog,
    Decision,
    Descriptor,
    Hit,
    Loaded,
    Question,
    Request,
    Savings,
    Seen,
    Style,
)
from satchel.runtime.belt import Belt, Offer
from satchel.runtime.editions import Edition, tell_changes
from satchel.runtime.gate import Gate
from satchel.runtime.history import View, read_history, wish_of
from satchel.runtime.misses import advice, is_miss
from satchel.runtime.reading import Reading
from satchel.runtime.restating import restate
from satchel.runtime.settings import SessionOptions, Settings
from satchel.session.approvals import Approvals
from satchel.session.ledger import State
from satchel.tools import Run, Tool, Toolbox

if TYPE_CHECKING:
    from pathlib import Path

    from satchel.runtime.invoking import Invoked
    from satchel.runtime.shelf import Shelf

__all__ = ["Session", "SessionOptions"]


class Session:
    """Instructions and tools for one conversation, and what was loaded in it.

    Made by `satchel.Satchel.session`; opening one is cheap. It serves one
    conversation; what it remembers, `dump` gives as ids and digests, and
    ``session(resume=...)`` takes up again, in another process too. Before each model
    call `see` is given the messages of that call; without it every load gives the full
    text, and nothing is stated again.

    Within a `turn` each file is read at most once; the next turn reads anew. Safe
    across threads. ``deps`` is handed to tools that ask for a `satchel.Run`.
    """

    def __init__(
        self,
        shelf: "Shelf",
        settings: Settings,
        *,
        deps: object = None,
        state: State | None = None,
    ) -> None:
        """Take up what was dumped, or begin with nothing.

        Raises:
            SkillError: A skill that is to be worn cannot be loaded.
            DuplicateToolError: Tools of one name would meet; names both owners.
        """
        self.settings = settings
        self.deps = deps
        self._shelf = shelf
        self._state = state or State()
        approvals = Approvals(settings.approve, self._state.grants)
        self._gate = Gate(shelf.policy, approvals, settings.who, settings.agent)
        self._reading = Reading(shelf, settings, self._gate)
        hooks = Hooks(
            instead=self._instead,
            root=self._reading.root,
            notes=self._notes,
            misses=self._missed,
        )
        self._belt = Belt(shelf, settings, self._reading, self._load, hooks)
        self._lock = threading.RLock()
        self._view: View | None = None
        self._edition: Edition | None = None
        self._savings = Savings()
        self._worn_texts()
        self._belt.check(self._frozen())

    @property
    def agent(self) -> str:
        """The agent that it belongs to."""
        return self.settings.agent

    @property
    def who(self) -> Mapping[str, Any]:
        """For whom it runs."""
        return self.settings.who

    @property
    def style(self) -> Style:
        """Names, parameters and results of its tools."""
        return self.settings.style

    @property
    def catalog(self) -> Catalog:
        """What may be listed here now, for this ``who``."""
        return self._reading.listed

    @property
    def activations(self) -> tuple[Activation, ...]:
        """The skills in use, in the order in which they were loaded."""
        return self._state.active

    @property
    def savings(self) -> Savings:
        """Tokens that this object did not send anew."""
        return self._savings

    def see(self, history: Iterable[Seen]) -> None:
        """Take the messages that the next model call will see, oldest first.

        Skills whose instructions stand among them are in use, whoever loaded them;
        those in use that do not are stated again by `instructions`.
        """
        view = read_history(self.style, history)
        with self._lock:
            self._view = view
            if view.after_user and self._state.misses:
                self._state = replace(self._state, misses=0)
            known = {each.id for each in self._state.active} | {*self._state.unloaded}
            for skill_id, text in view.loaded:
                if skill_id in known or self._reading.descriptor(skill_id) is None:
                    continue
                tokens = self._shelf.counter.count(text)
                active = Activation(skill_id, "", self._shelf.clock.now(), tokens)
                self._state = self._state.with_active(active)

    def instructions(self, base: str = "") -> str:
        """Return what stands in the system prompt, its parts a blank line apart.

        ``base``; what is worn; the catalog section, the same bytes for the whole
        conversation; skills in use whose text the messages do not show any more. With
        none of these it is ``base`` alone.
        """
        with self._lock:
            edition = self._frozen()
            if edition.catalog is not self.catalog:
                self._save(prefix=edition.section.tokens)
            section = str(edition.section)
            parts = [base, *self._worn_texts(), section, self._restated()]
        return "\n\n".join(part for part in parts if part)

    def tools(self) -> Toolbox:
        """Return the tools of the next model call, in an order that only grows.

        Those of worn skills; of the style, as far as they can work with this catalog;
        of loaded skills, as these were loaded. Tools that the policy denies are left
        out.
        """
        with self._lock:
            offers = self._belt.offered(self._frozen(), self._in_use)
            tools = tuple(self._bound(*offer) for offer in offers)
        return Toolbox("satchel", tools)

    def decide(self, name: str, arguments: Mapping[str, object]) -> Decision:
        """Return what the policy says of a call, for a framework's own approval.

        A call that means no skill, or one that is not there, is allowed: it fails by
        itself.
        """
        asked = self._ask(name, arguments)
        return asked[0] if asked else Decision("allow")

    def call(
        self,
        name: str,
        arguments: Mapping[str, object],
        *,
        approved: bool | None = None,
    ) -> object:
        """Carry out one tool call of a model. Never raises: an error is a result.

        ``approved`` is the answer of a framework's own approval; None asks the
        session's ``approve`` where the policy says so.
        """
        try:
            owner, tool = self._find_tool(name, approved=approved)
            if owner is not None:
                self._gate.permit(owner, name, arguments, approved=approved)
        except SkillError as error:
            return error_result(error)
        return tool.call(arguments, self._run)

    async def acall(
        self,
        name: str,
        arguments: Mapping[str, object],
        *,
        approved: bool | None = None,
    ) -> object:
        """Do as `call` does; waits for asynchronous tools, runs others in a thread."""
        import asyncio

        asked = self._ask(name, arguments)
        if asked is not None:
            approved = await self._gate.settle(*asked, approved=approved)
        try:
            owner, tool = self._find_tool(name, approved=approved)
            if not tool.is_async:
                call = partial(self.call, name, arguments, approved=approved)
                return await asyncio.to_thread(call)
            if owner is not None:
                self._gate.permit(owner, name, arguments, approved=approved)
        except SkillError as error:
            return error_result(error)
        return await tool.acall(arguments, self._run)

    @contextmanager
    def turn(self) -> Generator[TurnCache]:
        """Bound one run of the agent: what it loads twice is read once."""
        before, self._reading.turn = self._reading.turn, TurnCache()
        with self._lock:
            self._state = replace(self._state, misses=0)
        try:
            yield self._reading.turn
        finally:
            self._reading.turn = before

    def load(self, skill_id: str, file: str | None = None) -> Loaded:
        """Load for this session's ``who``, within the turn where there is one.

        Raises:
            SkillError: As for `satchel.Satchel.load`.
            DeniedError: The policy, or somebody who was asked, says no.
        """
        return self._reading.fetch(skill_id, file, via="python")

    def find(self, query: str, k: int = 10) -> list[Hit]:
        """Return at most ``k`` skills that match, of those that may be found here."""
        return self._reading.find(query, k)

    def invoke(self, skill_id: str, arguments: str = "") -> "Invoked":
        """Return a skill as its user calls it, to be sent as the user's message.

        It is in use from then on, as if the model had loaded it.

        Raises:
            SkillError: As for `load`; one that no user may invoke is withheld.
        """
        from satchel.runtime.invoking import invoked

        loaded = self._reading.fetch(skill_id, None, via="user")
        self._activate(loaded)
        names = self._shelf.manifest(loaded).client.arguments
        return invoked(loaded, arguments, names, self._reading.root(loaded))

    def stage(self, skill_id: str) -> "Path":
        """Return a folder with a read-only copy of the skill's listed files.

        Raises:
            SkillError: As for `load`; or the copy could not be made.
        """
        from pathlib import Path

        loaded = self._reading.fetch(skill_id, None, via="python")
        return Path(self._reading.stage(loaded.descriptor))

    def unload(self, skill_id: str) -> None:
        """Take a skill out of use: it is not stated again, and its tools close."""
        with self._lock:
            self._state = self._state.without(skill_id)

    def revoke(self) -> None:
        """Take back every yes for this session: the history it stands on was edited."""
        with self._lock:
            self._gate.approvals.clear()
            self._state = self._state.without_grants()

    def derive(
        self, *, agent: str = "", only: Iterable[str] | None = None
    ) -> "Session":
        """Return a session for a sub-agent: the same catalog, nothing in use yet.

        ``only`` narrows what is here further; it never widens.
        """
        settings = replace(self.settings, agent=agent)
        if only is not None:
            settings = replace(settings, only=(*settings.only, tuple(only)))
        return Session(self._shelf, settings, deps=self.deps)

    def dump(self) -> dict[str, object]:
        """Return what another session can resume from: ids and digests, no text."""
        with self._lock:
            return replace(self._state, grants=self._gate.approvals.grants).to_dict()

    # What follows is the inside. `_lock` guards `_state`, `_view` and `_savings`.

    @property
    def _run(self) -> Run:
        return Run(self.who, self.deps, self, self.agent)

    def _frozen(self) -> Edition:
        """Return the edition that this conversation began with, or begins with now."""
        if self._edition is None:
            known = self._shelf.editions.get(self._state.edition)
            self._edition = known or self._current()
            if known is None:
                key = self._edition.key
                self._state = replace(self._state, edition=key, told=key)
        return self._edition

    def _current(self) -> Edition:
        catalog, style = self.catalog, self.style
        render = partial(self._shelf.render, catalog, style)
        return self._shelf.editions.of(catalog, style, render)

    def _worn_texts(self) -> list[str]:
        reading = self._reading
        return self.settings.worn.instructions(
            lambda skill_id: reading.fetch(skill_id, None, via="python"),
            reading.render,
        )

    def _restated(self) -> str:
        if self._view is None:  # nobody tells what can be seen, so all of it may be
            return ""
        shown = self._view.ids.union(self.settings.worn.ids)
        in_order = enumerate(self._state.active)
        newest = sorted(in_order, key=lambda each: (each[1].at, each[0]), reverse=True)
        ids = [each.id for _, each in newest if each.id not in shown]
        return restate(
            ids,
            lambda skill_id: self._reading.fetch(skill_id, None, via="restate"),
            budget_tokens=self.settings.restate_tokens,
            counter=self._shelf.counter,
            render=self._reading.render,
        )

    @property
    def _in_use(self) -> tuple[str, ...]:
        return tuple(each.id for each in self._state.active)

    def _find_tool(self, name: str, *, approved: bool | None = None) -> Offer:
        with self._lock:
            return self._belt.find(
                name, self._frozen(), self._in_use, approved=approved
            )

    def _bound(self, owner: Descriptor | None, tool: Tool) -> Tool:
        """Return a skill's tool so that every call of it goes through the gate."""
        if tool.native is not None or owner is None:
            return tool
        name = tool.name

        def call(**arguments: object) -> object:
            return self.call(name, arguments)

        async def acall(**arguments: object) -> object:
            return await self.acall(name, arguments)

        handler = acall if tool.is_async else call
        return replace(tool, handler=handler, run_parameter=None)

    def _ask(
        self, name: str, arguments: Mapping[str, object]
    ) -> tuple[Decision, Question] | None:
        wish = wish_of(self.style, name, arguments)
        if wish is not None:
            action, skill_id = wish
            entry = self._reading.descriptor(skill_id)
            return self._gate.ask(action, entry) if entry is not None else None
        try:
            owner, _ = self._find_tool(name)
        except SkillError:
            return None
        return self._gate.ask("tool", owner, name, arguments) if owner else None

    def _load(self, request: Request, *, approved: bool | None) -> Loaded:
        """Load for a tool of this session's style."""
        loaded = self._reading.fetch(
            request.id, request.file, via=request.via, approved=approved
        )
        with self._lock:
            if self._state.misses:
                self._state = replace(self._state, misses=0)
            if loaded.is_instructions:
                self._activate(loaded)
        return loaded

    def _activate(self, loaded: Loaded) -> None:
        tokens = self._shelf.counter.count(loaded.text)
        now = self._shelf.clock.now()
        active = Activation(loaded.id, loaded.digest, now, tokens)
        with self._lock:
            self._state = self._state.with_active(active)

    def _instead(self, loaded: Loaded) -> str | None:
        """Return a note in place of a text that this very call can see (R10)."""
        if not self._is_visible(loaded):
            return None
        self._save(repeat=self._shelf.counter.count(loaded.text))
        what = "Skill" if loaded.is_instructions else f"File {loaded.file!r} of skill"
        return f"{what} {loaded.id!r} is unchanged; its text stands above. Use it."

    def _is_visible(self, loaded: Loaded) -> bool:
        if loaded.is_instructions and loaded.id in self.settings.worn.ids:
            return True
        body_only = self.style != "agent-skills" and loaded.is_instructions
        text = loaded.body if body_only else loaded.text
        return self._view is not None and self._view.shows(text)

    def _notes(self, loaded: Loaded) -> tuple[str, ...]:
        """Return what to say beside a result: tools, the folder, what changed."""
        notes: list[str] = []
        if loaded.is_instructions and not self._is_visible(loaded):
            owner = loaded.descriptor
            opened = [tool.name for tool in self._belt.opened_by(owner)]
            if opened:
                notes.append(f"Tools that are open now: {', '.join(opened)}.")
            carried = self._shelf.offers.carried(owner)
            notes += [f"{note}." for note in carried.notes]
            notes += [
                f"tool {tool.name!r} is not allowed here."
                for tool in carried.tools
                if tool.name not in opened
            ]
            staged = self._reading.staged(owner)
            notes += staged.notes if staged is not None else ()
        changes = self._changes()
        return (*notes, changes) if changes else tuple(notes)

    def _missed(self, error: SkillError) -> str | None:
        """Count a miss; return what to say behind its message."""
        said = self._changes()
        if is_miss(error):
            with self._lock:
                misses = self._state.misses + 1
                self._state = replace(self._state, misses=misses)
            said = " ".join(filter(None, (advice(error, misses, self.catalog), said)))
        return said or None

    def _changes(self) -> str:
        """Return how the catalog changed since the model was told; it is told now."""
        with self._lock:
            self._frozen()
            told = self._shelf.editions.get(self._state.told)
            if told is not None and told.catalog is self.catalog:
                return ""
            current = self._current()
            if told is None or told.key == current.key:
                self._state = replace(self._state, told=current.key)
                return ""
            active = frozenset(each.id for each in self._state.active)
            self._state = replace(self._state, told=current.key)
        return tell_changes(told.catalog, current.catalog, active)

    def _save(self, *, prefix: int = 0, repeat: int = 0) -> None:
        with self._lock:
            saved = self._savings
            self._savings = Savings(
                saved.prefix_tokens + prefix, saved.repeat_tokens + repeat
            )
