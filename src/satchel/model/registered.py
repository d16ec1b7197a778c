"""A skill that is registered from code, before any source has read it."""

from dataclasses import dataclass, field
from typing import cast, get_args

from satchel.model.pack import Category

__all__ = ["SkillDescriptor"]


@dataclass(frozen=True, slots=True)
class SkillDescriptor:
    """What a `satchel.SkillRegistry` knows of a skill; hashable, and never changes.

    ``references`` are relative to where packages are installed, so that the first
    segment is a package that can be imported:
    ``my_skills/agentic_rag/references/azure_search_config.md``. They are all that can
    be read. ``import_path`` says where the skill is written, for people; nothing
    imports it. ``tools`` names the tools that belong to the skill.

    Raises:
        TypeError: ``tools`` or ``references`` is no tuple of texts.
        ValueError: There is no such category.
    """

    name: str
    description: str
    instructions: str = field(default="", repr=False)
    category: Category = "standard"
    import_path: str = ""
    tools: tuple[str, ...] = ()
    references: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what would make the value change or fail to hash."""
        for label, items in (("tools", self.tools), ("references", self.references)):
            if not _are_texts(items):
                raise TypeError(
                    f"skill {self.name!r}: {label} is to be a tuple of texts, "
                    f"got {items!r}"
                )
        if self.category not in get_args(Category):
            raise ValueError(
                f"skill {self.name!r}: category is to be standard or raw, "
                f"got {self.category!r}"
            )


def _are_texts(items: object) -> bool:
    # What the annotation says; a caller need not have a type checker.
    if not isinstance(items, tuple):
        return False
    return all(isinstance(item, str) for item in cast("tuple[object, ...]", items))
