"""Satchel: carry every skill, unpack only what the task needs.

    from satchel import Satchel

    skills = Satchel("./skills")
    section = skills.prompt()                      # level 1: the catalog
    skills.load("pdf-forms").text                  # level 2: instructions
    skills.load("pdf-forms", "fields.md").text     # level 3: one file

Names are imported when they are first used, so that the front door costs only what
goes through it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from satchel import errors, sources
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
        Rendered,
    )
    from satchel.model import Manifest as SkillManifest
    from satchel.model.registered import SkillDescriptor
    from satchel.policy import Policy, allow, ask, deny
    from satchel.protocols import SkillSource
    from satchel.roles import load_skill, resolve_role_prompt
    from satchel.runtime.default import default_registry
    from satchel.runtime.front import Satchel
    from satchel.runtime.loader import SkillLoader
    from satchel.runtime.session import Session
    from satchel.skill import BaseSkill, Skill
    from satchel.skills.discovery import SkillDiscoverySkill
    from satchel.sources import LocalDirSkillSource, load_plugin_sources
    from satchel.sources.registered import SkillRegistry
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
    "SkillDescriptor": ("satchel.model.registered", "SkillDescriptor"),
    "SkillManifest": ("satchel.model", "Manifest"),
    "Policy": ("satchel.policy", "Policy"),
    "allow": ("satchel.policy", "allow"),
    "ask": ("satchel.policy", "ask"),
    "deny": ("satchel.policy", "deny"),
    "SkillSource": ("satchel.protocols", "SkillSource"),
    "resolve_role_prompt": ("satchel.roles", "resolve_role_prompt"),
    "default_registry": ("satchel.runtime.default", "default_registry"),
    "Satchel": ("satchel.runtime.front", "Satchel"),
    "SkillLoader": ("satchel.runtime.loader", "SkillLoader"),
    "Session": ("satchel.runtime.session", "Session"),
    "load_skill": ("satchel.roles", "load_skill"),
    "BaseSkill": ("satchel.skill", "BaseSkill"),
    "Skill": ("satchel.skill", "Skill"),
    "SkillDiscoverySkill": ("satchel.skills.discovery", "SkillDiscoverySkill"),
    "LocalDirSkillSource": ("satchel.sources", "LocalDirSkillSource"),
    "load_plugin_sources": ("satchel.sources", "load_plugin_sources"),
    "SkillRegistry": ("satchel.sources.registered", "SkillRegistry"),
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
