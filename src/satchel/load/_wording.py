"""The sentences that a model reads in a result.

Names that fill the constants come from packs, users and models: the caller
escapes them first.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from satchel.errors import echo
from satchel.model import Catalog, Descriptor, Loaded, Style
from satchel.text import clean_line, escape_xml, first_names, printable

# --- The tools of the styles ----------------------------------------------------------

# What models get wrong that call such a tool.
_GUIDANCE: Final = (
    " Pass the {} character for character; it is not the name of a tool. After "
    "loading, go on with the task."
)
BY_ID: Final = _GUIDANCE.format("id")
BY_NAME: Final = _GUIDANCE.format("skill's name")
LOAD_BY_ID: Final = (
    "Load full SKILL.md instructions by skill_id from the skill registry. "
    f"Use this when a request matches a listed skill.{BY_ID}"
)
LOAD_BY_NAME: Final = (
    "Load a skill's instructions by its name, or the text of one of its "
    "references or scripts. Scripts are returned as text and never run."
    f"{BY_NAME}"
)
LOAD_INSTRUCTIONS: Final = (
    "Load a skill's instructions and the names of its references; with "
    f"`reference`, the whole text of that one.{BY_NAME}"
)
LIST_SKILLS: Final = "List every skill with its description and its references."
SEARCH_SKILLS: Final = (
    "Find the skills whose name, description or references hold a text."
)
LEAN_LOAD: Final = "Load a skill by its id."
LEAN_READ: Final = "Read a skill's file."
LEAN_FIND: Final = "Find skills by a few words of the task."
LEAN_BINARY: Final = "This file is not text: it is {:,} bytes of {}."
LEFT_AS_IT_IS: Final = "{} has no value here and is left as it is"
IN_STEP: Final = "{} {!r} is in another result of this step. Use that one."
LEAN_UNCHANGED: Final = "{} {!r} is unchanged. Use its text above."
PART: Final = "This is {}part {} of {}."
NEXT_PART: Final = ' Give part "{}" for what follows.'
OUTLINE: Final = "Sections, with their part: {}{}. Give a title as part for a section."
RESULT_CUT: Final = (
    "The result of {} is {:,} tokens long. This is its beginning, of {:,}; ask for "
    "less to see the rest."
)
NOTHING_FOUND: Final = "No skill was found."
WEAK_MATCHES: Final = "Weak matches; use one only if it fits"
PARTIAL_SEARCH: Final = (
    "Only names and descriptions of some skills are searched yet; later searches may "
    "find more"
)
READ_AS: Final = 'No skill has "{}"; it was read as "{}".'
FIND_SKILLS: Final = (
    "Find skills by a few words of the task, also those that are not listed."
)
READ_ANY_FILE: Final = "Read one file that belongs to a skill, whole and as it is."
READ_OTHER_FILE: Final = (
    "Read a file of a skill that is no reference and no script, whole and as it is."
)
PARAMETERS: Final = {
    "skill_id": "The skill, by its id exactly as it is listed.",
    "name": "The skill, by its name exactly as it is listed.",
    "skill_name": "The skill, by its name exactly as it is listed.",
    "read": "The skill, exactly as it is listed.",
    "path": "The file, as the skill names it.",
    "reference": "A file of available_references; leave out for the body.",
    "script": "A file of available_scripts; leave out for the body.",
    "skill_reference": "One of the skill's references.",
    "query": "The text to look for; upper and lower case are alike.",
    "words": "A few words of the task.",
    "k": "How many skills at most.",
}
WRONG_READER: Final = "{!r} is a {}: load_skill gives it"
NO_TEXT: Final = "{!r} is not text: {:,} bytes of {}"
INTERNAL_ERROR: Final = "internal error: {}"

# --- Notes next to a text -------------------------------------------------------------

DIRECTIVE: Final = """\
  <execution_directive>
    You are now operating under the specialized {} protocol.
    1. Prioritize the logic in <instructions> over generic behavior.
    2. Use the data in <active_resources> to complete the user's specific request.
    3. If the workflow is multi-step, explicitly state your plan before executing.
  </execution_directive>
"""
PATHS_IN_FOLDER: Final = "Relative paths in these instructions are relative to {}."
FILES_BY_TOOL: Final = (
    "Files and scripts of this skill are for reading only here, with {}."
)
SCRIPTS_NOT_RUN: Final = (
    "This text asks to run {}. No tool of this library runs scripts; such paths are of "
    "files of this skill."
)
SCRIPTS_WARNING: Final = (
    "skills ask to run a script, and nothing here runs one: {}. Give "
    "Satchel(..., runner=satchel_scripts.Sandbox()) and a rule such as allow(ID, "
    "'script'); or stage=True, which puts their files in a folder for a tool of yours "
    "that runs programs. `satchel doctor` names all such skills"
)
REQUIRED: Final = (
    "Not done: {} needs the skill {!r}. Read its instructions, which follow, then call "
    "it again."
)
REQUIRED_UNREAD: Final = (
    "Not done: {} needs the skill {!r}, whose instructions cannot be read now."
)
NEEDS_MISSING: Final = (
    "Its scripts need {}, which is not there: one that uses it will fail."
)
NEEDS_WARNING: Final = "the scripts of the skill %r need what is not there: %s"
NO_SCRIPT: Final = "{!r} of the skill {!r} is no script"
SKILL_CHANGED: Final = "the skill {!r} has changed since it was loaded: load it again"
SCRIPT_CHANGED: Final = (
    "the skill's files have changed since this call was decided about; call it again"
)
UNCHANGED: Final = "{} {!r} is unchanged; its text stands above. Use it."
OUTDATED: Final = "Skill {!r} has changed since it was loaded. Load it again."
TOOLS_OPEN: Final = "Tools that are open now: {}."
TOOL_DENIED: Final = "tool {!r} is not allowed here."
TOOL_CLOSED: Final = (
    "tool {!r} stays closed: the skill's own allowed-tools does not name it"
)
TOOL_MISSING: Final = "tool {!r} is named by this skill and nobody offers it here"
TOOL_OF_OTHER: Final = "tool {!r} belongs to {} and opens with that skill only"
NO_SUCH_TOOL: Final = "there is no such tool"
SKILL_IS_NO_TOOL: Final = "it is a skill, not a tool; load it by its id"
LOAD_TO_OPEN: Final = "load the skill {!r} first; that opens it"
NO_DIGEST: Final = "No digest of it is known: whether it changed cannot be told."

SKILLS_IN_USE: Final = (
    "## Skills in use\nThese were loaded earlier in this conversation, and still hold:"
)

# Ids that an advice names; in a longer catalog these are the nearest ones.
MAX_NAMED: Final = 20
# Skills that a note on a changed catalog names one by one, of each kind.
MAX_CHANGES: Final = 20
# Skills in use that are named without their text.
MAX_REPEATED_NAMES: Final = 20


def deprecated_note(descriptor: Descriptor) -> str:
    replacement = descriptor.replaced_by
    use = f"; {replacement!r} takes its place" if replacement else ""
    return f"Skill {descriptor.id!r} is deprecated{use}."


def remote_notes(descriptor: Descriptor) -> tuple[str, ...]:
    origin = descriptor.origin
    place = origin.location.removeprefix(f"{origin.source}: ")
    note = f"This is from the {descriptor.remote} {origin.source!r} ({place})."
    return (note,) if descriptor.digest else (note, NO_DIGEST)


def needs_notes(present: Sequence[str], absent: Sequence[str]) -> Iterator[str]:
    """Yield which other skills a skill needs; ids that are here, and names of none."""
    if present:
        them = "it" if len(present) == 1 else "them"
        ids = first_names([*map(clean_line, present)], MAX_NAMED)
        yield f"Needs: {ids} (load {them} with load_skill)."
    if absent:
        names = first_names(absent, MAX_NAMED)
        yield f"Needs: {names}, which this library does not have."


def unchanged_note(loaded: Loaded, style: Style, *, in_step: bool = False) -> str:
    """Return the line in place of a text that the model can see anyway.

    ``in_step`` says that another call of this step has it.
    """
    file = printable(loaded.file, keep="")
    what = "Skill" if loaded.is_instructions else f"File {file!r} of skill"
    note = LEAN_UNCHANGED if style == "lean" else UNCHANGED
    note = IN_STEP if in_step else note
    return note.format(what, loaded.id)


def changes_note(before: Catalog, after: Catalog, active: frozenset[str]) -> str:
    """Return what a reader of ``before`` has to know of ``after``; empty if nothing.

    Ids in order; ``active`` ones that changed have to be loaded again.
    """
    added = [
        f"{clean_line(e.id)} ({clean_line(e.description)})"
        for e in after.entries
        if e.id not in before
    ]
    changed = [
        clean_line(e.id) + (" (load it again)" if e.id in active else "")
        for e in after.entries
        if (old := before.get(e.id)) is not None and old != e
    ]
    gone = [clean_line(e.id) for e in before.entries if e.id not in after]
    kinds = (("New", added), ("Changed", changed), ("Gone", gone))
    lists = [
        f"{kind}: {first_names(items, MAX_CHANGES)}." for kind, items in kinds if items
    ]
    return f"The list of skills has changed. {' '.join(lists)}" if lists else ""


def reinjected_section(
    texts: Sequence[str], no_room: Sequence[str], gone: Sequence[str]
) -> str:
    """Return the part of a prompt about skills in use that the messages do not show."""
    parts = [SKILLS_IN_USE, *texts]
    if no_room:
        parts.append(
            f"In use too, and left out for lack of room: {_ids(no_room)}. Load again "
            "what you need."
        )
    if gone:
        parts.append(f"In use before, and no longer available: {_ids(gone)}.")
    return "\n\n".join(parts) if len(parts) > 1 else ""


def _ids(ids: Sequence[str]) -> str:
    # Ids come from a stored state, and so may be anything.
    names = [escape_xml(clean_line(echo(id))) for id in ids]
    return first_names(names, MAX_REPEATED_NAMES)
