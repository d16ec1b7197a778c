"""The prompt of a role: its pack, else its legacy template, else one sentence."""

from satchel.roles.legacy import LegacyRenderer, render_role_prompt
from satchel.roles.naming import check_role
from satchel.roles.resolved import Primary, ResolvedRolePrompt, RoleSource
from satchel.roles.resolver import RoleResolver
from satchel.roles.resolving import (
    build_index_only,
    invalidate_cache,
    resolve_role_prompt,
)
from satchel.roles.template import render_template
from satchel.roles.tool import load_skill

__all__ = [
    "LegacyRenderer",
    "Primary",
    "ResolvedRolePrompt",
    "RoleResolver",
    "RoleSource",
    "build_index_only",
    "check_role",
    "invalidate_cache",
    "load_skill",
    "render_role_prompt",
    "render_template",
    "resolve_role_prompt",
]
