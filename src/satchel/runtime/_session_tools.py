"""Which tools a session offers, and what is said next to their results.

They are those of always-on skills, of the style, and of loaded skills.

`SessionTools` is also what the tools of the style call: it loads through the view,
records in the state, and adds notes to results.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from satchel.errors import (
    DeniedError,
    DuplicateToolError,
    ReferenceNotAllowedError,
    SkillError,
    SkillNotFoundError,
    ToolError,
    echo,
)
from satchel.load import (
    EXTENDED,
    READ_TOOL,
    ToolBackend,
    fill_folder,
    offer_find,
    offer_reader,
    render_element,
    tools_for,
    wording,
)
from satchel.model import (
    SKILL_FILE,
    Catalog,
    Descriptor,
    FileStat,
    Hit,
    Loaded,
    Request,
)
from satchel.runtime._options import REINJECT_TOKENS
from satchel.tools import Run, Tool, Toolbox, result_text, with_text

if TYPE_CHECKING:
    from satchel.runtime._authorizer import Authorizer
    from satchel.runtime._components import Components
    from satchel.runtime._scripts import Scripts
    from satchel.runtime._session_state import SessionState
    from satchel.runtime._staging import Staged
    from satchel.runtime._view import View

# A tool, and the skill that brings it; None for those of the style.
OwnedTool: TypeAlias = tuple[Descriptor | None, Tool]

# The owner of the style's tools.
_SATCHEL: Final = "satchel"
# The same, where an agent may have them twice.
_SATCHEL_TWICE: Final = "satchel (skills attached twice? give one Satchel all of them)"
# The owner of the tools that an agent has without any skill.
_AGENT: Final = "the agent"


class SessionTools(ToolBackend):
    """Which tools there are, and what they do in this session."""

    def __init__(
        self,
        components: "Components",
        view: "View",
        authorizer: "Authorizer",
        state: "SessionState",
    ) -> None:
        self.settings = view.settings
        self._components = components
        self._registry = components.tool_registry
        self._view = view
        self._authorizer = authorizer
        self._state = state
        self._style_tools: dict[tuple[str, bool], Toolbox] = {}
        self._staged_texts: dict[str, str] = {}
        self._staged: dict[tuple[str, str, tuple[FileStat, ...]], Staged] = {}
        self.scripts = None if components.runner is None else self._scripts()

    # --- What the tools of the style call ---------------------------------------------

    @property
    def catalog(self) -> Catalog:
        return self._view.catalog

    def load_for(self, request: Request, run: Run) -> Loaded:
        """Load for a call, and count the skill as in use."""
        file = request.file
        if file is not None and self._staged:
            file = self._unstaged(request.id, file)
        loaded = self._view.load(request.id, file, via=request.via, reply=run.approved)
        self._view.checked_whole(loaded)
        self._state.record_load(loaded)
        return loaded

    def find(self, query: str, k: int) -> Sequence[Hit]:
        return self._view.find(query, k)

    def folder(self, loaded: Loaded) -> str | None:
        """Return the folder in which the agent finds the skill's files, if it does."""
        if self.settings.stager is None:
            return None
        staged = self._stage_if_needed(loaded.descriptor)
        return staged.folder or None if staged is not None else None

    def unchanged(self, loaded: Loaded) -> str | None:
        """Return a line in place of a text that the model can see anyway."""
        shown = self._shows(loaded)
        if not shown and not self._state.gives_again(loaded):
            return None
        self._state.save_repeat(loaded)
        style = self.settings.style
        return wording.unchanged_note(loaded, style, in_step=not shown)

    def _shows(self, loaded: Loaded) -> bool:
        if loaded.is_instructions and loaded.id in self.settings.always_on.ids:
            # The prompt has it as it was when the conversation began.
            return self._pinned_text(loaded.id) == self._render(loaded)
        return self._state.shows(loaded)

    def notes(self, loaded: Loaded) -> Sequence[str]:
        """Return what to say next to a text: tools, the folder, what changed."""
        notes: list[str] = []
        # Where the text is visible, these notes are, too.
        if loaded.file == SKILL_FILE and not self._shows(loaded):
            if loaded.descriptor.tools:
                notes += self._tool_notes(loaded.descriptor)
            if self.settings.stager is not None:
                staged = self._stage_if_needed(loaded.descriptor)
                notes += staged.notes if staged is not None else ()
            if self.scripts is not None:
                needs = self.scripts.needs_note(loaded.descriptor)
                notes += [needs] if needs else []
        is_new = self.settings.style == "lean" and not self._shows(loaded)
        if is_new and self.settings.stager is None:
            notes += self._view.needs_notes(loaded, warn=True)
        changes = self._state.changes()
        return [*notes, changes] if changes else notes

    def advice(self, error: SkillError) -> str | None:
        """Return what to say behind an error; one about a missing thing is counted."""
        changes = self._state.changes()
        if not isinstance(error, (SkillNotFoundError, ReferenceNotAllowedError)):
            return changes or None
        from satchel.load import not_found_advice

        file = error.file if isinstance(error, ReferenceNotAllowedError) else ""
        what = f"{echo(error.name)}/{echo(file)}"
        total, same = self._state.count_not_found(what)
        advice = not_found_advice(error, total, same, self._view.catalog)
        return " ".join(filter(None, (advice, changes))) or None

    def outdated_note(self, tool: str) -> str:
        """Return that the model has read another text of the skill whose tool it calls.

        Empty where it has not, or where that cannot be known.
        """
        state, look = self._state, partial(self._view.load, as_="look")
        for skill in state.saved.active:
            owner = self._view.get(skill.id)
            is_other = owner and owner.digest and owner.digest != skill.digest
            if owner is None or not is_other or tool not in owner.tools:
                continue
            # What is out of sight is repeated in the prompt, as it is now. Of a load
            # without a digest the messages are all that is known.
            with suppress(SkillError):
                is_old = bool(skill.digest) or state.shows_other(look(skill.id))
                if is_old and skill.id not in state.evicted():
                    return wording.OUTDATED.format(skill.id)
        return ""

    def _tool_notes(self, owner: Descriptor) -> Iterator[str]:
        brought = self._registry.tools_of(owner)
        is_open = {t.name: self._may_call(owner, t.name) for t in brought.tools}
        if any(is_open.values()):
            names = ", ".join(name for name in is_open if is_open[name])
            yield wording.TOOLS_OPEN.format(names)
        yield from (f"{note}." for note in brought.notes)
        yield from (wording.TOOL_DENIED.format(n) for n in is_open if not is_open[n])

    def bounded(self, tool: Tool, result: object) -> object:
        """Return a result, or its beginning where it is more than the bound."""
        of = self._components
        most, counter = of.options.max_result_tokens, of.counter
        # The tools of the style keep to it by themselves; what a framework takes as it
        # is, such as an image, is no text.
        of_style = any(tool is own for own in self._of_style())
        if most is None or of_style or not _is_data(result):
            return result
        text = result_text(result)
        if (tokens := counter.count(text)) <= most:
            return result
        from satchel.load import first_part

        first = first_part(text, most, counter)
        cut = f"{wording.RESULT_CUT.format(tool.name, tokens, most)}\n\n{first}"
        return with_text(result, cut) if isinstance(result, str) else cut

    # --- Which tools there are --------------------------------------------------------

    def find_tool(self, name: object) -> OwnedTool:
        """Return the tool of that name, and which skill brings it.

        It is the one that is offered; else a denied one, so that the error says why.
        """
        if not isinstance(name, str):  # a model may write any JSON
            kind = type(name).__name__
            raise ToolError("tool call", f"the name of a tool is a text, not a {kind}")
        # Two skills may bring a tool of one name; an allowed one wins over a denied.
        denied: OwnedTool | None = None
        for owner, tool in self._callable():
            if tool.name == name:
                if owner is None or self._may_call(owner, name):
                    return owner, tool
                denied = denied or (owner, tool)
        if denied is None:
            raise ToolError(name, self._advice_on_tool(name))
        return denied

    def _callable(self) -> Iterator[OwnedTool]:
        """Yield what can be called in the order of `offered`, denied tools too."""
        always_on = self.settings.always_on
        if always_on.order:
            yield from always_on.tools()
            yield from self._brought_by(always_on.ids)
        # Also where nothing is listed, and so nothing offered: a model that asks for a
        # skill hears in the words of the style that there is none of that id.
        for tool in self._of_style(even_empty=True).tools:
            yield None, tool
        if self.scripts is not None:
            yield None, self.scripts.tool
        yield from self._brought_by(self._state.in_use)

    def offered(self) -> Iterator[OwnedTool]:
        """Yield each tool once, with the skill that brings it; no denied ones.

        Always-on ones, those of the style, then those of the skills in use, so that
        what comes later is always behind.
        """
        seen: set[str] = set()
        for owner, tool in self._all():
            if tool.name not in seen:
                seen.add(tool.name)
                yield owner, tool

    @property
    def has_native(self) -> bool:
        """Whether a framework's own tool is on offer."""
        tools = [self._registry.get(name) for name in self._registry.names]
        tools += [tool for _, tool in self.settings.always_on.tools()]
        return any(tool is not None and tool.native is not None for tool in tools)

    def opened_by(self, owner: Descriptor) -> list[Tool]:
        """Return the tools that a skill opens, without those that are denied."""
        tools = self._registry.tools_of(owner).tools
        return [tool for tool in tools if self._may_call(owner, tool.name)]

    def check_names(self) -> None:
        """Refuse to begin where two different tools of one name could meet."""
        registry, snapshot = self._registry, self._state.snapshot
        version = registry.version
        always_on = self.settings.always_on
        if not always_on.order and snapshot.checked and snapshot.checked[0] is version:
            return  # a session is opened for each call of a model, so this counts
        owners = dict.fromkeys(self._of_satchel(), _SATCHEL)
        always: dict[str, Tool] = {}
        for owner, tool in always_on.tools():
            first = owners.setdefault(tool.name, owner.id)
            if first != owner.id:
                raise DuplicateToolError(tool.name, first, owner.id)
            always[tool.name] = tool
        for name in registry.names:
            if name in owners and registry.get(name) != always.get(name):
                raise DuplicateToolError(name, owners[name], registry.owner(name))
        if not always_on.order:
            snapshot.checked[:] = [version]

    def check_own_tools(
        self, names: Iterable[str], offered: Iterable[OwnedTool]
    ) -> None:
        """Refuse names of an agent's own tools that skills have too, open or closed."""
        owners = {
            tool.name: _SATCHEL_TWICE if owner is None else f"skill {owner.id!r}"
            for owner, tool in offered
        }
        owners = {**dict.fromkeys(self._of_satchel(), _SATCHEL_TWICE), **owners}
        # Closed ones too: a load in the middle of a conversation would open a second
        # tool of the name, and nothing says which of them a model calls.
        for name in names:
            if name in owners:
                raise DuplicateToolError(name, _AGENT, owners[name])
            if self._registry.get(name) is None:
                continue
            for entry in self._view.catalog.entries:
                if name in entry.tools:
                    raise DuplicateToolError(name, _AGENT, f"skill {entry.id!r}")

    def _all(self) -> Iterator[OwnedTool]:
        style, always_on = self.settings.style, self.settings.always_on
        for skill, tool in always_on.tools():
            if self._may_call(skill, tool.name):
                yield skill, tool
        packs = self._packs(always_on.ids)
        for pack in packs:
            yield from ((pack, tool) for tool in self.opened_by(pack))
        # Tools are only ever added at the end: a provider's cache of the prompt covers
        # the list of tools, too. A reader that nothing needs yet comes with the first
        # skill that has files.
        later = None
        is_needed = offer_reader(style, [*self._state.snapshot.catalog.entries, *packs])
        for tool in self._of_style():
            if tool.name == READ_TOOL and not is_needed:
                later = tool
            else:
                yield None, tool
        yield from self._script_tool(packs)
        for owner in self._packs(self._state.in_use):
            if later is not None and offer_reader(style, [owner]):
                yield None, later
            yield from ((owner, tool) for tool in self.opened_by(owner))
            yield from self._script_tool([owner])

    def _scripts(self) -> "Scripts":
        from satchel.runtime._scripts import Scripts

        ids = self.settings.always_on.ids
        return Scripts(
            self._components,
            partial(self._view.load, as_="look"),
            lambda: self._packs((*ids, *self._state.in_use)),
            lambda: self._state.saved.active,
            self._work_folder,
            self._check_script,
        )

    def _script_tool(self, packs: Iterable[Descriptor]) -> Iterator[OwnedTool]:
        """Yield the tool that runs scripts, where one of these has some it may run."""
        if self.scripts is not None:
            from satchel.runtime._scripts import scripts_of

            may = self._authorizer.may
            if any(scripts_of(pack) and may("script", pack) for pack in packs):
                yield None, self.scripts.tool

    def _of_satchel(self) -> Iterator[str]:
        """Yield the names of the tools that are ours, offered now or not."""
        yield from (tool.name for tool in self._of_style())
        if self.scripts is not None:
            yield self.scripts.tool.name

    def _check_script(self, owner: Descriptor) -> None:
        """Raise `DeniedError` before a file of a skill is touched for nothing."""
        decision = self._authorizer.decide("script", owner)
        if decision.verdict == "deny":
            raise DeniedError("script", owner.id, reason=decision.reason)

    def is_reading(self, tool: str) -> bool:
        """Return whether a tool is one of the style's, which only read skills."""
        return self._of_style(even_empty=True).get(tool) is not None

    def _work_folder(self) -> str:
        """Return the folder that scripts work in."""
        root = self._components.work_root
        return self.settings.work or os.path.join(root, self._state.saved.work)  # noqa: PTH118 - pathlib costs start-up time

    def _packs(self, ids: Iterable[str]) -> list[Descriptor]:
        """Return those of these skills that may be loaded, listed or not."""
        return [pack for id in ids if (pack := self._view.loadable(id)) is not None]

    def _brought_by(self, ids: Iterable[str]) -> Iterator[tuple[Descriptor, Tool]]:
        """Yield the tools of these packs, denied ones too."""
        for owner in self._packs(ids):
            for tool in self._registry.tools_of(owner).tools:
                yield owner, tool

    def _may_call(self, owner: Descriptor, tool: str) -> bool:
        return self._authorizer.may("tool", owner, tool)

    def _of_style(self, *, even_empty: bool = False) -> Toolbox:
        snapshot, always_on = self._state.snapshot, self.settings.always_on
        even_empty = (
            even_empty
            or bool(snapshot.catalog.entries)
            or bool(self._view.catalog.entries)
            or any(
                pack.resources and pack.model_invocable
                for pack in self._packs(always_on.ids)
            )
        )
        key = snapshot.key, even_empty
        tools = self._style_tools.get(key)
        if tools is None:
            tools = self._style_tools[key] = tools_for(
                self.settings.style,
                self,
                find=offer_find(snapshot.catalog, snapshot.section),
                options=self._view.style_options,
                even_empty=even_empty,
            )
        return tools

    def _advice_on_tool(self, name: str) -> str:
        """Return why there is no such tool, and what to call instead."""
        listed = self._view.catalog
        if name in listed:
            return wording.SKILL_IS_NO_TOOL
        for entry in listed.entries:
            if name in entry.tools:
                return wording.LOAD_TO_OPEN.format(entry.id)
        return wording.NO_SUCH_TOOL

    # --- Texts and files --------------------------------------------------------------

    def always_on_texts(self) -> list[str]:
        """Return the instructions of the always-on skills, frozen as the section is."""
        return self.settings.always_on.instructions(self._pinned_text)

    def _pinned_text(self, skill_id: str) -> str:
        # A text with a staged folder in it is no text for other sessions.
        is_shared = self.settings.stager is None
        pinned = self._state.snapshot.pinned if is_shared else self._staged_texts
        text = pinned.get(skill_id)
        if text is None:
            rendered = self._render(self._view.load(skill_id, as_="look"))
            text = pinned.setdefault(skill_id, rendered)
        return text

    def reinjected(self) -> str:
        """Return the texts of skills in use that are out of sight, the newest first."""
        texts: list[str] = []
        no_room: list[str] = []
        gone: list[str] = []
        shown: list[Loaded] = []
        budget = self.settings.reinject_tokens
        left = REINJECT_TOKENS if budget is None else budget
        for id in self._state.evicted():
            try:
                loaded = self._view.load(id, as_="look")
                text = self._render(loaded)
            except SkillError:
                gone.append(id)
                continue
            tokens = self._components.counter.count(text)
            if tokens > left:
                no_room.append(id)  # a shorter one may still fit
            else:
                left -= tokens
                texts.append(text)
                shown.append(loaded)
        if (required := self._state.requirements) is not None:
            self._state.add_ready(map(required.version, shown))
        return wording.reinjected_section(texts, no_room, gone)

    def always_shown(self) -> Iterator[Loaded]:
        """Yield the always-on skills that the prompt shows as they are now."""
        for id in self.settings.always_on.ids:
            with suppress(SkillError):
                loaded = self._view.load(id, as_="look")
                if self._shows(loaded):
                    yield loaded

    def _render(self, loaded: Loaded) -> str:
        root = self.folder(loaded)
        options = replace(EXTENDED, root=root)
        style = self.settings.style
        return render_element(fill_folder(loaded, root), options, style=style)

    def stage(self, descriptor: Descriptor) -> str:
        """Copy a skill's files; return the folder."""
        from satchel.runtime._staging import stage_files

        stager = self.settings.stager or self._components.stager
        look = partial(self._view.load, as_="look")
        return stage_files(stager, look, descriptor)[0]

    def _unstaged(self, skill_id: str, file: str) -> str:
        """Return the path in the pack where a file is asked for by its copy."""
        for (owner, *_), staged in self._staged.items():
            folder = f"{staged.folder}/".replace("\\", "/")
            path = file.replace("\\", "/")
            if owner == skill_id and staged.folder and path.startswith(folder):
                return path.removeprefix(folder)
        return file

    def _stage_if_needed(self, descriptor: Descriptor) -> "Staged | None":
        """Return where a skill's files were copied to; None where there is no need."""
        stager = self.settings.stager
        if stager is None or not descriptor.resources:
            return None
        # With the marks of all files: an edited pack is copied again.
        key = descriptor.id, descriptor.digest, descriptor.files
        staged = self._staged.get(key)
        if staged is None:
            from satchel.runtime._staging import stage_pack

            load = partial(self._view.load, as_="look")
            staged = self._staged[key] = stage_pack(stager, load, descriptor)
        return staged


def _is_data(result: object) -> bool:
    """Tell whether a result is text or data, and no list of a provider's own parts."""
    items = cast("list[object]", result) if isinstance(result, list) else []
    if items and all(isinstance(one, Mapping) and "type" in one for one in items):
        return False
    return isinstance(result, (str, Mapping, list, tuple, set, frozenset))
