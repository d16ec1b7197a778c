"""Folders of role packs and legacy templates to resolve roles in."""

from pathlib import Path
from typing import Final

__all__ = ["DESCRIPTIONS", "INDEX", "edit", "write_role", "write_template"]

DESCRIPTIONS: Final = {
    "analyst": "Evaluate proposals - feasibility, engineering payoff, risk.",
    "backend": "Python server code, APIs, async, strict typing.",
}

INDEX: Final = (
    'Role: backend. load_skill(name="backend").\n'
    "Skills:\n"
    "* backend: Python server code, APIs, async, strict typing.\n"
    "- analyst: Evaluate proposals - feasibility, engineering payoff, risk.\n"
)
"""The golden text of requirement C, byte for byte."""


def write_role(
    templates: Path, name: str, description: str = "", body: str = "# Do\n"
) -> Path:
    """Write the pack of a role; return its SKILL.md."""
    home = templates / "skills" / name
    home.mkdir(parents=True, exist_ok=True)
    text = description or DESCRIPTIONS.get(name, "Use when this role is needed.")
    file = home / "SKILL.md"
    file.write_text(f"---\nname: {name}\ndescription: {text}\n---\n{body}", "utf-8")
    return file


def write_template(templates: Path, role: str, text: str | bytes) -> Path:
    """Write the legacy template of a role; return it."""
    home = templates / "roles" / role
    home.mkdir(parents=True, exist_ok=True)
    file = home / "system_prompt.md"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def edit(file: Path, old: str, new: str) -> None:
    """Put ``new`` in the place of ``old``, which is there."""
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")
