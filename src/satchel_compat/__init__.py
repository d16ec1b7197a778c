"""The APIs and role prompts of four earlier systems, for code that uses them."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel_compat._discovery import SkillDiscoverySkill as SkillDiscoverySkill
    from satchel_compat._legacy_source import (
        LegacySourceAdapter as LegacySourceAdapter,
        as_source as as_source,
    )
    from satchel_compat._loader import (
        LoadedSkill as LoadedSkill,
        LocalDirSkillSource,
        SkillArtifact as SkillArtifact,
        SkillLoader,
        SkillManifest as SkillManifest,
    )
    from satchel_compat._registry import (
        SkillDescriptor,
        SkillRegistry,
        default_registry,
    )
    from satchel_compat._registry_check import (
        check_registered as check_registered,
        descriptors_of as descriptors_of,
        import_registered as import_registered,
    )
    from satchel_compat._role import (
        LegacyRenderer as LegacyRenderer,
        Primary as Primary,
        ResolvedRolePrompt as ResolvedRolePrompt,
        check_role as check_role,
    )
    from satchel_compat._role_functions import (
        build_index_only,
        invalidate_cache,
        load_skill,
        resolve_role_prompt,
    )
    from satchel_compat._role_resolver import RoleResolver
    from satchel_compat._role_template import (
        render_role_prompt as render_role_prompt,
        render_template as render_template,
    )

__all__ = [
    "LocalDirSkillSource",
    "RoleResolver",
    "SkillDescriptor",
    "SkillLoader",
    "SkillRegistry",
    "build_index_only",
    "default_registry",
    "invalidate_cache",
    "load_skill",
    "resolve_role_prompt",
]

__getattr__ = lazy_door(
    __name__,
    {
        "_discovery": "SkillDiscoverySkill",
        "_legacy_source": "LegacySourceAdapter as_source",
        "_loader": "LoadedSkill LocalDirSkillSource SkillArtifact SkillLoader "
        "SkillManifest",
        "_registry": "SkillDescriptor SkillRegistry default_registry",
        "_registry_check": "check_registered descriptors_of import_registered",
        "_role": "Primary ResolvedRolePrompt check_role LegacyRenderer",
        "_role_functions": "build_index_only invalidate_cache load_skill "
        "resolve_role_prompt",
        "_role_resolver": "RoleResolver",
        "_role_template": "render_role_prompt render_template",
    },
)
