"""A role's prompt as a value: the text, where it came from, what it costs."""

from dataclasses import dataclass, field
from typing import Any, Literal, Self

from satchel.model import Finding, Rendered

__all__ = ["Primary", "ResolvedRolePrompt", "RoleSource"]

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
