"""`View`: the catalog for one caller of a server, with tools, files and manifests."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NoReturn

from satchel.errors import DeniedError, SkillError, SkillNotFoundError
from satchel.load import LoadAttempt, ToolBackend, find_loadable, offer_find, tools_for
from satchel.model import (
    Activation,
    Decision,
    Descriptor,
    FileStat,
    Loaded,
    Manifest,
    Rendered,
    Request,
    Resource,
    Style,
    UsageEvent,
)
from satchel.runtime._access import Access, As, not_for
from satchel.runtime._options import patterns_of
from satchel.tools import Run, Toolbox

if TYPE_CHECKING:
    from satchel.load import InvokedSkill
    from satchel.prompt import Format
    from satchel.runtime._scripts import Scripts


class View(Access, ToolBackend):
    """The catalog for one caller of a server, made by `satchel.Satchel.view`.

    It is an access to skills that the tools of a style can call, in a protocol without
    conversations: every load gives the whole text, no result says "already loaded",
    and where the policy says ask, the load is an error.
    """

    def for_caller(
        self,
        *,
        who: Mapping[str, Any],
        only: Iterable[str] | None,
        via: str,
        client: str,
    ) -> "View":
        """Return the skills as another may have them; see `satchel.Satchel.view`."""
        patterns = () if only is None else (patterns_of(only),)
        settings = replace(self.settings, who=who, only=patterns, client=client)
        return View(self._components, settings, via=via)

    def for_client(self, client: str) -> "View":
        """Return the same skills for the same caller, as another program asks."""
        # The scope is shared: programs of one caller see the same catalog object.
        settings = replace(self.settings, client=client)
        return View(self._components, settings, via=self.via, scope=self._scope)

    @cached_property
    def without_waiting(self) -> "View":
        """The same, for what reads many skills: it waits for none that is written."""
        return View(
            self._components,
            self.settings,
            via=self.via,
            scope=self._scope,
            wait_for_writer=False,
        )

    def descriptor(self, skill_id: str) -> Descriptor:
        """Return a skill that this caller may load, listed or hidden.

        Raises:
            SkillNotFoundError: There is none of this id here.
            DeniedError: It is here, and not for this caller.
        """
        entry = self.get(skill_id)
        if entry is None:
            replacement = self.catalog.replacement_of(skill_id)
            raise SkillNotFoundError(skill_id, replacement=replacement)
        if self.loadable(skill_id) is None:
            raise DeniedError("load", skill_id)
        return entry

    @property
    def invocable(self) -> tuple[Descriptor, ...]:
        """The skills that a user may invoke, by id; those hidden from models, too."""
        excluded = self.scoped.excluded
        hidden = (e.descriptor for e in excluded if e.reason == "hidden")
        invocable = (
            entry
            for entry in (*self.catalog.entries, *hidden)
            if entry.user_invocable and self.loadable(entry.id) is not None
        )
        return tuple(sorted(invocable, key=lambda entry: entry.id))

    def load_again(self, entry: Descriptor) -> bool:
        """Record one more load of a SKILL.md; False, and no event, if it is another."""
        scoped, components = self.scoped, self._components
        # Nobody is asked twice.
        if find_loadable(scoped, entry.id) != entry or self._authorizer.asks:
            return False
        request = self._request(entry.id)
        start = components.clock.monotonic()
        try:
            loaded = self._attempt(scoped, request, None, None, {})
        except Exception:  # noqa: BLE001 - `load` raises it again, and records it
            return False
        if components.sinks != () and components.usage_events.sinks.awake:
            end = components.clock.monotonic()
            self._report(None, LoadAttempt(scoped, request, loaded, start, end))
        return True

    def refuse(
        self,
        skill_id: str,
        file: str | None,
        error: SkillError,
        *,
        as_: As = "use",
        via: str | None = None,
    ) -> NoReturn:
        """Raise an error that was decided on before any load; it is an event, too."""
        self._refuse(self._request(skill_id, file, via), error, as_)

    def report(self, event: UsageEvent) -> None:
        """Record a load that was done elsewhere, from a copy."""
        events = self._components.usage_events
        if events.sinks.awake:
            events.record_remote_load(self.catalog, event)

    def decide_script(self, entry: Descriptor) -> Decision:
        """Return what the policy says of the scripts of a skill."""
        return self._authorizer.decide("script", entry)

    def scripts(
        self,
        loaded: Iterable[Activation],
        work: str,
        check: Callable[[Descriptor], None],
    ) -> "Scripts":
        """Return the scripts of skills that a caller of a server has loaded.

        ``check`` raises where the caller may not run those of a skill.
        """
        from satchel.runtime._scripts import Scripts

        packs = [*filter(None, (self.loadable(one.id) for one in loaded))]
        skills = partial(self.load, as_="look"), lambda: packs, lambda: loaded
        return Scripts(self._components, *skills, lambda: work, check)

    # --- Files and manifests ----------------------------------------------------------

    def resources(self, skill_id: str) -> tuple[Resource, ...]:
        """Return path, digest and size of every listed file, SKILL.md included.

        A file that the pack lists but does not have is left out.

        Raises:
            SkillError: As for `descriptor`; or a file cannot be read now, or is larger
                than a load gives: see `too_large`.
        """
        return self.files_of(skill_id, self.descriptor)

    def loadable_resources(self, loaded: Loaded) -> tuple[Resource, ...]:
        """Return the files of a loaded skill, as `resources` does, but no large ones.

        Raises:
            SkillError: A file cannot be read now.
        """
        entry = loaded.descriptor
        try:
            return self._registry.resources(self._without_large(entry))
        except SkillError:  # it may have been edited since it was loaded
            return self.files_of(
                entry.id, lambda id: self._without_large(self.descriptor(id))
            )

    def _without_large(self, entry: Descriptor) -> Descriptor:
        # No load gives these, and the digest of one would fail the whole list.
        large = self.too_large(entry)
        small = tuple(stat for stat in entry.files if stat not in large)
        return replace(entry, files=small) if large else entry

    def too_large(self, entry: Descriptor) -> tuple[FileStat, ...]:
        """Return the listed files of a skill that no load gives, for their size."""
        most = self._limits.file_bytes
        large = [stat for stat in entry.files if stat.size > most]
        return tuple(stat for stat in large if stat.path in entry.resources)

    def manifest(self, skill_id: str) -> Manifest:
        """Return a skill's manifest as it is now; it is no event.

        Raises:
            SkillError: As for `satchel.Satchel.manifest`.
        """
        self.descriptor(skill_id)
        return self.manifest_of(self.load(skill_id, as_="look"))

    # --- Prompt and tools -------------------------------------------------------------

    def prompt(
        self,
        *,
        style: Style | None = None,
        format: "Format | None" = None,  # noqa: A002 - the word users of the CLI know
        budget_tokens: int | str | None = "default",
        message: str | None = None,
    ) -> Rendered:
        """Render the catalog section; see `satchel.Satchel.prompt`."""
        style = style or self.settings.style
        sections = self._components.sections
        section = sections.render(self.catalog, style, format, budget_tokens)
        return sections.add_suggestions(section, self.find, message)

    def invoke(self, skill_id: str, arguments: str = "") -> "InvokedSkill":
        """Return a skill as its user calls it, its arguments in their places.

        It is an event of the edge that it came through.

        Raises:
            SkillError: As for `load`; one that no user may invoke is excluded.
        """
        from satchel.load import invoke_skill

        entry = self.get(skill_id)
        if entry is not None and not entry.user_invocable:
            self.refuse(skill_id, None, not_for("user", entry))
        loaded = self.load(skill_id)
        client = self.manifest_of(loaded).client
        return invoke_skill(loaded, arguments, client, None, self.settings.style)

    @cached_property
    def _toolboxes(self) -> dict[tuple[bool, bool], Toolbox]:
        return {}

    def tools(self, *, find: bool | None = None, even_empty: bool = False) -> Toolbox:
        """Return the tools of the style, with the one that finds where it is needed.

        Hidden skills are not found through them. ``find`` says whether it is needed;
        None renders the section to find out. The style ``references`` has its own.
        Without a skill there is no tool, but for ``even_empty``.
        """
        if find is None:
            find = offer_find(self.catalog, self.prompt())
        find = find and self.settings.style != "references"
        # The tools ask for the catalog at each call, so they can be kept over syncs;
        # only whether it has any skill decides which tools there are.
        key = find, even_empty or bool(self.catalog.entries)
        if key not in self._toolboxes:
            self._toolboxes[key] = tools_for(
                self.settings.style,
                self,
                find=find,
                options=self.style_options,
                even_empty=even_empty,
            )
        return self._toolboxes[key]

    def load_for(self, request: Request, run: Run) -> Loaded:
        """Load for a call of one of the tools."""
        del run
        entry = self.get(request.id)
        # Said before the load, which would not tell by `via` that a model asks.
        if entry is not None and not entry.model_invocable:
            self.refuse(request.id, request.file, not_for("tool", entry))
        loaded = self.load(request.id, request.file)
        return self.checked_whole(loaded)

    def notes(self, loaded: Loaded) -> list[str]:
        """Return what the text takes for granted."""
        if self.settings.style != "lean":
            return []
        return [*self.needs_notes(loaded)]

    def advice(self, error: SkillError) -> str | None:
        """Return which skill has taken the place of one that is missing."""
        from satchel.load import replacement_advice

        return replacement_advice(error, self.catalog) or None
