"""Satchel: carry every skill, unpack only what the task needs.

    from satchel import Satchel

    skills = Satchel("./skills")
    section = skills.prompt()                      # level 1: the catalog
    skills.load("pdf-forms").text                  # level 2: instructions
    skills.load("pdf-forms", "fields.md").text     # level 3: one file

A name is imported when it is first used, so that a program pays only for what it uses.
Names that users of earlier systems know can be imported too, but are not listed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from satchel import errors, sources
    from satchel.agent import BaseSkill, Skill
    from satchel.compat import (
        LocalDirSkillSource as LocalDirSkillSource,
        SkillDescriptor as SkillDescriptor,
        SkillDiscoverySkill as SkillDiscoverySkill,
        SkillLoader as SkillLoader,
        SkillManifest as SkillManifest,
        SkillRegistry as SkillRegistry,
        default_registry as default_registry,
        load_skill as load_skill,
        resolve_role_prompt as resolve_role_prompt,
    )
    from satchel.errors import (
        DuplicateSkillError as DuplicateSkillError,
        NoSources,
        ReferenceNotFoundError as ReferenceNotFoundError,
        SkillError,
        SkillManifestError as SkillManifestError,
        SkillNotFoundError as SkillNotFoundError,
    )
    from satchel.model import Catalog, Finding, Limits, Loaded, Rendered
    from satchel.policy import Policy, allow, ask, deny
    from satchel.protocols import SkillSource
    from satchel.runtime import Options, Satchel, Session
    from satchel.sources import load_plugin_sources as load_plugin_sources
    from satchel.tools import Run

    __version__: str

__all__ = [
    "BaseSkill",
    "Catalog",
    "Finding",
    "Limits",
    "Loaded",
    "NoSources",
    "Options",
    "Policy",
    "Rendered",
    "Run",
    "Satchel",
    "Session",
    "Skill",
    "SkillError",
    "SkillSource",
    "allow",
    "ask",
    "deny",
    "errors",
    "sources",
]

_ROOMS: Final = {
    "agent": "BaseSkill Skill",
    "compat": "LocalDirSkillSource SkillDescriptor SkillDiscoverySkill SkillLoader "
    "SkillManifest SkillRegistry default_registry load_skill resolve_role_prompt",
    "errors": "DuplicateSkillError NoSources ReferenceNotFoundError SkillError "
    "SkillManifestError SkillNotFoundError",
    "model": "Catalog Finding Limits Loaded Rendered",
    "policy": "Policy allow ask deny",
    "protocols": "SkillSource",
    "runtime": "Options Satchel Session",
    "sources": "load_plugin_sources",
    "tools": "Run",
}
_HOMES: Final = {name: room for room, names in _ROOMS.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Import a name when it is first used."""
    if name in ("errors", "sources"):
        return import_module(f"satchel.{name}")
    value: object
    if name == "__version__":
        value = import_module("satchel._published").VERSION
    elif name in _HOMES:
        value = getattr(import_module(f"satchel.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module 'satchel' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the names for new code."""
    return sorted([*__all__, "__version__"])
