"""Clients: programs in JavaScript, native ones, and some in Python.

Each is the newest release that installs from the package indexes. None has an account:
those that ask a model ask one on this machine.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from tools.loaders.clients import asking, inside, serving
from tools.loaders.clients.desk import open_desk
from tools.loaders.clients.installing import Npm, Pip

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tools.loaders.clients.asking import Ask
    from tools.loaders.clients.desk import Desk
    from tools.loaders.driver import Driver, Kind, Seen

    Begin = Callable[[Desk], AbstractContextManager[Ask]]


@dataclass(frozen=True, slots=True)
class Client:
    """One client; see `Driver`.

    ``place`` is where it looks: in a project, or in its home where it begins with ~.
    ``begin`` starts what is needed, once, and gives what asks of one project.
    """

    key: str
    title: str
    source: str
    package: Npm | Pip
    place: str
    begin: Begin
    kind: Kind = "client"

    def prepare(self) -> str:
        """Install it where it is missing, and return its version.

        Raises:
            UnavailableError: It cannot be had here.
        """
        return self.package.ensure()

    def look(self, libraries: Sequence[Path]) -> Iterator[Seen]:
        """Yield what it lists of each, laid into a project of its own.

        Raises:
            UnavailableError: It cannot be run.
        """
        with open_desk(self.package.command) as desk, self.begin(desk) as ask:
            for library in libraries:
                with desk.laid(library, self.place):
                    yield ask(desk)


def _each(ask: Ask) -> Begin:
    """Start the client again for each project."""

    @contextmanager
    def begin(desk: Desk) -> Generator[Ask]:  # noqa: ARG001  # it is given to each
        yield ask

    return begin


@contextmanager
def _served(desk: Desk) -> Generator[Ask]:
    desk.project.joinpath("nowhere").mkdir()
    with serving.opencode(desk) as address:
        yield partial(serving.skills_of, address)


@contextmanager
def _hermes(desk: Desk) -> Generator[Ask]:
    with inside.program(desk, "hermes") as process:
        yield lambda desk: inside.prompt(inside.ask(process, desk.project))


def _listed(name: str) -> Begin:
    @contextmanager
    def begin(desk: Desk) -> Generator[Ask]:
        with inside.program(desk, name) as process:
            yield lambda desk: inside.pairs(inside.ask(process, desk.project))

    return begin


_CLAUDE = Npm("@anthropic-ai/claude-code", "@anthropic-ai/claude-code/cli-wrapper.cjs")
_LINUX = "linux-x64" if os.uname().machine == "x86_64" else "linux-arm64"
_GOOSE = f"@aaif/goose-binary-{_LINUX}/bin/goose"

DRIVERS: Final[tuple[Driver, ...]] = (
    Client(
        "claude-code",
        "Claude Code",
        "the first request of `claude -p`",
        _CLAUDE,
        asking.CLAUDE,
        _each(asking.claude_code),
    ),
    Client(
        "claude-plugin-validate",
        "claude plugin validate",
        "claude plugin validate --json .claude/skills",
        _CLAUDE,
        asking.CLAUDE,
        _each(asking.claude_plugin_validate),
        "validator",
    ),
    Client(
        "codex",
        "Codex CLI",
        "the first request of `codex exec`",
        Npm("@openai/codex", "@openai/codex/bin/codex.js"),
        asking.CODEX,
        _each(asking.codex),
    ),
    Client(
        "gemini-cli",
        "Gemini CLI",
        "gemini skills list --all",
        Npm("@google/gemini-cli", ".bin/gemini"),
        asking.GEMINI,
        _each(asking.gemini_cli),
    ),
    Client(
        "github-copilot-cli",
        "GitHub Copilot CLI",
        "copilot skill list --json",
        Npm("@github/copilot", ".bin/copilot"),
        asking.COPILOT,
        _each(asking.copilot),
    ),
    Client(
        "opencode",
        "OpenCode",
        "GET /skill of `opencode serve`",
        Npm("opencode-ai", f"opencode-{_LINUX}/bin/opencode", native=True),
        ".opencode/skills",
        _served,
    ),
    Client(
        "kilo-code-cli",
        "Kilo Code CLI",
        "GET /skill of `kilo serve`",
        # The package that picks one for the machine is newer than what it picks from.
        Npm(f"@kilocode/cli-{_LINUX}", f"@kilocode/cli-{_LINUX}/bin/kilo", native=True),
        ".kilocode/skills",
        _served,
    ),
    Client(
        "openclaw",
        "OpenClaw",
        "openclaw skills list --json",
        Npm("openclaw", ".bin/openclaw"),
        asking.OPENCLAW,
        _each(asking.openclaw),
    ),
    Client(
        "qwen-code",
        "Qwen Code",
        "the first request of `qwen -p`",
        Npm("@qwen-code/qwen-code", ".bin/qwen"),
        asking.QWEN,
        _each(asking.qwen_code),
    ),
    Client(
        "kimi-code",
        "Kimi Code CLI",
        "the first request of `kimi -p`",
        Npm("@moonshot-ai/kimi-code", ".bin/kimi"),
        asking.KIMI,
        _each(asking.kimi_code),
    ),
    Client(
        "pi",
        "pi",
        "the first request of `pi -p`",
        # Newer ones ask for packages that the registry has not, as of November 2026.
        Npm("@earendil-works/pi-coding-agent@<0.99", ".bin/pi"),
        asking.PI,
        _each(asking.pi),
    ),
    Client(
        "goose",
        "goose",
        "the first request of `goose run`",
        Npm(f"@aaif/goose-binary-{_LINUX}", _GOOSE, native=True),
        asking.GOOSE,
        _each(asking.goose),
    ),
    Client(
        "amp",
        "Amp",
        "amp skill list --json",
        Npm(f"@ampcode/cli-{_LINUX}", f"@ampcode/cli-{_LINUX}/amp", native=True),
        asking.AMP,
        _each(asking.amp),
    ),
    Client(
        "npx-skills",
        "npx skills",
        "skills add FOLDER --list",
        Npm("skills", ".bin/skills"),
        asking.NPX_SKILLS,
        _each(asking.npx_skills),
    ),
    Client(
        "hermes",
        "Hermes Agent",
        "agent.prompt_builder.build_skills_system_prompt()",
        Pip("hermes-agent", "3.12"),
        "skills",
        _hermes,
    ),
    Client(
        "deepagents-code",
        "Deep Agents Code",
        "deepagents_code.skills.load.list_skills()",
        Pip("deepagents-code", "3.12"),
        ".deepagents/skills",
        _listed("deepagents_code"),
    ),
    Client(
        "fast-agent",
        "fast-agent",
        "fast_agent.skills.registry.SkillRegistry(...).load_manifests()",
        Pip("fast-agent-mcp", "3.12"),
        ".fast-agent/skills",
        _listed("fast_agent"),
    ),
)
