from satchel import errors as errors, sources as sources
from satchel.agent import BaseSkill as BaseSkill, Skill as Skill
from satchel.errors import (
    DuplicateSkillError as DuplicateSkillError,
    NoSources as NoSources,
    ReferenceNotFoundError as ReferenceNotFoundError,
    SkillError as SkillError,
    SkillManifestError as SkillManifestError,
    SkillNotFoundError as SkillNotFoundError,
)
from satchel.model import (
    Catalog as Catalog,
    Finding as Finding,
    Limits as Limits,
    Loaded as Loaded,
    Rendered as Rendered,
)
from satchel.policy import (
    Policy as Policy,
    allow as allow,
    ask as ask,
    deny as deny,
    require as require,
)
from satchel.protocols import SkillSource as SkillSource
from satchel.runtime import Options as Options, Satchel as Satchel, Session as Session
from satchel.sources import load_plugin_sources as load_plugin_sources
from satchel.tools import Run as Run
from satchel_compat import (
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
    "require",
    "sources",
]
