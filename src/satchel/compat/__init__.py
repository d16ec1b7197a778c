"""The APIs and role prompts of four earlier systems, for code that uses them."""

from typing import TYPE_CHECKING

from satchel._lazy import lazy_door

if TYPE_CHECKING:
    from satchel.compat._discovery import SkillDiscoverySkill as SkillDiscoverySkill
    from satchel.compat._loader import (
        LoadedSkill,
        LocalDirSkillSource,
        SkillArtifact,
        SkillLoader,
        SkillManifest as SkillManifest,
    )
    from satchel.compat._registry import (
        SkillDescriptor,
        SkillRegistry,
        default_registry,
    )
    from satchel.compat._registry_check import (
        check_registered as check_registered,
        descriptors_of as descriptors_of,
        import_registered as import_registered,
        is_in_code as is_in_code,
    )
    from satchel.compat._role import (
        LegacyRenderer,
        Primary as Primary,
        ResolvedRolePrompt,
        check_role,
        is_role as is_role,
    )
    from satchel.compat._role_functions import (
        build_index_only,
        invalidate_cache,
        load_skill,
        resolve_role_prompt,
    )
    from satchel.compat._role_resolver import RoleResolver
    from satchel.compat._role_template import (
        COMMAND as COMMAND,
        IF as IF,
        IF_NOT as IF_NOT,
        PLACEHOLDER as PLACEHOLDER,
        SYSTEM_PROMPT as SYSTEM_PROMPT,
        choose_branches as choose_branches,
        fill as fill,
        render_role_prompt,
        render_template,
    )

__all__ = [
    "LegacyRenderer",
    "LoadedSkill",
    "LocalDirSkillSource",
    "ResolvedRolePrompt",
    "RoleResolver",
    "SkillArtifact",
    "SkillDescriptor",
    "SkillLoader",
    "SkillRegistry",
    "build_index_only",
    "check_role",
    "default_registry",
    "invalidate_cache",
    "load_skill",
    "render_role_prompt",
    "render_template",
    "resolve_role_prompt",
]

__getattr__ = lazy_door(
    __name__,
    {
        "_discovery": "SkillDiscoverySkill",
        "_loader": "LoadedSkill LocalDirSkillSource SkillArtifact SkillLoader "
        "SkillManifest",
        "_registry": "SkillDescriptor SkillRegistry default_registry",
        "_registry_check": "check_registered descriptors_of import_registered "
        "is_in_code",
        "_role": "Primary ResolvedRolePrompt check_role is_role LegacyRenderer",
        "_role_functions": "build_index_only invalidate_cache load_skill "
        "resolve_role_prompt",
        "_role_resolver": "RoleResolver",
        "_role_template": "COMMAND IF IF_NOT PLACEHOLDER SYSTEM_PROMPT choose_branches "
        "fill render_role_prompt render_template",
    },
)
