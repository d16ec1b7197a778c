"""The APIs and role prompts of four earlier systems, for code that uses them."""

from typing import TYPE_CHECKING, Final

from satchel._lazy import lazy_door

if TYPE_CHECKING:
    from satchel.compat._loader import (
        LoadedSkill,
        LocalDirSkillSource,
        SkillArtifact,
        SkillLoader,
    )
    from satchel.compat._registry import (
        SkillDescriptor,
        SkillRegistry,
        default_registry,
    )
    from satchel.compat._registry_check import (
        check_registered,
        descriptors_of,
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
        SYSTEM_PROMPT as SYSTEM_PROMPT,
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
    "check_registered",
    "check_role",
    "default_registry",
    "descriptors_of",
    "invalidate_cache",
    "load_skill",
    "render_role_prompt",
    "render_template",
    "resolve_role_prompt",
]

_LAZY: Final = {
    "LoadedSkill": "satchel.compat._loader",
    "LocalDirSkillSource": "satchel.compat._loader",
    "SkillArtifact": "satchel.compat._loader",
    "SkillLoader": "satchel.compat._loader",
    "SkillDescriptor": "satchel.compat._registry",
    "SkillRegistry": "satchel.compat._registry",
    "default_registry": "satchel.compat._registry",
    "check_registered": "satchel.compat._registry_check",
    "descriptors_of": "satchel.compat._registry_check",
    "import_registered": "satchel.compat._registry_check",
    "is_in_code": "satchel.compat._registry_check",
    "Primary": "satchel.compat._role",
    "ResolvedRolePrompt": "satchel.compat._role",
    "check_role": "satchel.compat._role",
    "is_role": "satchel.compat._role",
    "build_index_only": "satchel.compat._role_functions",
    "invalidate_cache": "satchel.compat._role_functions",
    "load_skill": "satchel.compat._role_functions",
    "resolve_role_prompt": "satchel.compat._role_functions",
    "RoleResolver": "satchel.compat._role_resolver",
    "LegacyRenderer": "satchel.compat._role",
    "SYSTEM_PROMPT": "satchel.compat._role_template",
    "fill": "satchel.compat._role_template",
    "render_role_prompt": "satchel.compat._role_template",
    "render_template": "satchel.compat._role_template",
}

__getattr__ = lazy_door(__name__, _LAZY)
