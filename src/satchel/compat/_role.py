"""A role: its name, what a call asks for, and its prompt as a value."""

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from shlex import quote
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, Literal, Self

from satchel.errors import InvalidRoleError
from satchel.files import path_problem
from satchel.model import MAX_NAME_CHARS, STRICT_NAME, Finding, Rendered
from satchel.protocols import TokenCounter

if TYPE_CHECKING:
    from satchel.compat._role_template import LegacyRenderer


def check_role(role: str) -> None:
    """Let the name of a role pass: a-z, 0-9 and hyphens, a letter first.

    Those are the rules of a pack's name (C08), for a role is the name of its pack's
    folder. So no role leads out of a folder, and none is a device on Windows.

    Raises:
        InvalidRoleError: It is no such name.
    """
    problem = _problem(role)
    if problem:
        raise InvalidRoleError(role, problem)


def is_role(name: str) -> bool:
    """Tell whether `check_role` lets this name pass."""
    return not _problem(name)


def _problem(role: str) -> str:
    if not role:
        return "it is empty"
    if len(role) > MAX_NAME_CHARS:
        return f"it has {len(role):,} characters, more than {MAX_NAME_CHARS}"
    if not STRICT_NAME.fullmatch(role):
        return "want a-z, 0-9 and hyphens, and a letter first"
    return path_problem(role)


Primary = Literal["hint", "body"]
"""What stands beside the index: a line that names the role's skill, or its body."""

RoleSource = Literal["skill", "legacy", "fallback"]


@dataclass(frozen=True, slots=True, eq=False)
class ResolvedRolePrompt(str):  # noqa: SLOT000 - the dataclass has them
    """The prompt of a role: a text, plain and for any agent, that knows more of itself.

    It is the same text as ``body``, and equal to any text of the same characters.

    ``source`` says where the text came from: ``skill`` is the role's pack, ``legacy``
    its template, ``fallback`` one fixed sentence. ``skill_name`` is the pack's id, and
    ``section`` the catalog section inside the text with what a budget did to it, both
    only for a pack.

    ``tokens`` is what the text costs, counted by ``counted_by``. ``legacy_tokens`` is
    what the role's legacy template would cost, where it has one beside its pack.

    ``findings`` tell what was passed over and why: a pack that cannot be used, a
    template that was refused, a renderer that failed. Their paths are as the caller
    wrote the folder.
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
        return str.__new__(cls, body)  # not super(): the slots make another class

    @property
    def saved_tokens(self) -> int | None:
        """What the pack costs less than the legacy template; negative if more."""
        return None if self.legacy_tokens is None else self.legacy_tokens - self.tokens


DEFAULT_BUDGET_TOKENS: Final = 4000
"""Tokens of an index at most: as of every catalog section."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRequest:
    """A role whose name was checked, and the options; see `resolve_role_prompt`."""

    role: str
    primary: Primary
    context: Mapping[str, object]
    budget_tokens: int | None
    counter: TokenCounter
    find_tool: str | None
    renderer: "LegacyRenderer | None"
    shell: bool

    def counted(self, resolved: ResolvedRolePrompt) -> ResolvedRolePrompt:
        """Return the prompt with what it costs."""
        tokens = self.counter.count(resolved.body)
        return replace(resolved, tokens=tokens, counted_by=self.counter.name)


DEPRECATED_IN: Final = (0, 1)
"""The version from which on a legacy template is a deprecated one."""
REMOVED_IN: Final = (0, 3)
"""The version without them: two minor versions later (C55)."""

_ROOM: Final = "satchel.compat"


MAX_KEPT: Final = 1000
"""Keys that are remembered; a message may hold what is new in every call."""


class OncePerKey:
    """Does a thing once for each of the latest keys; of two threads one does it."""

    def __init__(self) -> None:
        self._done: dict[object, object] = {}

    def do(self, key: object, act: Callable[[], None]) -> None:
        """Call ``act`` unless that was done; one that raises was not done."""
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
    """Return what to say of a legacy template, and the command that moves it."""
    since, until = (
        ".".join(map(str, version)) for version in (DEPRECATED_IN, REMOVED_IN)
    )
    message = (
        f"a legacy template is used: deprecated since satchel {since}, "
        f"and not read any more from {until} on"
    )
    return message, f"make a pack of it: satchel convert {quote(path)}"


def warn_legacy(role: str, path: str) -> None:
    """Give a `DeprecationWarning` whose place is the line that asked for the role."""
    message, fix = advice(path)
    warnings.warn(
        f"role {role!r}: {message}; {fix}", DeprecationWarning, stacklevel=_caller()
    )


def _caller() -> int:
    """Return the stack level, for `warn_legacy`, of whoever called into this room."""
    frame: FrameType | None = inspect.currentframe()
    level = 0  # where this function stands, as `warn_legacy` counts
    while frame is not None and _is_ours(frame):
        frame = frame.f_back
        level += 1
    return level


def _is_ours(frame: FrameType) -> bool:
    name: str = frame.f_globals.get("__name__", "")
    return name == _ROOM or name.startswith(f"{_ROOM}.")
