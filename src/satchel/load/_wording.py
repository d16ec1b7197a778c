"""What a model reads about errors and folders, and the options of a style."""

import re
from dataclasses import dataclass, replace
from typing import Final, Literal

from satchel.errors import (
    DuplicateSkillError,
    ExtraMissingError,
    SkillError,
    SkillExcludedError,
    SkillNotFoundError,
    SourceUnavailableError,
    echo,
)
from satchel.model import Descriptor, Loaded, Style
from satchel.text import printable

Envelope = Literal["2026-02", "extended"]
Content = Literal["file", "body"]
Escape = Literal["raw", "cdata", "entities"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleOptions:
    """How a style writes what was loaded. The defaults are the letter of the contract.

    ``envelope``, ``content`` and ``escape`` are of ``agent-skills``: ``extended`` adds
    the pack's files; ``body`` leaves the frontmatter out; ``cdata`` and ``entities``
    make well-formed XML of any text. ``always_body`` is of ``packs``: the body also
    where a file was asked for. ``show_root`` tells the pack's location, for an agent
    that can reach it; ``root`` is the absolute folder of a copy that it can reach.

    In every style the envelope ``extended`` also says how relative paths resolve, or
    with what the files are read.
    """

    envelope: Envelope = "2026-02"
    content: Content = "file"
    escape: Escape = "raw"
    always_body: bool = False
    show_root: bool = False
    root: str | None = None


DEFAULT_STYLE_OPTIONS = StyleOptions()


def model_message(error: SkillError) -> str:
    """Return the error's message as far as a model may read it (R24).

    Origins and sources may be absolute paths or addresses, so that errors about them
    are told without; so is a fix, which is for the user. All others carry
    pack-relative paths only.
    """
    if isinstance(error, SkillNotFoundError):
        return f"skill {echo(error.name)!r} not found"
    if isinstance(error, SkillExcludedError):
        return f"skill {echo(error.name)!r} is {error.reason} and cannot be loaded"
    if isinstance(error, DuplicateSkillError):
        return (
            f"several packs claim the skill {error.skill_name!r}; none of them is "
            "handed out"
        )
    if isinstance(error, SourceUnavailableError):
        return "the source of the skill does not answer now; try again later"
    if isinstance(error, ExtraMissingError):  # what to install is for the user
        return f"{error.what} is not available here"
    return printable(str(error))


def error_result(error: SkillError, advice: str | None = None) -> dict[str, object]:
    """Return the structured result that stands for an error.

    ``advice`` is a further sentence of its message.
    """
    message = f"{model_message(error)}. {advice}" if advice else model_message(error)
    return {"error": {"code": error.code, "message": message}}


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
