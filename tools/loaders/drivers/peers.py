"""Loaders in Python: the files of ``benchmarks/peers``, with their newest releases.

Each library is discovered in a fork of a process that has imported the loader, so that
nothing of one is left for the next.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from benchmarks.peers._catalog import FOLDER_VARIABLE, Peer, all_peers
from benchmarks.peers._install import find_python
from benchmarks.peers._warm import WarmPeer
from tools.loaders.driver import Kind, Seen, UnavailableError, uv_command
from tools.loaders.known import ENVIRONMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

TIMEOUT_S: Final = 20.0
INSTALL_TIMEOUT_S: Final = 1800
_PIN: Final = re.compile(r"[=<>!~].*")

SOURCES: Final[dict[str, str]] = {
    "agent_framework": "FileSkillsSource([folder]).get_skills(...)",
    "agentscope": "LocalSkillLoader(folder, scan_subdir=True).list_skills()",
    "agentskills": "SkillRegistry().register_all(LocalFileSystemSkillProvider(folder))",
    "agno": "Skills(loaders=[LocalSkills(folder)])",
    "agno_lenient": "Skills(loaders=[LocalSkills(folder, validate=False)])",
    "crewai": "discover_skills(folder)",
    "deepagents": "SkillsMiddleware(sources=[folder]).before_agent(...)",
    "fastmcp": "SkillsDirectoryProvider([folder])",
    "google_adk": "load_skills_from_dir(folder)",
    "google_adk_list": "list_skills_in_dir(folder)",
    "haystack": "FileSystemSkillStore(folder).list_skills()",
    "openai_agents": "LocalDirLazySkillSource(LocalDir(folder)).list_skill_metadata()",
    "openhands": "load_skills_from_dir(folder)",
    "pydantic_ai_harness": "Skills([folder]).load(...)",
    "skills_ref": "read_properties(pack), pack by pack",
    "strands": "Skill.from_directory(folder)",
    "agentskills_validate": "agentskills validate",
    "library_skills": "scan_node_packages(node_modules)",
    "pydantic_ai_skills": "SkillsCapability(folder).for_run(...)",
    "skillkit": "SkillManager(project_skill_dir=folder).discover()",
    "skillport": "build_index(...), list_all(...)",
    "skills_ref_validate": "skills-ref validate",
    "skillz": "SkillRegistry(folder).load()",
}
"""What each file calls; a peer that is not here is not measured."""

TITLES: Final[dict[str, str]] = {
    "agent_framework": "Microsoft Agent Framework",
    "agentscope": "AgentScope",
    "agentskills": "agentskills-sdk",
    "agno": "Agno",
    "agno_lenient": "Agno, validate=False",
    "crewai": "CrewAI",
    "deepagents": "Deep Agents",
    "fastmcp": "FastMCP",
    "google_adk": "Google ADK",
    "google_adk_list": "Google ADK, listing",
    "haystack": "Haystack",
    "openai_agents": "OpenAI Agents SDK",
    "openhands": "OpenHands SDK",
    "pydantic_ai_harness": "Pydantic AI harness",
    "skills_ref": "skills-ref",
    "strands": "Strands Agents",
    "agentskills_validate": "agentskills validate",
    "library_skills": "library-skills",
    "pydantic_ai_skills": "pydantic-ai-skills",
    "skillkit": "skillkit",
    "skillport": "SkillPort",
    "skills_ref_validate": "skills-ref validate",
    "skillz": "Skillz",
}
VALIDATORS: Final = frozenset(["agentskills_validate", "skills_ref_validate"])


@dataclass(frozen=True, slots=True)
class PeerDriver:
    """One of those files; see `Driver`."""

    peer: Peer

    @property
    def key(self) -> str:
        """The file's name in kebab-case."""
        return self.peer.name.replace("_", "-")

    @property
    def title(self) -> str:
        """What it is called."""
        return TITLES[self.peer.name]

    @property
    def kind(self) -> Kind:
        """What it is."""
        return "validator" if self.is_validator else "framework"

    @property
    def is_validator(self) -> bool:
        """Whether it tells of a pack only that it is good."""
        return self.peer.name in VALIDATORS

    @property
    def source(self) -> str:
        """What is called."""
        return SOURCES[self.peer.name]

    @property
    def folder(self) -> Path:
        """Its environment."""
        return ENVIRONMENTS / self.peer.environment

    def prepare(self) -> str:
        """Make its environment where there is none, and return the version.

        Raises:
            UnavailableError: It cannot be made.
        """
        made = self.folder / "made-from"
        wanted = " ".join([self.peer.python_version, *sorted(self._requires())])
        if not (made.exists() and made.read_text("utf-8") == wanted):
            self._make()
            made.write_text(wanted, "utf-8")
        return self._version()

    def remove(self) -> None:
        """Throw its environment away, so that the next one has what is newest then."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def look(self, libraries: Sequence[Path]) -> Iterator[Seen]:
        """Yield what it finds in each.

        Raises:
            UnavailableError: It cannot be imported, or its process ended.
        """
        os.environ[FOLDER_VARIABLE] = str(ENVIRONMENTS)
        try:
            with WarmPeer(self.peer.name, TIMEOUT_S) as warm:
                for library in libraries:
                    seen = _seen(warm.discover(library))
                    yield _without_descriptions(seen) if self.is_validator else seen
        except OSError as error:
            raise UnavailableError(f"{self.key}: {error}") from error
        finally:
            del os.environ[FOLDER_VARIABLE]

    def _requires(self) -> list[str]:
        """Return what its environment holds: what all peers in it ask for."""
        sharing = [p for p in all_peers() if p.environment == self.peer.environment]
        asked = [each for peer in sharing for each in peer.requires]
        own = [*self.peer.requires, *asked]
        return [*dict.fromkeys(_PIN.sub("", each) for each in own)]

    def _make(self) -> None:
        python = find_python(self.peer.python_version)
        if python is None:
            raise UnavailableError(f"no Python {self.peer.python_version} here")
        _uv("venv", "--clear", "--python", python, str(self.folder))
        interpreter = str(self.folder / "bin" / "python")
        _uv("pip", "install", "--python", interpreter, *self._requires())

    def _version(self) -> str:
        name = re.split(r"\[", self._requires()[0])[0]
        said = _uv("pip", "list", "--python", str(self.folder), "--format", "freeze")
        pins = dict(line.split("==", 1) for line in said.splitlines() if "==" in line)
        return pins.get(name, "?")


def _seen(answer: Mapping[str, Any]) -> Seen:
    found: Mapping[str, str] = answer.get("found", {})
    pairs = tuple(found.items())
    if "found" not in answer:
        ended = "ran out of time" if answer.get("timed_out") else answer.get("ended")
        return Seen(pairs, str(ended))
    return Seen(pairs, str(answer.get("error") or ""))


def _without_descriptions(seen: Seen) -> Seen:
    return Seen(tuple((name, None) for name, _ in seen.found), seen.error)


def _uv(*arguments: str) -> str:
    environ = {k: v for k, v in os.environ.items() if k != "VIRTUAL_ENV"}
    command = [*uv_command(), *arguments]
    done = subprocess.run(
        command,
        env=environ,
        capture_output=True,
        text=True,
        timeout=INSTALL_TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        raise UnavailableError((done.stderr or done.stdout).strip())
    return done.stdout


DRIVERS: Final = tuple(PeerDriver(peer) for peer in all_peers() if peer.name in SOURCES)
