"""A role: its name, what a call asks for, and its prompt as a value."""

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import Any, Final, Literal, Protocol, Self

from satchel.errors import InvalidRoleError
from satchel.model import Finding, Rendered
from satchel.protocols import TokenCounter
from satchel_lab.authoring import role_problem


def check_role(role: str) -> None:
    """Check the name of a role: a-z, 0-9 and hyphens, a letter first.

    A role is the name of its pack's folder, so the rules are those for the name of a
    pack. No role leads out of a folder, and none is a device on Windows.

    Raises:
        InvalidRoleError: It is not a valid name.
    """
    problem = role_problem(role)
    if problem:
        raise InvalidRoleError(role, problem)


def is_role(name: str) -> bool:
    """Return whether `check_role` accepts this name."""
    return not role_problem(name)


# What goes with the index: a line that names the role's skill, or its body.
Primary = Literal["hint", "body"]

RoleSource = Literal["skill", "legacy", "fallback"]


class LegacyRenderer(Protocol):
    """A replacement for `render_role_prompt`, such as that of the earlier system.

    ``templates_dir`` is the absolute path of the folder ``roles``. If it raises, or
    returns anything but a text, that is a finding.
    """

    def __call__(
        self, role: str, context: dict[str, str], /, *, templates_dir: Path
    ) -> object:
        """Return the prompt of a role."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ResolvedRolePrompt(str):  # noqa: SLOT000 - the dataclass has them
    """The prompt of a role: a plain text for any agent, with facts about it.

    It is the same text as ``body``, and equals any text of the same characters.

    ``source`` says where the text came from: ``skill`` is the role's pack, ``legacy``
    its template, ``fallback`` one fixed sentence. For a pack, ``skill_name`` is its id
    and ``section`` is the catalog section inside the text.

    ``tokens`` is the count of the text, by ``counted_by``. ``legacy_tokens`` is the
    count of the role's legacy template, if it has one besides its pack.

    ``findings`` say what could not be used and why: a pack in error, a template that
    was refused, a renderer that failed. Their paths begin with the folder as the caller
    wrote it.
    """

    body: str = field(repr=False)
    source: RoleSource
    skill_name: str | None = None
    tokens: int = 0
    counted_by: str = ""
    section: Rendered | None = field(default=None, repr=False)
    legacy_tokens: int | None = None
    findings: tuple[Finding, ...] = ()

    def __new__(cls, body: str, *_: Any, **__: Any) -> Self:  # noqa: ANN401 - fields
        """Make the text; the other values are its fields."""
        return str.__new__(cls, body)  # not super(): slots=True makes another class

    @property
    def saved_tokens(self) -> int | None:
        """How many tokens the pack saves compared to the template; may be negative."""
        return None if self.legacy_tokens is None else self.legacy_tokens - self.tokens


# The budget of an index: that of every catalog section.
DEFAULT_BUDGET_TOKENS: Final = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRequest:
    """A role with a valid name, and the options; see `resolve_role_prompt`."""

    role: str
    primary: Primary
    context: Mapping[str, object]
    budget_tokens: int | None
    counter: TokenCounter
    find_tool: str | None
    renderer: LegacyRenderer | None
    shell: bool

    def counted(self, resolved: ResolvedRolePrompt) -> ResolvedRolePrompt:
        """Return the prompt with its count of tokens."""
        tokens = self.counter.count(resolved.body)
        return replace(resolved, tokens=tokens, counted_by=self.counter.name)


# The first version in which legacy templates are deprecated.
DEPRECATED_IN: Final = (0, 1)
# The version without legacy templates: two minor versions later.
REMOVED_IN: Final = (0, 3)
_ROOM: Final = "satchel_compat"
# Keys that are remembered; a message may be different in every call.
MAX_KEPT: Final = 1000


class OncePerKey:
    """Calls a function once for each recent key, also if two threads ask."""

    def __init__(self) -> None:
        self._done: dict[object, object] = {}

    def do(self, key: object, act: Callable[[], None]) -> None:
        """Call ``act`` unless that was done; a call that raises does not count."""
        mine = object()
        if self._done.setdefault(key, mine) is not mine:
            return
        try:
            act()
        except BaseException:
            self._done.pop(key, None)
            raise
        for old in list(self._done)[:-MAX_KEPT]:
            self._done.pop(old, None)


def advice(path: str) -> tuple[str, str]:
    """Return the message about a legacy template, and the fix."""
    since, until = (
        ".".join(map(str, version)) for version in (DEPRECATED_IN, REMOVED_IN)
    )
    message = (
        f"a legacy template is used: deprecated since satchel {since}, "
        f"and no longer read from {until} on"
    )
    return message, f"make a pack of it: satchel convert {quote(path)}"


def warn_legacy(role: str, path: str) -> None:
    """Give a `DeprecationWarning` for the line that asked for the role."""
    message, fix = advice(path)
    warnings.warn(
        f"role {role!r}: {message}; {fix}", DeprecationWarning, stacklevel=_caller()
    )


def _caller() -> int:
    """Return the stack level of the caller of this room, for `warn_legacy`."""
    frame = inspect.currentframe()
    level = 0  # `warn_legacy` counts this function as 0
    while frame and f"{frame.f_globals.get('__name__')}.".startswith(f"{_ROOM}."):
        frame = frame.f_back
        level += 1
    return level
