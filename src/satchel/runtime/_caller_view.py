"""The skills as one caller from outside may have them: no conversation, full texts."""

from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from satchel.errors import (
    DeniedError,
    ReferenceNotAllowedError,
    SkillError,
    SkillExcludedError,
    SkillNotFoundError,
)
from satchel.load import (
    InvokedSkill,
    ToolBackend,
    invoke_skill,
    offer_find,
    tools_for,
    wording,
)
from satchel.model import (
    Catalog,
    Descriptor,
    FileStat,
    Hit,
    Loaded,
    Manifest,
    Rendered,
    Request,
    Resource,
    Style,
    UsageEvent,
)
from satchel.runtime._access import ScopeCache, SkillAccess
from satchel.runtime._approvals import Authorizer
from satchel.runtime._needs import needs_notes
from satchel.runtime._options import patterns_of
from satchel.runtime._session_settings import SessionSettings
from satchel.tools import Run, Toolbox

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping

    from satchel.prompt import Format
    from satchel.runtime._components import Components


class CallerView:
    """Lists, finds and loads for one caller, and remembers nothing between calls.

    Made by `satchel.Satchel.view`. It is for servers, whose protocol has no
    conversation: every load gives the whole text, no result says "already loaded", and
    where the policy says ask, the load is an error. It follows every sync. Safe across
    threads.
    """

    def __init__(
        self,
        components: "Components",
        settings: SessionSettings,
        *,
        via: str,
        scope: "ScopeCache | None" = None,
        wait_for_writer: bool = True,
    ) -> None:
        self.settings = settings
        self.via = via
        self._components = components
        self._toolboxes: dict[tuple[bool, bool], Toolbox] = {}
        self._scope = ScopeCache() if scope is None else scope
        self._access = SkillAccess(
            components,
            settings,
            Authorizer(components.policy, settings.who),
            scope=self._scope,
            wait_for_writer=wait_for_writer,
        )

    def for_caller(
        self,
        *,
        who: "Mapping[str, Any]",
        only: "Iterable[str] | None",
        via: str,
        client: str,
    ) -> "CallerView":
        """Return the skills as another may have them; see `satchel.Satchel.view`."""
        settings = replace(
            self.settings,
            who=who,
            only=() if only is None else (patterns_of(only),),
            client=client,
        )
        return CallerView(self._components, settings, via=via)

    def for_client(self, client: str) -> "CallerView":
        """Return the same skills for the same caller, as another program asks."""
        # The scope is shared: programs of one caller see the same catalog object.
        settings = replace(self.settings, client=client)
        return CallerView(self._components, settings, via=self.via, scope=self._scope)

    @cached_property
    def without_waiting(self) -> "CallerView":
        """The same, for what reads many skills: it waits for none that is written."""
        given = self._components, self.settings
        return CallerView(
            *given, via=self.via, scope=self._scope, wait_for_writer=False
        )

    @property
    def catalog(self) -> Catalog:
        """What may be listed for this caller now; the same object while it stays so."""
        return self._access.listed

    @property
    def invocable(self) -> tuple[Descriptor, ...]:
        """The skills that a user may invoke, by id; those hidden from models, too."""
        excluded = self._access.scoped.excluded
        hidden = (e.descriptor for e in excluded if e.reason == "hidden")
        invocable = (
            entry
            for entry in (*self.catalog.entries, *hidden)
            if entry.user_invocable and self._access.loadable(entry.id) is not None
        )
        return tuple(sorted(invocable, key=lambda entry: entry.id))

    def descriptor(self, skill_id: str) -> Descriptor:
        """Return a skill that this caller may load, listed or hidden.

        Raises:
            SkillNotFoundError: There is none of this id here.
            DeniedError: It is here, and not for this caller.
        """
        entry = self._access.descriptor(skill_id)
        if entry is None:
            replacement = self.catalog.replacement_of(skill_id)
            raise SkillNotFoundError(skill_id, replacement=replacement)
        if self._access.loadable(skill_id) is None:
            raise DeniedError("load", skill_id)
        return entry

    def load(self, skill_id: str, file: str | None = None) -> Loaded:
        """Return a skill's SKILL.md, or one other file of it, whole; it is an event.

        Raises:
            SkillError: As for `satchel.Satchel.load`.
        """
        with self._without_foreign_names():
            return self._access.load(skill_id, file, via=self.via)

    def load_again(self, entry: Descriptor) -> bool:
        """Record one more load of a SKILL.md; False, and no event, if it is another."""
        return self._access.load_again(entry, via=self.via)

    def copy(self, skill_id: str, file: str | None = None) -> Loaded:
        """Do as `load` does for a copy that is kept elsewhere.

        That is an event of its own, and no use of the skill.

        Raises:
            SkillError: As for `load`.
        """
        with self._without_foreign_names():
            return self._access.copy(skill_id, file, via=self.via)

    @contextmanager
    def _without_foreign_names(self) -> "Generator[None]":
        """Keep ids that this caller may not see out of an error for an unknown id."""
        try:
            yield
        except SkillNotFoundError as error:
            # The policy was not asked about close ids; one that is not listed for this
            # caller would tell that it exists.
            close = tuple(name for name in error.close if name in self.catalog)
            raise SkillNotFoundError(
                error.name, close, self.catalog.replacement_of(error.name)
            ) from None

    def record_remote_load(
        self,
        request: Request,
        *,
        digest: str,
        size_bytes: int,
        tokens: int,
        duration_s: float,
    ) -> None:
        """Record a load from a copy that is kept elsewhere, as its owner reports it.

        Raises:
            SkillError: As for `descriptor`.
        """
        event = UsageEvent(
            request.id,
            None,
            None,
            self.descriptor(request.id).source,
            duration_s,
            None,
            request.file,
            self.via,
            digest,
            size_bytes,
            tokens=tokens,
            agent=request.agent,
            client=self.settings.client,
        )
        self._access.report_remote(event)

    def record_failed_load(
        self, skill_id: str, file: str | None = None, *, copy: bool = False
    ) -> None:
        """Record a load that failed before it began: it is an event.

        For edges whose callers ask by an address that is looked up first. ``copy`` is
        whether it was to be kept elsewhere, see `copy`.
        """
        refuse = self._access.refuse_copy if copy else self._access.refuse
        # In the order in which a load finds these out, so that the events agree.
        error: SkillError
        if self._access.descriptor(skill_id) is None:
            error = SkillNotFoundError(skill_id)
        elif self._access.loadable(skill_id) is None:
            error = DeniedError("load", skill_id)
        else:
            error = ReferenceNotAllowedError(skill_id, file or "")
        with suppress(SkillError):
            refuse(skill_id, file, error, via=self.via)

    def resources(self, skill_id: str) -> tuple[Resource, ...]:
        """Return path, digest and size of every listed file, SKILL.md included.

        A file that the pack lists but does not have is left out.

        Raises:
            SkillError: As for `descriptor`; or a file cannot be read now, or is larger
                than a load gives: see `too_large`.
        """
        return self._current(skill_id, self.descriptor)

    def loadable_resources(self, loaded: Loaded) -> tuple[Resource, ...]:
        """Return the files of a loaded skill, as `resources` does, but no large ones.

        Raises:
            SkillError: A file cannot be read now.
        """
        entry = loaded.descriptor
        try:
            return self._components.registry.resources(self._without_large(entry))
        except SkillError:  # it may have been edited since it was loaded
            return self._current(
                entry.id, lambda id: self._without_large(self.descriptor(id))
            )

    def _without_large(self, entry: Descriptor) -> Descriptor:
        # No load gives these, and the digest of one would fail the whole list.
        large = self.too_large(entry)
        small = tuple(stat for stat in entry.files if stat not in large)
        return replace(entry, files=small) if large else entry

    def _current(
        self, skill_id: str, descriptor: "Callable[[str], Descriptor]"
    ) -> tuple[Resource, ...]:
        registry = self._components.registry
        return self._access.current(
            skill_id,
            lambda _: registry.resources(descriptor(skill_id)),
            check_missing=False,
        )

    def too_large(self, entry: Descriptor) -> tuple[FileStat, ...]:
        """Return the listed files of a skill that no load gives, for their size."""
        most = self._components.accept.limits.file_bytes
        large = [stat for stat in entry.files if stat.size > most]
        return tuple(stat for stat in large if stat.path in entry.resources)

    def manifest(self, skill_id: str) -> Manifest:
        """Return a skill's manifest as it is now; it is no event.

        Raises:
            SkillError: As for `satchel.Satchel.manifest`.
        """
        self.descriptor(skill_id)
        return self._components.manifest_of(self._access.reload(skill_id))

    def manifest_of(self, loaded: Loaded) -> Manifest:
        """Return the manifest of a loaded SKILL.md, without a second read.

        It is that of the catalog, and parsed only where the catalog has none.

        Raises:
            SkillManifestError: It has no frontmatter; the source made up its manifest.
        """
        return self._components.manifest_of(loaded)

    def peek(self, skill_id: str, file: str | None = None) -> Loaded:
        """Do as `load` does without an event: for what is no use of a skill.

        Raises:
            SkillError: As for `load`.
        """
        self.descriptor(skill_id)
        if file is None:
            return self._access.reload(skill_id)
        return self._access.load_silently(Request(skill_id, file))

    def find(self, query: str, k: int = 10) -> list[Hit]:
        """Return at most ``k`` skills that match ``query``, best first, ties by id."""
        return self._access.search(query, k)

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

    def invoke(self, skill_id: str, arguments: str = "") -> InvokedSkill:
        """Return a skill as its user calls it, its arguments in their places.

        It is an event of the edge that it came through.

        Raises:
            SkillError: As for `load`; one that no user may invoke is excluded.
        """
        entry = self._access.descriptor(skill_id)
        if entry is not None and not entry.user_invocable:
            fix = "only a model may load it"
            error = SkillExcludedError(skill_id, "not for users", fix)
            self._access.refuse(skill_id, None, error, via=self.via)
        loaded = self._access.load(skill_id, via=self.via)
        client = self._components.manifest_of(loaded).client
        return invoke_skill(loaded, arguments, client, None, self.settings.style)

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
            backend = _ViewBackend(self, self._access, self._components)
            self._toolboxes[key] = tools_for(
                self.settings.style,
                backend,
                find=find,
                options=self._components.style_options,
                even_empty=even_empty,
            )
        return self._toolboxes[key]


class _ViewBackend(ToolBackend):
    def __init__(
        self, view: CallerView, access: SkillAccess, components: "Components"
    ) -> None:
        self._view = view
        self._access = access
        self._components = components

    @property
    def catalog(self) -> Catalog:
        return self._access.listed

    def load(self, request: Request, run: Run) -> Loaded:
        del run
        entry = self._access.descriptor(request.id)
        via = self._view.via
        # Said before the load, which would not tell by `via` that a model asks.
        if entry is not None and not entry.model_invocable:
            fix = "only a user may invoke it"
            error = SkillExcludedError(request.id, "hidden", fix)
            self._access.refuse(request.id, request.file, error, via=via)
        loaded = self._access.load(request.id, request.file, via=via)
        return self._components.checked_whole(loaded, self._view.settings.style)

    def find(self, query: str, k: int) -> list[Hit]:
        return self._access.search(query, k)

    def notes(self, loaded: Loaded) -> list[str]:
        if self._view.settings.style != "lean":
            return []
        return [*needs_notes(self._components, self._access, loaded, warn=False)]

    def advice(self, error: SkillError) -> str | None:
        return wording.replacement_advice(error, self._access.listed) or None
