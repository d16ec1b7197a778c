"""Satchel: carry every skill, unpack only what the task needs."""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from satchel import errors, sources
    from satchel.agent import BaseSkill, Skill
    from satchel.compat import (
        LocalDirSkillSource,
        SkillDescriptor,
        SkillLoader,
        SkillRegistry,
        default_registry,
        load_skill,
        resolve_role_prompt,
    )
    from satchel.errors import (
        DuplicateSkillError,
        NoSources,
        ReferenceNotFoundError,
        SkillError,
        SkillManifestError,
        SkillNotFoundError,
    )
    from satchel.model import (
        Catalog,
        Finding,
        Limits,
        Loaded,
        Manifest as SkillManifest,
        Rendered,
    )
    from satchel.policy import Policy, allow, ask, deny
    from satchel.protocols import SkillSource
    from satchel.runtime import Options, Satchel, Session
    from satchel.skills import SkillDiscoverySkill
    from satchel.sources import load_plugin_sources
    from satchel.tools import Run

__all__ = [
    "BaseSkill",
    "Catalog",
    "DuplicateSkillError",
    "Finding",
    "Limits",
    "Loaded",
    "LocalDirSkillSource",
    "NoSources",
    "Options",
    "Policy",
    "ReferenceNotFoundError",
    "Rendered",
    "Run",
    "Satchel",
    "Session",
    "Skill",
    "SkillDescriptor",
    "SkillDiscoverySkill",
    "SkillError",
    "SkillLoader",
    "SkillManifest",
    "SkillManifestError",
    "SkillNotFoundError",
    "SkillRegistry",
    "SkillSource",
    "allow",
    "ask",
    "default_registry",
    "deny",
    "errors",
    "load_plugin_sources",
    "load_skill",
    "resolve_role_prompt",
    "sources",
]

_HOMES: Final = {
    "errors": ("satchel.errors", ""),
    "sources": ("satchel.sources", ""),
    "DuplicateSkillError": ("satchel.errors", "DuplicateSkillError"),
    "NoSources": ("satchel.errors", "NoSources"),
    "ReferenceNotFoundError": ("satchel.errors", "ReferenceNotFoundError"),
    "SkillError": ("satchel.errors", "SkillError"),
    "SkillManifestError": ("satchel.errors", "SkillManifestError"),
    "SkillNotFoundError": ("satchel.errors", "SkillNotFoundError"),
    "Catalog": ("satchel.model", "Catalog"),
    "Finding": ("satchel.model", "Finding"),
    "Limits": ("satchel.model", "Limits"),
    "Loaded": ("satchel.model", "Loaded"),
    "Rendered": ("satchel.model", "Rendered"),
    "SkillDescriptor": ("satchel.compat", "SkillDescriptor"),
    "SkillManifest": ("satchel.model", "Manifest"),
    "Policy": ("satchel.policy", "Policy"),
    "allow": ("satchel.policy", "allow"),
    "ask": ("satchel.policy", "ask"),
    "deny": ("satchel.policy", "deny"),
    "SkillSource": ("satchel.protocols", "SkillSource"),
    "resolve_role_prompt": ("satchel.compat", "resolve_role_prompt"),
    "default_registry": ("satchel.compat", "default_registry"),
    "Options": ("satchel.runtime", "Options"),
    "Satchel": ("satchel.runtime", "Satchel"),
    "SkillLoader": ("satchel.compat", "SkillLoader"),
    "Session": ("satchel.runtime", "Session"),
    "load_skill": ("satchel.compat", "load_skill"),
    "BaseSkill": ("satchel.agent", "BaseSkill"),
    "Skill": ("satchel.agent", "Skill"),
    "SkillDiscoverySkill": ("satchel.skills", "SkillDiscoverySkill"),
    "LocalDirSkillSource": ("satchel.compat", "LocalDirSkillSource"),
    "load_plugin_sources": ("satchel.sources", "load_plugin_sources"),
    "SkillRegistry": ("satchel.compat", "SkillRegistry"),
    "Run": ("satchel.tools", "Run"),
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for."""
    try:
        module, member = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module 'satchel' has no attribute {name!r}") from None
    home = import_module(module)
    value = getattr(home, member) if member else home
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
