"""Options of a Satchel and of a session, each checked where it is given."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    NoReturn,
    TypeAlias,
    TypedDict,
    cast,
    get_args,
)

from satchel.catalog import DisabledPattern, is_pattern
from satchel.config import CHOICES, did_you_mean, names_in
from satchel.errors import ConfigError, SkillNotFoundError
from satchel.model import Category, Descriptor, Style
from satchel.protocols import Approver

if TYPE_CHECKING:
    import os

    from satchel.agent import SkillLike
    from satchel.index import Check, IndexChoice
    from satchel.model import Catalog, Limits, OnConflict
    from satchel.protocols import Clock, Ranker, TokenCounter, Verifier
    from satchel.runtime._staging import Stager
    from satchel.tools import Tool

# What goes in front of ids: of every place that is named, or by place.
Prefix: TypeAlias = str | Mapping[str, str]

# The variables that switch off more: what they name, and their names.
_DISABLED: Final[tuple[tuple[Literal["skill", "source"], str], ...]] = (
    ("skill", "SATCHEL_DISABLED"),
    ("source", "SATCHEL_DISABLED_SOURCES"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What few programs change about a `Satchel`: ``Satchel(..., options=Options())``.

    Attributes:
        config: The configuration file to read where nothing is named; None is the
            nearest satchel.toml or ``[tool.satchel]``.
        allow_private: Whether addresses may lead to this machine and its network. A
            program that takes addresses from other people should leave it off.
        prefix: Goes in front of the ids of the places that are named; ``{plugin}`` in
            it is the plugin of a pack, ``{parent}`` the folder that its folder is in
            (`satchel.sources.prefixed`). A mapping is for some places, by their names.
        limits: Bounds on what is accepted; None is those of the configuration file.
        on_conflict: What happens to an id that several packs claim: ``error`` lists
            none of them, ``precedence`` the first one.
        allow_empty_description: Whether a pack without a description is accepted.
        counter: Counts tokens; None is an estimate.
        max_result_tokens: The most of a text that one result of a tool has. In the
            style ``lean`` a longer text comes in parts, in the others it is an error.
            None is no bound.
        ranker: Ranks skills for `Satchel.find`; None is BM25.
        clock: Tells the time; None is the system's clock.
        deadline_s: Seconds for which a source may make no progress before it is given
            up. A first answer is waited for while it makes progress; a source that has
            answered has so long in all. What was read, or its last answer, is used.
        far_s: Seconds for which a sync waits for sources on other machines if those of
            this machine have skills; None waits until they are given up.
            `Satchel.apply_late_answers` uses what they answer later.
        environ: The environment variables; None is those of the process.
            ``SATCHEL_DISABLED`` switches off more skills and
            ``SATCHEL_DISABLED_SOURCES`` sources, by label: a JSON array, or names
            separated by commas. ``SATCHEL_USAGE`` chooses the sinks, and
            ``SATCHEL_APPROVALS`` where used approvals are noted. ``SATCHEL_INDEX`` is
            the file of the index, or ``none``.
        index: The index on disk, which saves the next process the reading: True uses
            the one in the user's cache folder, a path another one, False or ``none``
            none. None is what the configuration file says, else it is used for sources
            with 500 packs or more.
        check: What is looked at when an index is opened: ``files`` is every folder and
            file; ``folders`` misses edits of a file in place until it is loaded;
            ``trust`` looks at nothing before the next `Satchel.sync`. None is what the
            configuration file or ``SATCHEL_CHECK`` says, else ``files``.
        progress: Called with the number of packs that are read so far, some ten times a
            second, while a sync takes longer than that. It is not called again once it
            has raised, which is logged.
        verifier: Compares each byte with what somebody reviewed; None is what
            ``[trust] verify`` says. With one there is no index.

    Raises:
        ConfigError: A value is not known.
    """

    config: "str | os.PathLike[str] | None" = None
    allow_private: bool = False
    prefix: Prefix | None = None
    limits: "Limits | None" = None
    on_conflict: "OnConflict | None" = None
    allow_empty_description: bool = False
    counter: "TokenCounter | None" = None
    max_result_tokens: int | None = 25_000
    ranker: "Ranker | None" = None
    clock: "Clock | None" = None
    deadline_s: float = 30.0
    far_s: float | None = None
    environ: Mapping[str, str] | None = None
    index: "IndexChoice" = None
    check: "Check | None" = None
    progress: Callable[[int], object] | None = None
    verifier: "Verifier | None" = None

    def __post_init__(self) -> None:
        if (self.on_conflict, self.check) != (None, None):
            check_choices(on_conflict=self.on_conflict, check=self.check)
        if self.max_result_tokens is not None and self.max_result_tokens < 1:
            detail = f"expected a count from 1, or None; got {self.max_result_tokens!r}"
            raise ConfigError("max_result_tokens", detail)
        if not self.deadline_s > 0:  # so written, NaN is refused too
            detail = f"expected a number of seconds above 0; got {self.deadline_s!r}"
            raise ConfigError("deadline_s", detail)


DEFAULT_OPTIONS: Final = Options()


class SystemClock:
    """Tells the time of this machine."""

    monotonic = staticmethod(time.monotonic)
    now = staticmethod(time.time)


def refuse_keywords(names: Iterable[str]) -> NoReturn:
    """Raise a `TypeError` that says where an option is that `Options` has."""
    moved = {option.name for option in fields(Options)}
    for name in names:
        if name in moved:
            hint = f"write Satchel(..., options=Options({name}=...))"
            raise TypeError(f"{name} is a field of satchel.Options; {hint}")
    raise TypeError(f"Satchel() has no keyword {', '.join(map(repr, names))}")


def disabled_patterns(
    disabled: Iterable[str], more: Iterable[str], environ: Mapping[str, str]
) -> tuple[DisabledPattern, ...]:
    """Return what is off: what was named, ``more``, and what the environment adds.

    The environment can only switch off more, so that an operator can do it without a
    change of the program.
    """
    return (
        *(DisabledPattern(pattern) for pattern in (*patterns_of(disabled), *more)),
        *(
            DisabledPattern(pattern, kind, variable)
            for kind, variable in _DISABLED
            if variable in environ
            for pattern in names_in(environ, variable)
        ),
    )


def patterns_of(patterns: Iterable[str]) -> tuple[str, ...]:
    """Return patterns as a tuple; a plain string is one pattern."""
    # Read letter by letter, a string with a `*` in it would match everything.
    return (patterns,) if isinstance(patterns, str) else tuple(patterns)


def check_choice(option: str, value: object, choices: Sequence[str]) -> None:
    """Refuse a value that is not one of a few words; None always passes."""
    if value is None or value in choices:
        return
    hint = did_you_mean(str(value), choices)
    detail = f"{value!r} is not known; {hint}known: {', '.join(choices)}"
    raise ConfigError(option, detail)


def check_choices(**values: object) -> None:
    """Refuse what satchel.toml would refuse: a profile, a style, a conflict rule."""
    for option, value in values.items():
        check_choice(option, value, CHOICES[option])


def check_budget(tokens: int | str | None) -> None:
    """Refuse a budget that is no count from 1, not None and no ``default``."""
    if isinstance(tokens, str):
        check_choice("budget_tokens", tokens, ("default",))
    elif tokens is not None and (isinstance(tokens, bool) or tokens < 1):
        detail = f"expected a count from 1, or None for no limit; got {tokens!r}"
        raise ConfigError("budget_tokens", detail)


def check_hits(k: object, min_confidence: float = 0.0) -> None:
    """Refuse a number of hits that is no count, or a share not in 0 to 1."""
    if not isinstance(k, int) or isinstance(k, bool) or k < 0:
        raise ConfigError("k", f"expected a count; got {k!r}")
    if not 0 <= min_confidence <= 1:
        detail = f"expected a number from 0 to 1; got {min_confidence!r}"
        raise ConfigError("min_confidence", detail)


def check_who(who: object) -> None:
    """Refuse a ``who`` that no rule of a policy could look into."""
    if who is not None and not isinstance(who, Mapping):
        expected = 'expected a mapping such as {"user": "ana"}'
        raise TypeError(f"who: {expected}; got {type(who).__name__}")


def check_approve(approve: object) -> None:
    if approve is not None and not callable(approve):
        expected = "expected a function that answers a question"
        raise TypeError(f"approve: {expected}; got {type(approve).__name__}")


def work_folder(work: "WorkFolder") -> str:
    """Return the absolute path of a work folder; empty for a private one."""
    # An unset variable must not give scripts all that is in the current folder.
    if callable(work) or work == "":
        raise TypeError("work: name a folder or leave it out; a function is for attach")
    import os

    return "" if work is None else os.path.abspath(work)  # noqa: PTH100 - pathlib costs start-up time


def check_only(
    only: Iterable[str], catalog: "Catalog", may_exist: Callable[[str], bool]
) -> None:
    """Refuse ids that no skill has; log a warning if the patterns leave no skill.

    ``may_exist`` says whether an id was there before, or may be in a source that is
    away.
    """
    patterns = tuple(only)
    ids = {entry.id for entry in catalog.entries}
    for pattern in patterns:
        # A mistyped id would leave a session without a skill, and nobody would see it.
        if not (pattern in ids or is_pattern(pattern) or may_exist(pattern)):
            from satchel.text import nearest

            raise SkillNotFoundError(pattern, tuple(nearest(pattern, sorted(ids), 3)))
    matches = any(fnmatchcase(id, pattern) for id in ids for pattern in patterns)
    if patterns and ids and not matches:
        import logging

        names = ", ".join(map(repr, patterns))
        logger = logging.getLogger("satchel")
        logger.warning("only=: none of the %d skills fits %s", len(ids), names)


# --- Of a session ---------------------------------------------------------------------

# Where scripts find and leave files: a folder, None for a private one, and for adapters
# also a function of the framework's run.
Folder: TypeAlias = "str | os.PathLike[str] | None"
WorkFolder: TypeAlias = "Folder | Callable[[Any], Folder]"

# Tokens of skills whose text is repeated after a compaction: as in Claude Code.
REINJECT_TOKENS: Final = 25_000


class SessionOptions(TypedDict, total=False):
    """What a session can be given by name, and what adapters pass on to it."""

    agent: str
    always: "Iterable[str | SkillLike]"
    only: Iterable[str] | None
    style: Style | None
    approve: Approver | None
    stage: "Stager | bool"
    reinject_tokens: int
    suggest: bool
    trust_state: bool
    work: "WorkFolder"


@dataclass(frozen=True, slots=True)
class AlwaysOn:
    """The skills whose instructions are always in the prompt, in order.

    Each is the id of a pack, or any object with the members of a skill.
    """

    order: "tuple[str | SkillLike, ...]" = ()

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(skill for skill in self.order if isinstance(skill, str))

    @classmethod
    def of(cls, always: "Iterable[str | SkillLike]") -> "AlwaysOn":
        """Return these skills, each once; a mere text is one id."""
        order: list[str | SkillLike] = []
        for skill in (always,) if isinstance(always, str) else always:
            if not isinstance(skill, str):
                from satchel.agent import check_skill

                check_skill(skill)
            if skill not in order:  # somebody else's object need not be hashable
                order.append(skill)
        return cls(tuple(order))

    def allowed(self, may_load: Callable[[Descriptor], bool]) -> "AlwaysOn":
        """Return those that may be loaded; no person is asked."""

        def may(skill: "str | SkillLike") -> bool:
            name = skill if isinstance(skill, str) else _text(skill, "name")
            return may_load(Descriptor(name, ""))

        return AlwaysOn(tuple(filter(may, self.order)))

    def instructions(self, text: Callable[[str], str]) -> list[str]:
        """Return the text of each, in order; ``text`` gives that of a pack."""
        return [
            text(skill) if isinstance(skill, str) else _text(skill, "instructions")
            for skill in self.order
        ]

    def tools(self) -> "Iterator[tuple[Descriptor, Tool]]":
        """Yield the tools of the skills that are no packs, as they are now."""
        for skill in self.order:
            if not isinstance(skill, str):
                from satchel.agent import tools_of

                # Asked each time: an object may open more tools as it goes.
                toolbox = tools_of(skill)
                if toolbox is not None:
                    owner = _described(skill)
                    yield from ((owner, tool) for tool in toolbox)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """What does not change while a session lasts.

    ``only`` are groups of patterns; a skill is here if each group has one that fits.
    ``client`` is the program that asks, for events. ``suggest`` adds what fits the
    user's last message to the instructions. ``trust_state`` says that only
    the application can write the state that it resumes from. ``work`` is the folder
    that scripts work in; empty is a private one.
    """

    agent: str = ""
    client: str = ""
    who: Mapping[str, Any] = field(default_factory=dict[str, Any])
    style: Style = "lean"
    always_on: AlwaysOn = field(default_factory=AlwaysOn)
    only: tuple[tuple[str, ...], ...] = ()
    approve: Approver | None = None
    stager: "Stager | None" = None
    reinject_tokens: int | None = None
    suggest: bool = False
    trust_state: bool = True
    work: str = ""


def _text(skill: "SkillLike", member: str) -> str:
    # Most sessions have no skill in code, and wait for none of it.
    from satchel.agent import text_of

    return text_of(skill, member)


def _described(skill: "SkillLike") -> Descriptor:
    """Return what a policy is asked about; without a category it is standard."""
    category = _text(skill, "category") if hasattr(skill, "category") else "standard"
    if category not in get_args(Category):
        kind = type(skill).__name__
        raise ValueError(f"{kind}.category: expected standard or raw; got {category!r}")
    return Descriptor(_text(skill, "name"), "", category=cast("Category", category))
