"""Satchel: carry every skill, unpack only what the task needs.

    from satchel import Satchel

    skills = Satchel("./skills")
    section = skills.prompt()                      # level 1: the catalog
    skills.load("pdf-forms").text                  # level 2: instructions
    skills.load("pdf-forms", "fields.md").text     # level 3: one file

A name is imported when it is first used, so that a program pays only for what it uses.
Names that users of earlier systems know can be imported too, but are not listed.
"""

# The names are in __init__.pyi, for checkers.
# pyright: reportUnsupportedDunderAll=false
import sys
from importlib import import_module
from typing import Final

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

# The names of earlier systems, of another product.
_EARLIER: Final = "satchel_compat"
_ROOMS: Final = {
    "agent": "BaseSkill Skill",
    _EARLIER: "LocalDirSkillSource SkillDescriptor SkillDiscoverySkill SkillLoader "
    "SkillManifest SkillRegistry default_registry load_skill resolve_role_prompt",
    "errors": "DuplicateSkillError NoSources ReferenceNotFoundError SkillError "
    "SkillManifestError SkillNotFoundError",
    "model": "Catalog Finding Limits Loaded Rendered",
    "policy": "Policy allow ask deny require",
    "protocols": "SkillSource",
    "runtime": "Options Satchel Session",
    "sources": "load_plugin_sources",
    "tools": "Run",
}
_HOMES: Final = {name: room for room, names in _ROOMS.items() for name in names.split()}


# Modules that are in another product now; `satchel.moved` imports them.
_MOVED: Final = {
    "satchel.authoring": "satchel_lab.authoring",
    "satchel.checking": "satchel_lab.checking",
    "satchel.clients": "satchel_lab.clients",
    "satchel.compat": "satchel_compat",
    "satchel.evals": "satchel_lab.evals",
    "satchel.lint": "satchel_lab.lint",
    "satchel.release": "satchel_store.release",
    "satchel.server": "satchel_server",
    "satchel.testing.hostile": "satchel_lab.hostile",
    "satchel.testing.hostile.__main__": "satchel_lab.hostile.__main__",
}


class _Moved:
    """Finds modules by their old paths; see `satchel.moved`."""

    @staticmethod
    def find_spec(path: str, *_: object) -> object:
        if path not in _MOVED:
            return None
        return import_module("satchel.moved").moved_module(path, _MOVED[path])


# Before all others: in a checkout that was updated, the old folders may still be there,
# without modules.
sys.meta_path.insert(0, _Moved)  # type: ignore[arg-type]  # has all that is called


def __getattr__(name: str) -> object:
    """Import a name when it is first used."""
    if name in ("errors", "sources"):
        return import_module(f"satchel.{name}")
    value: object
    if name == "__version__":
        value = import_module("satchel.published").VERSION
    elif name in _HOMES:
        home = _HOMES[name]
        if home == _EARLIER:
            module = import_module("satchel.products").import_product(home, name)
        else:
            module = import_module(f"satchel.{home}")
        value = getattr(module, name)
    else:
        raise AttributeError(f"module 'satchel' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the names for new code."""
    return sorted([*__all__, "__version__"])
