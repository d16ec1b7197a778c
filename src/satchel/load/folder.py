"""What a model is told of the folder that a skill's files are in."""

import re
from dataclasses import replace
from typing import Final

from satchel.load.options import StyleOptions
from satchel.model import Descriptor, Loaded, Style

__all__ = ["FOLDERS", "fill_folder", "folder_notes"]

FOLDERS: Final = ("${SKILL_DIR}", "${CLAUDE_SKILL_DIR}")
"""The placeholders for a skill's folder: of pydantic-ai-skills, and of Claude Code."""

_FOLDER: Final = re.compile("|".join(map(re.escape, FOLDERS)))


def fill_folder(loaded: Loaded, folder: str | None) -> Loaded:
    """Return instructions with ``${SKILL_DIR}`` and ``${CLAUDE_SKILL_DIR}`` filled in.

    A file, and any text where there is no folder, stays as it is.
    """
    if folder is None or not loaded.is_instructions:
        return loaded
    parts = (_FOLDER.split(text) for text in (loaded.text, loaded.body))
    text, body = map(folder.join, parts)
    return replace(loaded, text=text, body=body)


def folder_notes(
    loaded: Loaded, options: StyleOptions, style: Style
) -> tuple[str, ...]:
    """Return how the paths in a SKILL.md resolve, or with what its files are read.

    Only the extended envelope says so, and only where the skill has files or
    ``options.root`` is given.
    """
    if options.envelope != "extended" or not loaded.is_instructions:
        return ()
    if options.root is not None:
        return (
            f"Relative paths in these instructions are relative to {options.root}.",
        )
    tools = _readers(loaded.descriptor, style)
    if not tools:
        return ()
    if options.show_root and style == "agent-skills":
        return ("Relative paths in these instructions are relative to <skill_root>.",)
    return (
        f"Files and scripts of this skill are for reading only here, with {tools}.",
    )


def _readers(descriptor: Descriptor, style: Style) -> str:
    """Return the tools that give the skill's files; empty where there are none."""
    if not descriptor.model_invocable:  # its files are refused to a model, too
        return ""
    if style == "references":
        return "load_skill_instructions" if descriptor.resources else ""
    if style == "agent-skills":
        return "read_skill_file" if descriptor.resources else ""
    by_load = descriptor.references or descriptor.scripts
    by_reader = descriptor.assets or descriptor.others
    tools = ("load_skill" if by_load else "", "read_skill_file" if by_reader else "")
    return " and ".join(tool for tool in tools if tool)
