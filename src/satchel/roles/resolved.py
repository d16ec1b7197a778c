"""A role's prompt as a value: the text, where it came from, what it costs."""

from dataclasses import dataclass, field
from typing import Literal

from satchel.model import Finding, Rendered

__all__ = ["Primary", "ResolvedRolePrompt", "RoleSource"]

Primary = Literal["hint", "body"]
"""What stands beside the index: a line that names the role's skill, or its body."""

RoleSource = Literal["skill", "legacy", "fallback"]


@dataclass(frozen=True, slots=True)
class ResolvedRolePrompt:
    """The prompt of a role; ``str()`` of it is the text, plain and for any agent.

    ``source`` says where the text came from: ``skill`` is the role's pack, ``legacy``
    its template, ``fallback`` one fixed sentence. ``skill_name`` is the pack's id, and
    ``index`` the catalog section inside the text with what a budget did to it, both
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
    index: Rendered | None = field(default=None, repr=False)
    legacy_tokens: int | None = None
    findings: tuple[Finding, ...] = ()

    def __str__(self) -> str:
        """Return the text."""
        return self.body

    @property
    def saved_tokens(self) -> int | None:
        """What the pack costs less than the legacy template; negative if more."""
        return None if self.legacy_tokens is None else self.legacy_tokens - self.tokens
