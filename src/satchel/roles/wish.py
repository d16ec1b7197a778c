"""What one call for a role's prompt asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from satchel.protocols import TokenCounter
from satchel.roles.legacy import LegacyRenderer
from satchel.roles.resolved import Primary, ResolvedRolePrompt

__all__ = ["DEFAULT_BUDGET_TOKENS", "Wish"]

DEFAULT_BUDGET_TOKENS: Final = 4000
"""Tokens of an index at most: as of every catalog section."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A role whose name was checked, and the options; see `resolve_role_prompt`."""

    role: str
    primary: Primary
    context: Mapping[str, object]
    budget_tokens: int | None
    counter: TokenCounter
    find_tool: str | None
    renderer: LegacyRenderer | None
    shell: bool

    def counted(self, resolved: ResolvedRolePrompt) -> ResolvedRolePrompt:
        """Return the prompt with what it costs."""
        tokens = self.counter.count(resolved.body)
        return replace(resolved, tokens=tokens, counted_by=self.counter.name)
