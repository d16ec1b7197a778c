"""`Satchel`: everything that was named, as one catalog."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Never, Self, cast, get_args

from satchel.catalog import CatalogRules, Health, ParseOptions, Registry
from satchel.errors import NoSources
from satchel.files import tree_digest
from satchel.model import (
    Catalog,
    Conflict,
    Descriptor,
    Finding,
    Hit,
    Limits,
    Loaded,
    Manifest,
    Rendered,
    Resource,
    Style,
    SyncReport,
    joined_findings,
)
from satchel.policy import OPEN_POLICY, Policy
from satchel.protocols import Approver, UsageSink, with_abilities
from satchel.runtime._components import Components, PromptSections, verifier_of
from satchel.runtime._inputs import (
    OpenedInputs,
    SkillInputs,
    index_settings,
    open_named,
)
from satchel.runtime._options import (
    DEFAULT_OPTIONS,
    AlwaysOn,
    Options,
    SessionSettings,
    SystemClock,
    check_approve,
    check_budget,
    check_choice,
    check_choices,
    check_hits,
    check_only,
    check_who,
    disabled_patterns,
    patterns_of,
    refuse_keywords,
    work_folder,
)
from satchel.text import EstimateCounter

if TYPE_CHECKING:
    # each costs start-up time, and most programs need few of them
    from satchel.agent import SkillLike
    from satchel.load import TurnCache
    from satchel.prompt import Format
    from satchel.protocols import Report, Runner
    from satchel.runtime._background_sync import FolderWatch
    from satchel.runtime._options import WorkFolder
    from satchel.runtime._session import Session, SessionSkill
    from satchel.runtime._session_state import SavedState
    from satchel.runtime._staging import Stager
    from satchel.runtime._view import View
    from satchel.runtime._why import Why
    from satchel.skill_md import Profile
    from satchel.usage import UsageState


class Satchel:
    """Skills from anywhere, as one catalog that a model can ask.

    Made from folders, sources and `Skill` objects; with nothing, from the nearest
    satchel.toml (or ``[tool.satchel]``). A value that is given here wins over that of
    the file. The sources are read once now, and again when `sync` is called. Safe to
    share between threads and agents.

    What was refused, unreachable, in conflict, misspelled or empty is logged, each as a
    WARNING (logger ``satchel``; more than ten of one code are counted), and is in
    `findings`.

    Args:
        what: Folders, addresses, files, sources and skills.
        profile: Which manifests are accepted: ``strict``, ``spec``, ``lenient`` or
            ``auto``.
        style: Names and shapes of what a model sees.
        policy: Who may list, find, load and call what.
        tools: Tools that skills may name; see `offer`.
        budget_tokens: What the section of `prompt` may cost; None is no limit.
        disabled: Ids, or shell patterns over ids, to leave out.
        sinks: Take an event for every load. None is what ``SATCHEL_USAGE`` chooses, by
            default a line of `logging` each: no event is written to disk unasked.
            Sinks that are given here are flushed by `close`, and closed by their owner.
        strict: Raise the first of what would be logged; the others are its notes.
        pin: The id of the one release among ``what``, in a folder or at an address.
            Another release is not used at all.
        runner: Runs scripts of loaded skills, where the policy allows or asks for the
            action ``script``; such as ``satchel_scripts.Sandbox()``.
        options: What few programs change; see `Options`.

    Raises:
        NoSources: ``strict`` is set, and nothing was named, not in a satchel.toml.
        MissingPathError: A path that was named does not exist.
        ConfigError: satchel.toml, a variable or an option cannot be used; or ``pin`` is
            given, and not exactly one release is named.
        InvalidReleaseError, DigestMismatchError: A folder is no release that can be
            used, or not the pinned one. An address in such a state is a source that
            does not answer: see `health`.
        DuplicateSkillError, SourceUnavailableError, SkillManifestError, NoSkillsError:
            ``strict`` is set, and something is wrong.
        TypeError: A keyword is unknown, or is a field of `Options`.
    """

    def __init__(  # noqa: PLR0913 - the options that most programs know, all by name
        self,
        *what: SkillInputs,
        profile: "Profile | None" = None,
        style: Style | None = None,
        policy: Policy = OPEN_POLICY,
        tools: Iterable[object] = (),
        budget_tokens: int | str | None = "default",
        disabled: Iterable[str] = (),
        sinks: Iterable[UsageSink] | None = None,
        strict: bool = False,
        pin: str | None = None,
        runner: "Runner | None" = None,
        options: Options = DEFAULT_OPTIONS,
        **unknown: Never,
    ) -> None:
        """Open the sources and sync once."""
        if unknown:
            refuse_keywords(unknown)
        check_choices(profile=profile, style=style)
        if budget_tokens != "default":
            check_budget(budget_tokens)
        opened = _opened(what, pin, options)
        config = opened.config
        if strict and opened.advice:
            raise NoSources(opened.advice)
        environ = os.environ if options.environ is None else options.environ
        clock = options.clock or SystemClock()
        counter = options.counter or EstimateCounter()
        verifier = verifier_of(opened, environ, options.verifier)
        accept = ParseOptions(
            profile=profile or config.profile,
            limits=config.limits,
            allow_empty_description=options.allow_empty_description,
            lists=getattr(verifier, "trusts_lists", verifier is None),
        )
        off = disabled_patterns(disabled, config.disabled, environ)
        rules = CatalogRules(options.on_conflict or config.on_conflict, off, verifier)
        self.policy = policy
        self.style: Style = style or config.style
        self.registry = Registry(
            opened.sources,
            accept=accept,
            rules=rules,
            clock=clock,
            deadline_s=options.deadline_s,
            far_s=options.far_s,
            index=None if verifier else index_settings(options, config, environ),
            progress=options.progress,
        )
        most = config.budget_tokens if isinstance(budget_tokens, str) else budget_tokens
        self._components = Components(
            registry=self.registry,
            accept=accept,
            policy=policy,
            counter=counter,
            clock=clock,
            sections=PromptSections(counter, most),
            options=options,
            tools=tuple(tools),
            skills=opened.skills,
            sinks=None if sinks is None else tuple(sinks),
            environ=environ,
            opened=opened,
            runner=runner,
        )
        self._components.sync()
        if (strict or off) and self._components.findings:
            self._refuse_findings(strict=strict)

    def _refuse_findings(self, *, strict: bool) -> None:
        from satchel.runtime._finding_log import first_error, unknown_disabled_error

        check = first_error if strict else unknown_disabled_error
        if error := check(self._components.findings, self.registry.latest):
            self.close()  # nobody gets an object that could be closed
            raise error

    def __str__(self) -> str:
        from satchel.runtime._finding_log import summary

        return summary(self.registry, self._components.library_findings())

    def __repr__(self) -> str:
        from satchel.runtime._finding_log import contents

        return f"<{type(self).__name__}: {contents(self.catalog)}>"

    def __len__(self) -> int:
        return len(self.catalog)

    def __iter__(self) -> Iterator[Descriptor]:
        """Iterate over the skills that are listed, by id; the policy is not asked."""
        return iter(self.catalog)

    def __contains__(self, skill: object) -> bool:
        """Tell whether a skill is listed: by its id, or as iteration gives it."""
        if isinstance(skill, Descriptor):
            return self.catalog.get(skill.id) == skill
        return skill in self.catalog

    def __getitem__(self, skill_id: str) -> Descriptor:
        """Return what is known of a skill that `load` would load.

        That includes hidden and deprecated skills, which are not listed.

        Raises:
            SkillNotFoundError: No skill of exactly this id; a `KeyError`, too.
            SkillError: It cannot be loaded, as for `load`.
            TypeError: It is no id: skills have no numbers.
        """
        from satchel.load import look_up

        if not isinstance(cast("object", skill_id), str):
            kind = type(skill_id).__name__
            raise TypeError(f"expected the id of a skill; got {kind}")
        return look_up(self.catalog, skill_id)[0]

    @property
    def catalog(self) -> Catalog:
        """The catalog in use."""
        return self.registry.catalog

    @property
    def limits(self) -> Limits:
        """The bounds on what is accepted."""
        return self._components.accept.limits

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What could not be read, was repaired or is worth knowing; nothing is lost.

        All that is wrong with sources and skills is here; `conflicts`, `health`, `why`
        and ``print(skills)`` show parts of it. The last ones are tools that packs name
        and no one offers, and rules of the policy that raised.
        """
        latest, parts = self.registry.latest, self._components
        missing = parts.tool_registry.missing(latest) if latest.names_tools else ()
        more = (*missing, *self.policy.problems)
        return joined_findings((), parts.library_findings(), more)

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The ids that several packs claim, the decided ones included."""
        return self.registry.latest.conflicts

    def check(self) -> "Report":
        """Return `findings`, and what ``satchel check`` says of each listed pack.

        Each pack is judged by the dialect that it is written in. Packs that are not
        listed have their reason in `findings`. Printed, it is a line for each finding.

        Raises:
            ProductMissingError: ``satchel_lab`` is not installed.
        """
        from satchel.products import import_product

        checking = import_product("satchel_lab.checking", "check()")
        latest = self.registry.latest
        report: Report = checking.check_catalog(latest, self.findings, self.limits)
        return report

    def offer(self, *tools: object) -> None:
        """Offer more tools to skills that name them.

        Each is a `satchel.tools.Tool`, a `Toolbox`, a plain function, a framework's
        own tool object, or a mapping of names to these. Sessions that are open see
        them at their next model call.

        Raises:
            DuplicateToolError: Two different tools share a name; names both owners.
        """
        self._components.tool_registry.add(*tools)

    def sync(self) -> SyncReport:
        """Look at every source again; return what changed. Never raises.

        What is not as it was asked for is logged, once for as long as it lasts.
        """
        return self._components.sync()

    def apply_late_answers(self) -> None:
        """Use what sources answered too late for a sync.

        It asks no source, and does nothing where there is no such answer.
        """
        self._components.apply_late_answers()

    def listen(self, synced: Callable[[SyncReport], None]) -> Callable[[], None]:
        """Call ``synced`` with the report of every later sync; return how to stop.

        That includes syncs in the background, which follow a load that found its pack
        edited. It is called in the thread that synced.
        """
        listeners = self._components.listeners
        listeners.append(synced)
        return lambda: listeners.remove(synced)

    def observe(self) -> None:
        """Tell the sinks once more what is on offer, without a look at the sources.

        A day counts as observed when this, a sync or a load happened on it; more than
        once a day changes nothing. A process that runs for days calls it every hour.
        """
        self._components.observe()

    @property
    def sink_failures(self) -> Mapping[str, int]:
        """How often sinks of usage events failed, by their class; no load failed."""
        return self._components.usage_events.sinks.failures

    @property
    def usage_state(self) -> "UsageState":
        """How many events of use are lost or wait, and why they are not kept now."""
        return self._components.usage_events.sinks.state

    def health(self) -> Health:
        """Return how each source is, and which ids are in conflict."""
        return self.registry.health()

    def manifest(self, skill_id: str) -> Manifest:
        """Return a skill's manifest as it is now.

        Raises:
            SkillManifestError: The source makes up manifests of files without one.
            SkillError: As for `load`.
        """
        return self._view.manifest_of(self._view.read(skill_id))

    def resources(self, skill_id: str) -> tuple[Resource, ...]:
        """Return path, digest and size of every listed file, SKILL.md included.

        One that the pack lists and does not hold is left out, here and of the digest.

        Raises:
            SkillError: No such skill, or a file cannot be read now.
        """
        return self._view.files_of(skill_id, self.registry.descriptor)

    def digest(self, skill_id: str) -> str:
        """Return the digest of the whole pack: ``sha256-tree-v1:`` and 64 hex digits.

        Raises:
            SkillError: No such skill, or a file cannot be read now.
        """
        return tree_digest(self.resources(skill_id))

    def watch(self, *, debounce_ms: int = 200) -> "FolderWatch":
        """Sync again whenever a file below a folder of the sources changes.

        Changes within ``debounce_ms`` milliseconds of one another are one sync. Call
        ``stop()`` on what is returned, or use it in a ``with``.

        Raises:
            ExtraMissingError: The extra ``watch`` is not installed.
        """
        from satchel.runtime._background_sync import FolderWatch

        # A folder that does not exist yet cannot be watched.
        return FolderWatch(self._roots, self.sync, debounce_ms=debounce_ms)

    @property
    def _roots(self) -> list[str]:
        """The folders that sources of this machine search, where they exist."""
        sources = map(with_abilities, self.registry.sources.values())
        roots = (source.root for source in sources)
        return [root for root in roots if root and os.path.isdir(root)]  # noqa: PTH112 - pathlib costs start-up time

    def close(self) -> None:
        """Let go of sources, staged files and sinks; a second call does nothing."""
        self._components.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def prompt(
        self,
        *,
        format: "Format | None" = None,  # noqa: A002 - the word users of the CLI know
        budget_tokens: int | str | None = "default",
        style: Style | None = None,
        featured: Iterable[str] = (),
        message: str | None = None,
    ) -> Rendered:
        """Render the catalog section for a system prompt (disclosure level 1).

        ``budget_tokens`` None lists everything in full; by default it is the budget
        of this object. ``style`` is whose load tool the text names; None is that of
        this object. ``format`` is the shape of the text; None is that of the style.
        What the policy hides without a ``who`` is left out.

        Where not all skills have room, ``featured`` names those that keep their whole
        description, such as pinned ones or those used lately, the most important first;
        and behind the section come the 20 skills that best fit ``message``.
        """
        from satchel.prompt import Format

        check_choices(style=style)
        check_choice("format", format, get_args(Format))
        check_budget(budget_tokens)
        sections = self._components.sections
        section = sections.of(
            self._listed, style or self.style, format, budget_tokens, tuple(featured)
        )
        return sections.add_suggestions(section, self.find, message)

    def load(
        self,
        skill_id: str,
        file: str | None = None,
        *,
        who: Mapping[str, object] | None = None,
        via: str = "python",
        turn: "TurnCache | None" = None,
    ) -> Loaded:
        """Return a skill's SKILL.md (level 2), or one other file of it (level 3).

        ``file`` is a listed path or a short name that only one listed file bears.

        Raises:
            SkillNotFoundError: No skill of exactly this id.
            SourceUnavailableError: It is unknown, and a source has not answered; or
                its source does not hand it out now.
            SkillExcludedError: It is there, but is excluded.
            DuplicateSkillError: Several packs claim the id.
            PackFileError: The file is missing, unlisted, outside, unreadable or
                changed: a class each.
            LimitExceededError: The file is larger than the limits allow.
        """
        check_who(who)
        view = self._view_for(who) if who else self._view
        return view.load(skill_id, file, via=via, turn=turn)

    async def aload(self, skill_id: str, file: str | None = None) -> Loaded:
        """Do as `load` does, in a thread."""
        import asyncio

        return await asyncio.to_thread(self.load, skill_id, file)

    def find(  # noqa: PLR0913 - filters, all by name
        self,
        query: str | Sequence[str],
        k: int = 10,
        *,
        min_confidence: float = 0.0,
        source: str | None = None,
        tag: str | None = None,
        owner: str | None = None,
        whole: bool = False,
    ) -> list[Hit]:
        """Return at most ``k`` skills that match ``query``, best first, ties by id.

        Hits that are no strong match are there too, and say so (`Hit.weak`). Skills of
        one name and nearly the same text are one hit.

        Args:
            query: What a task needs; several texts are searched one by one, and what
                many of them find goes first.
            k: Hits at most.
            min_confidence: 0 to 1; leaves out hits of a lower `Hit.confidence`.
            source: Only skills of the source of this label.
            tag: Only skills with this among their tags and keywords, in any case.
            owner: Only skills of this owner.
            whole: Wait until all instructions are indexed. Where more than 5,000 are
                not, the first answers are about names and descriptions
                (`Hit.partial`), and instructions are indexed in a thread.

        Raises:
            ConfigError: ``k`` or ``min_confidence`` is out of range.
        """
        check_hits(k, min_confidence)
        # Without rules nothing is hidden, and the ranker's own list will do.
        narrowed = self.policy.rules or min_confidence or source or tag or owner
        if isinstance(query, str) and not (narrowed or whole):
            ranker = self._components.options.ranker or self._components.search
            return list(ranker.rank(self.registry.catalog, query, k))

        def fits(entry: Descriptor) -> bool:
            return (
                (source is None or entry.source == source)
                and (owner is None or entry.owner == owner)
                and (tag is None or tag.casefold() in map(str.casefold, entry.keywords))
            )

        hits = self._view.rank(query, k, fits, whole=whole)
        return [hit for hit in hits if hit.confidence >= min_confidence]

    def why(self, name: str) -> "Why":
        """Return the first reason why a skill is not in the prompt, with its fix."""
        from satchel.runtime._why import why

        prompt = self._components.sections.of(self._listed, self.style)
        exacting = self._components.accept.profile not in ("auto", "lenient")
        return why(
            self.registry.catalog,
            name,
            prompt,
            exacting=exacting,
            decide=lambda skill_id: self.policy.decide("list", skill_id, {}),
            roots=self._roots,
        )

    def session(  # noqa: PLR0913 - a conversation's options, all by name
        self,
        *,
        agent: str = "",
        who: Mapping[str, Any] | None = None,
        deps: object = None,
        always: "Iterable[str | SkillLike]" = (),
        only: Iterable[str] | None = None,
        style: Style | None = None,
        approve: "Approver | None" = None,
        stage: "Stager | bool" = False,
        reinject_tokens: int | None = None,
        suggest: bool = False,
        resume: "Mapping[str, object] | str | None" = None,
        trust_state: bool = True,
        work: "WorkFolder" = None,
    ) -> "Session":
        """Open a conversation's view of the catalog: instructions, tools, turns.

        Args:
            agent: What the agent is called, for questions and events.
            who: For whom it runs; rules of the policy and tools are given it.
            deps: Handed to tools that ask for a `satchel.Run`.
            always: Always-on skills: ids, or objects with a skill's three members.
                Their instructions are in the prompt, their tools are open.
            only: Shell patterns; skills whose id fits none are not here.
            style: Names, parameters and results of the tools.
            approve: Answers where the policy says ask; see `satchel.model.Question`.
            stage: Copies files of loaded skills to where the agent's tools see them;
                True copies to a private folder of this machine.
            reinject_tokens: What may be spent to repeat skills in use after their text
                left the messages; None is 25,000.
            suggest: Add the 20 skills that best fit the user's last message behind the
                catalog section, where that lists few of many.
            resume: What `Session.dump` gave, as it is or as JSON. With anything else
                the conversation begins again: one line is logged as a warning, and
                ``problems`` of the session has it.
            trust_state: False where others than the application can write what
                ``resume`` is given (messages that a browser keeps, say): grants, and
                loads that needed a yes, then count only if an approver of this process
                gave it, for this ``agent`` and ``who``.
            work: The folder in which scripts find files and leave results; it is made
                where it is missing. None is a private one of this conversation, which
                goes with the Satchel.

        Raises:
            DuplicateToolError: Tools of one name would meet; names both owners.
            SkillError: A skill of ``always`` cannot be loaded.
        """
        from satchel.runtime._session import Session

        self._check(who, only, style)
        check_approve(approve)
        settings = SessionSettings(
            agent=agent,
            who=who or {},
            style=style or self.style,
            always_on=AlwaysOn.of(always),
            only=() if only is None else (patterns_of(only),),
            approve=approve,
            stager=self._components.stager if stage is True else (stage or None),
            reinject_tokens=reinject_tokens,
            suggest=suggest,
            trust_state=trust_state,
            work=work_folder(work),
        )
        state, problems = _resumed(resume)
        return Session(
            self._components, settings, deps=deps, state=state, problems=problems
        )

    def view(
        self,
        *,
        who: Mapping[str, Any] | None = None,
        only: Iterable[str] | None = None,
        style: Style | None = None,
        via: str = "python",
        client: str = "",
    ) -> "View":
        """Return the skills as one caller from outside may have them: for servers.

        Args:
            who: For whom it asks; rules of the policy are given it.
            only: Shell patterns; skills whose id fits none are not here.
            style: Names, parameters and results of its tools.
            via: The edge that it came through, for events: ``mcp``, ``http``.
            client: The program that asks, for events.
        """
        from satchel.runtime._view import View

        self._check(who, only, style)
        settings = SessionSettings(
            who=who or {},
            style=style or self.style,
            only=() if only is None else (patterns_of(only),),
            client=client,
        )
        return View(self._components, settings, via=via)

    def _check(
        self, who: object, only: Iterable[str] | None, style: Style | None
    ) -> None:
        check_who(who)
        check_choices(style=style)
        if only is not None:
            check_only(patterns_of(only), self.catalog, self.registry.may_exist)

    def as_skill(self, name: str = "skills") -> "SessionSkill":
        """Return all of it as one always-on skill with the three members.

        Its instructions are the catalog section and its tools those of the style; both
        grow as skills are loaded. Each call gives a conversation of its own.
        """
        from satchel.runtime._session import SessionSkill

        return SessionSkill(name, self.session(agent=name))

    @cached_property
    def _view(self) -> "View":
        return self._view_for({})

    def _view_for(self, who: Mapping[str, object]) -> "View":
        """Return what one user may list, find and load; no person is asked."""
        from satchel.runtime._view import View

        return View(self._components, SessionSettings(who=who))

    @property
    def _listed(self) -> Catalog:
        return self._view.catalog if self.policy.rules else self.registry.catalog


def _opened(
    what: tuple[SkillInputs, ...], pin: str | None, options: Options
) -> OpenedInputs:
    """Open what was named; if nothing was, what a configuration file says."""
    if what:
        return open_named(what, pin, options)
    from satchel.runtime._config_inputs import open_nearest_config

    return open_nearest_config(pin, options)


def _resumed(
    dumped: "Mapping[str, object] | str | None",
) -> "tuple[SavedState | None, tuple[Finding, ...]]":
    """Return the state to resume from, and log what of it cannot be used."""
    if dumped is None:
        return None, ()
    from satchel.runtime._saved_state import read_state

    state, problems = read_state(dumped)
    for problem in problems:
        import logging

        logging.getLogger("satchel").warning("%s", problem.message)
    return state, problems


def findings_of_sync(skills: Satchel) -> tuple[Finding, ...]:
    """Return the findings but those on tools and rules, for which packs are read."""
    return skills._components.findings  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - of the class above
