"""Only type-checked: every ignored line is one that the checker has to refuse."""

from satchel import SkillDescriptor, SkillRegistry

paths = ["my_skills/rag/references/azure.md"]

SkillDescriptor("a", "About a.", references=("my_skills/rag/references/azure.md",))
SkillDescriptor("a", "About a.", tools=("search", "cite"))
SkillDescriptor("a", "About a.", references=paths)  # type: ignore[arg-type]
SkillDescriptor("a", "About a.", references="a.md")  # type: ignore[arg-type]
SkillDescriptor("a", "About a.", tools=["search"])  # type: ignore[arg-type]
SkillDescriptor("a", "About a.", category="safe")  # type: ignore[arg-type]
SkillDescriptor("a", "About a.").references = ()  # type: ignore[misc]
SkillRegistry(["a"])  # type: ignore[list-item]
