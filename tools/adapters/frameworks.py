"""Which adapters there are, what each needs, and where its files are."""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
CACHE: Final = ROOT / ".cache" / "adapters"
RESULTS: Final = CACHE / "results"

TITLES: Final = {
    "openai_agents": "OpenAI Agents SDK",
    "langchain": "LangChain, LangGraph",
    "pydantic_ai": "Pydantic AI",
    "google_adk": "Google ADK",
    "agent_framework": "Microsoft Agent Framework",
    "anthropic": "Anthropic SDK",
    "openai": "OpenAI SDK",
    "claude_agent_sdk": "Claude Agent SDK",
    "strands": "Strands Agents",
    "smolagents": "smolagents",
    "crewai": "CrewAI",
    "llama_index": "LlamaIndex",
    "haystack": "Haystack",
    "agno": "Agno",
}
"""What each framework is called, in the order of the table: the six deep ones first."""

NAMES: Final = tuple(TITLES)

LOWEST_PYTHON: Final = "3.11"
"""What the lock files hold for, and all that is newer."""

OTHER_PYTHON: Final[dict[str, str]] = {}
"""Adapters whose framework needs another Python than the one that runs this."""

_NO_NAME: Final = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(frozen=True, slots=True)
class Adapter:
    """One adapter, at the newest releases or at its lower bounds."""

    name: str
    lowest: bool = False

    @property
    def label(self) -> str:
        """The name of its lock file, its environment and its results."""
        return f"{self.name}-lowest" if self.lowest else self.name

    @property
    def extra(self) -> str:
        """The extra of ``pyproject.toml`` that brings its framework."""
        return self.name.replace("_", "-")

    @property
    def python(self) -> str:
        """The Python that it runs under, such as ``3.11``."""
        ours = f"{sys.version_info.major}.{sys.version_info.minor}"
        return OTHER_PYTHON.get(self.name, ours)

    @property
    def source(self) -> Path:
        """The adapter itself."""
        return ROOT / "src" / "satchel" / "adapters" / f"{self.name}.py"

    @property
    def driver(self) -> Path:
        """What drives the framework for the shared suite."""
        return ROOT / "tests" / "adapters" / f"{self.name}.py"

    @property
    def own_tests(self) -> Path:
        """Tests of this adapter alone; the file need not exist."""
        return ROOT / "tests" / "adapters" / f"test_{self.name}.py"

    @property
    def page(self) -> Path:
        """How to use it; its examples run in the adapter's environment."""
        return ROOT / "docs" / "how-to" / "adapters" / f"{self.extra}.md"

    @property
    def lock(self) -> Path:
        """What its environment holds, by version and hash."""
        return ROOT / "requirements" / "adapters" / f"{self.label}.txt"

    @property
    def environment(self) -> Path:
        """The folder of its environment."""
        return CACHE / self.label

    @property
    def results(self) -> Path:
        """What its last whole run found."""
        return RESULTS / f"{self.label}.json"

    @property
    def log(self) -> Path:
        """What its last run printed."""
        return RESULTS / f"{self.label}.log"

    @property
    def bounds(self) -> tuple[str, ...]:
        """The requirements of its extra.

        Raises:
            LookupError: ``pyproject.toml`` has no such extra.
        """
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        extras = project["optional-dependencies"]
        if self.extra not in extras:
            raise LookupError(f"pyproject.toml has no extra {self.extra!r}")
        return tuple(extras[self.extra])

    @property
    def distribution(self) -> str:
        """What to install: the first requirement of its extra, without the bound."""
        return _NO_NAME.split(self.bounds[0], maxsplit=1)[0]


def chosen(names: list[str], *, driven: bool = False) -> list[Adapter]:
    """Return the adapters of these names; of none, all, or all that have a driver.

    Raises:
        LookupError: A name is no adapter's.
    """
    if unknown := sorted(set(names) - set(NAMES)):
        raise LookupError(f"no adapter is called {', '.join(unknown)}")
    return [
        adapter
        for adapter in map(Adapter, NAMES)
        if adapter.name in names
        or (not names and (adapter.driver.exists() or not driven))
    ]
