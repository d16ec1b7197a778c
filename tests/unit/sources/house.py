"""A package of skills, each in a sub-package with skill.py and references."""

import sys
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

__all__ = ["House", "build"]

AZURE = "# Azure\r\nSet AZURE_SEARCH_KEY.\n"
RUNNER = "print('in the sandbox')\n"
_numbers = count()


@dataclass
class House:
    """The package: what it is called, where it lies, and its main module."""

    name: str
    root: Path

    def module(self, inner: str) -> ModuleType:
        return import_module(f"{self.name}.{inner}")


def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """Write the package, and let it be imported under a name of its own."""
    name = f"house_{next(_numbers)}"  # a package is imported once in a process
    root = tmp_path / name
    files = {
        "__init__.py": "",
        "bootstrap.py": f"""\
            from satchel import SkillRegistry
            from {name}.agentic_rag.skill import DESCRIPTOR as AGENTIC_RAG
            from {name}.execution.skill import DESCRIPTOR as EXECUTION


            def bootstrap(registry: SkillRegistry) -> None:
                registry.bootstrap([AGENTIC_RAG, EXECUTION])
            """,
        "agentic_rag/__init__.py": "",
        "agentic_rag/skill.py": f"""\
            from satchel import BaseSkill, SkillDescriptor


            class AgenticRagSkill(BaseSkill):
                name = "agentic-rag"
                description = "Use to answer from documents."
                instructions = (
                    "Search, then answer with citations. When the search refuses a "
                    "query, load `azure_search_config.md`."
                )


            DESCRIPTOR = SkillDescriptor(
                AgenticRagSkill.name,
                AgenticRagSkill.description,
                AgenticRagSkill.instructions,
                import_path="{name}.agentic_rag.skill:AgenticRagSkill",
                tools=("search",),
                references=(
                    "{name}/agentic_rag/references/azure_search_config.md",
                    "{name}/agentic_rag/references/notes.md",
                ),
            )
            """,
        "agentic_rag/references/azure_search_config.md": AZURE,
        "agentic_rag/references/notes.md": "Of the rag.\n",
        "agentic_rag/references/unlisted.md": "Not for everybody.\n",
        "execution/__init__.py": "",
        "execution/skill.py": f"""\
            from satchel import BaseSkill, SkillDescriptor


            class ExecutionSkill(BaseSkill):
                name = "execution-debugging"
                description = "Use to find out why a command fails."
                instructions = "Run it in the sandbox; see `sandbox_runner.py`."


            DESCRIPTOR = SkillDescriptor(
                ExecutionSkill.name,
                ExecutionSkill.description,
                ExecutionSkill.instructions,
                category="raw",
                import_path="{name}.execution.skill:ExecutionSkill",
                references=(
                    "{name}/execution/scripts/sandbox_runner.py",
                    "{name}/agentic_rag/references/notes.md",
                    "{name}/execution/references/notes.md",
                ),
            )
            """,
        "execution/scripts/sandbox_runner.py": RUNNER,
        "execution/references/notes.md": "Of the execution.\n",
    }
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(dedent(text).encode())
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop(name, None)
    return House(name, root)
