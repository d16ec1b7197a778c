"""Fields that only some clients honour."""

from collections.abc import Iterator, Mapping
from typing import Final

from satchel.lint._context import LintContext, rule
from satchel.model import Finding

# Field to the clients that honour it; all others ignore it.
# Source: the documentation of these clients, read from August to November 2026.
HONOURED_BY: Final[Mapping[str, str]] = {
    "agent": "Claude Code",
    "argument-hint": "Claude Code and VS Code",
    "arguments": "Claude Code",
    "background": "Claude Code",
    "command-arg-mode": "OpenClaw",
    "command-dispatch": "OpenClaw",
    "command-tool": "OpenClaw",
    "context": "Claude Code and VS Code",
    "disable-model-invocation": "Claude Code, VS Code, Cursor, OpenClaw, OpenHands and "
    "pi",
    "disallowed-tools": "Claude Code",
    "effort": "Claude Code",
    "hooks": "Claude Code",
    "model": "Claude Code",
    "paths": "Claude Code",
    "platforms": "Hermes",
    "required_environment_variables": "Hermes",
    "shell": "Claude Code",
    "triggers": "OpenHands",
    "user-invocable": "Claude Code, VS Code and OpenClaw",
    "when_to_use": "Claude Code",
    "metadata.clawdbot": "OpenClaw",
    "metadata.hermes": "Hermes",
    "metadata.internal": "the skills installer (npx skills)",
    "metadata.openclaw": "OpenClaw",
    "metadata.short-description": "Codex",
}


@rule("client-only-field")
def client_only_field(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on each field beyond the specification that some clients honour."""
    top = pack.manifest.frontmatter
    metadata = top.get("metadata")
    inner = list(metadata) if isinstance(metadata, Mapping) else []
    for field in (*top, *(f"metadata.{key}" for key in inner)):
        clients = HONOURED_BY.get(field)
        if clients is not None:
            yield pack.finding_at(
                "client-only-field", field, field=field, clients=clients
            )
