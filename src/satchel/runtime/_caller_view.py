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
    ResultHooks,
    StyleOptions,
    invoke_skill,
    offer_find,
    tools_for,
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
from satchel.runtime._approvals import Approvals
from satchel.runtime._authorizer import Authorizer
from satchel.runtime._options import patterns_of
from satchel.runtime._result_notes import replacement_advice
from satchel.runtime._session_context import SessionSettings
from satchel.tools import Toolbox

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Mapping

    from satchel.prompt import Format
    from satchel.runtime._session_context import SessionContext


class CallerView:
    """Lists, finds and loads for one caller, and remembers nothing between calls.

    Made by `satchel.Satchel.view`. It is what a server stands on, whose protocol has no
    conversation: every load gives the whole text, "already loaded" is never said, and a
    question of the policy that would need somebody to answer it is an error. It follows
    every sync. Safe across threads.
    """

    def __init__(  # noqa: PLR0913 - by name, for whoever makes one
        self,
        shelf: "SessionContext",
        settings: SessionSettings,
        *,
        via: str,
        resources: "Callable[[Descriptor], tuple[Resource, ...]]",
        render: "Callable[[Catalog, Style, Format, int | str | None], Rendered]",
        scope: "ScopeCache | None" = None,
    ) -> None:
        self.settings = settings
        self.via = via
        self._shelf = shelf
        self._resources = resources
        self._render = render
        self._boxes: dict[tuple[bool, bool], Toolbox] = {}
        gate = Authorizer(shelf.policy, Approvals(), settings.who)
        self._scope = ScopeCache() if scope is None else scope
        self._reading = SkillAccess(shelf, settings, gate, self._scope)

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
        return CallerView(
            self._shelf,
            settings,
            via=via,
            resources=self._resources,
            render=self._render,
        )

    def for_client(self, client: str) -> "CallerView":
        """Return the same skills for the same caller, as another program asks."""
        return CallerView(
            self._shelf,
            replace(self.settings, client=client),
            via=self.via,
            resources=self._resources,
            render=self._render,
            scope=self._scope,
        )

    @cached_property
    def without_waiting(self) -> "CallerView":
        """The same, for what reads many skills: it waits for none that is written."""
        return CallerView(
            replace(self._shelf, load=self._shelf.load.without_waiting),
            self.settings,
            via=self.via,
            resources=self._resources,
            render=self._render,
            scope=self._scope,
        )

    @property
    def catalog(self) -> Catalog:
        """What may be listed for this caller now; the same object while it stays so."""
        return self._reading.listed

    @property
    def invocable(self) -> tuple[Descriptor, ...]:
        """The skills that a user may invoke, by id; those hidden from models, too."""
        here = self._reading.scoped
        hidden = [held.descriptor for held in here.excluded if held.reason == "hidden"]
        may = [e for e in (*self.catalog.entries, *hidden) if e.user_invocable]
        known = [entry for entry in may if self._reading.in_use(entry.id) is not None]
        return tuple(sorted(known, key=lambda entry: entry.id))

    def descriptor(self, skill_id: str) -> Descriptor:
        """Return a skill that this caller may load, listed or hidden.

        Raises:
            SkillNotFoundError: There is none of this id here.
            DeniedError: It is here, and not for this caller.
        """
        found = self._reading.descriptor(skill_id)
        if found is None:
            heir = self.catalog.replacement_of(skill_id)
            raise SkillNotFoundError(skill_id, replacement=heir)
        if self._reading.in_use(skill_id) is None:
            raise DeniedError("load", skill_id)
        return found

    def load(self, skill_id: str, file: str | None = None) -> Loaded:
        """Return a skill's SKILL.md, or one file beside it, whole; it is an event.

        Raises:
            SkillError: As for `satchel.Satchel.load`.
        """
        with self._its_own_names():
            return self._reading.fetch(skill_id, file, via=self.via)

    def copy(self, skill_id: str, file: str | None = None) -> Loaded:
        """Do as `load` does for a copy that is kept elsewhere.

        That is an event of its own, and no use of the skill.

        Raises:
            SkillError: As for `load`.
        """
        with self._its_own_names():
            return self._reading.copy(skill_id, file, via=self.via)

    @contextmanager
    def _its_own_names(self) -> "Generator[None]":
        """Let an error for an unknown id name no skill that this caller may not see."""
        try:
            yield
        except SkillNotFoundError as error:
            close = tuple(name for name in error.close if name in self.catalog)
            raise SkillNotFoundError(
                error.name, close, self.catalog.replacement_of(error.name)
            ) from None

    def reported(
        self,
        request: Request,
        *,
        digest: str,
        size_bytes: int,
        tokens: int,
        duration_s: float,
    ) -> None:
        """Tell of a load of a copy that is kept elsewhere, as whoever keeps it says.

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
        self._shelf.load.reported(self.catalog, event)

    def missed(
        self, skill_id: str, file: str | None = None, *, copy: bool = False
    ) -> None:
        """Tell of a load that came to nothing before there was one: it is an event.

        For edges whose callers ask by an address that is looked up first. ``copy`` is
        whether it was to be kept elsewhere, see `copy`.
        """
        refuse = self._reading.refuse_copy if copy else self._reading.refuse
        error: SkillError
        if self._reading.descriptor(skill_id) is None:
            error = SkillNotFoundError(skill_id)
        elif self._reading.in_use(skill_id) is None:
            error = DeniedError("load", skill_id)
        else:
            error = ReferenceNotAllowedError(skill_id, file or "")
        with suppress(SkillError):
            refuse(skill_id, file, error, via=self.via)

    def resources(self, skill_id: str) -> tuple[Resource, ...]:
        """Return path, digest and size of every listed file, SKILL.md included.

        One that the pack lists and does not hold is left out.

        Raises:
            SkillError: As for `descriptor`; or a file cannot be read now, or is larger
                than is handed out: see `too_large`.
        """
        return self._current(skill_id, self.descriptor)

    def handed_out(self, skill_id: str) -> tuple[Resource, ...]:
        """Return the same without the files that are too large to be handed out.

        Raises:
            SkillError: As for `descriptor`; or a file cannot be read now.
        """
        return self._current(skill_id, self._handed_out)

    def _handed_out(self, skill_id: str) -> Descriptor:
        entry = self.descriptor(skill_id)
        large = {stat.path for stat in self.too_large(entry)}
        return _without_files(entry, large) if large else entry

    def _current(
        self, skill_id: str, descriptor: "Callable[[str], Descriptor]"
    ) -> tuple[Resource, ...]:
        """Return the manifest of bytes; an edited pack is read again."""
        return self._shelf.load.current(
            lambda: self._reading.scoped,
            skill_id,
            lambda _: self._resources(descriptor(skill_id)),
        )

    def too_large(self, entry: Descriptor) -> tuple[FileStat, ...]:
        """Return the listed files of a skill that no load gives, for their size."""
        most = self._shelf.load.limits.file_bytes
        if all(stat.size <= most for stat in entry.files):
            return ()
        listed = {*entry.resources}
        return tuple(
            stat for stat in entry.files if stat.size > most and stat.path in listed
        )

    def manifest(self, skill_id: str) -> Manifest:
        """Return a skill's manifest as it is now; it is no event.

        Raises:
            SkillError: As for `satchel.Satchel.manifest`.
        """
        self.descriptor(skill_id)
        return self._shelf.manifest(self._reading.again(skill_id))

    def manifest_of(self, loaded: Loaded) -> Manifest:
        """Return the manifest of a loaded SKILL.md, without a second read.

        It is that of the catalog, and parsed only where the catalog has none.

        Raises:
            SkillManifestError: It has no frontmatter; the source made up its manifest.
        """
        return self._shelf.manifest(loaded)

    def peek(self, skill_id: str, file: str | None = None) -> Loaded:
        """Do as `load` does without an event: for what is no use of a skill.

        Raises:
            SkillError: As for `load`.
        """
        self.descriptor(skill_id)
        if file is None:
            return self._reading.again(skill_id)
        return self._reading.unnoticed(skill_id, file)

    def find(self, query: str, k: int = 10) -> list[Hit]:
        """Return at most ``k`` skills that match ``query``, best first, ties by id."""
        return self._reading.find(query, k)

    def prompt(
        self,
        *,
        style: Style | None = None,
        format: "Format" = "xml-id",  # noqa: A002 - the word users of the CLI know
        budget_tokens: int | str | None = "default",
    ) -> Rendered:
        """Render the catalog section; see `satchel.Satchel.prompt`."""
        style = style or self.settings.style
        return self._render(self.catalog, style, format, budget_tokens)

    def invoke(self, skill_id: str, arguments: str = "") -> InvokedSkill:
        """Return a skill as its user calls it, its arguments in their places.

        It is an event of the edge that it came through.

        Raises:
            SkillError: As for `load`; one that no user may invoke is withheld.
        """
        entry = self._reading.descriptor(skill_id)
        if entry is not None and not entry.user_invocable:
            fix = "only a model may load it"
            error = SkillExcludedError(skill_id, "not for users", fix)
            self._reading.refuse(skill_id, None, error, via=self.via)
        loaded = self._reading.fetch(skill_id, None, via=self.via)
        names = self._shelf.manifest(loaded).client.arguments
        return invoke_skill(loaded, arguments, names, None, self.settings.style)

    def tools(self, *, find: bool | None = None) -> Toolbox:
        """Return the tools of the style, with the one that finds where it is needed.

        Hidden skills are not found through them. ``find`` says whether it is needed;
        None renders the section to tell. The style ``references`` has its own.
        """
        if find is None:
            find = offer_find(self.catalog, self.prompt())
        find = find and self.settings.style != "references"
        # They ask for the catalog at each call, so they serve until it is empty.
        key = find, bool(self.catalog.entries)
        if key not in self._boxes:
            self._boxes[key] = self._tools(find=find)
        return self._boxes[key]

    def _tools(self, *, find: bool) -> Toolbox:
        return tools_for(
            self.settings.style,
            self._for_model,
            catalog=lambda: self.catalog,
            find=self.find if find else None,
            options=StyleOptions(envelope="extended"),
            hooks=ResultHooks(
                misses=lambda error: replacement_advice(error, self.catalog) or None
            ),
        )

    def _for_model(self, request: Request) -> Loaded:
        entry = self._reading.descriptor(request.id)
        if entry is not None and not entry.model_invocable:
            fix = "only a user may invoke it"
            error = SkillExcludedError(request.id, "hidden", fix)
            self._reading.refuse(request.id, request.file, error, via=self.via)
        return self._reading.fetch(request.id, request.file, via=self.via)


def _without_files(entry: Descriptor, paths: "Collection[str]") -> Descriptor:
    def left(listed: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(path for path in listed if path not in paths)

    return replace(
        entry,
        references=left(entry.references),
        scripts=left(entry.scripts),
        assets=left(entry.assets),
        others=left(entry.others),
        files=tuple(stat for stat in entry.files if stat.path not in paths),
    )
