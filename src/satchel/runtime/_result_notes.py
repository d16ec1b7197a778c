"""What a session adds to the results of its tools.

And to errors about what is not there.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from satchel.errors import (
    ReferenceNotAllowedError,
    SkillError,
    SkillNotFoundError,
    echo,
)
from satchel.model import MAX_NAME_CHARS, Catalog, Loaded
from satchel.runtime._access import SkillAccess
from satchel.runtime._session_state import SessionState
from satchel.runtime._tool_registry import ToolRegistry
from satchel.text import clean_line, printable

FINAL_ATTEMPT: Final = 3
"""The miss of one id in a turn that is final (R35)."""
_MISSES: Final = (SkillNotFoundError, ReferenceNotAllowedError)
MAX_NAMED: Final = 20
"""Ids that an advice names; in a longer catalog these are the nearest ones."""


def is_not_found(error: SkillError) -> bool:
    """Tell whether an error means that a model asked for something that is not there.

    What is there and not handed out, or not now, is none.
    """
    return isinstance(error, _MISSES)


def replacement_advice(error: SkillError, catalog: Catalog) -> str:
    """Return the sentence that names who took the place of a skill that is gone.

    Only what ``catalog`` lists is named: it is that of whoever asked.
    """
    heir = (
        catalog.replacement_of(error.name)
        if isinstance(error, SkillNotFoundError)
        else ""
    )
    return f"The skill {clean_line(heir)} takes its place: load it." if heir else ""


def not_found_key(error: SkillError) -> str:
    """Return what was missed: the same text for the same id and file."""
    name = error.name if isinstance(error, _MISSES) else ""
    file = error.file if isinstance(error, ReferenceNotAllowedError) else ""
    return f"{echo(name)}/{echo(file)}"


def not_found_advice(
    error: SkillError, misses: int, same: int, catalog: Catalog
) -> str:
    """Return the sentence behind the error of a miss.

    The first miss of a turn says nothing more, the next ones what could be asked for.
    The third one of the same thing says that it is over. An id whose skill has a
    replacement gets that one's id instead.

    Args:
        error: What was raised.
        misses: How many misses there were in this turn, this one included.
        same: How many of them were of the same id and file.
        catalog: What may be asked for.
    """
    heir = replacement_advice(error, catalog)
    if same >= FINAL_ATTEMPT:
        return (
            f"This was miss number {same} of the same id: final. Do not call this tool "
            "for it again; go on without it, or tell the user what is missing."
        )
    if misses <= 1:
        return heir
    if heir or isinstance(error, ReferenceNotAllowedError):
        return heir  # its message lists the files
    wanted = error.name if isinstance(error, SkillNotFoundError) else ""
    ids = _nearest(wanted, [entry.id for entry in catalog.entries])
    more = len(catalog) - len(ids)
    rest = f", and {more} more" if more > 0 else ""
    return f"Valid ids: {', '.join(map(clean_line, ids))}{rest}."


def _nearest(wanted: str, ids: list[str]) -> list[str]:
    if len(ids) <= MAX_NAMED:
        return ids
    from satchel.text import nearest

    return nearest(wanted[:MAX_NAME_CHARS], ids, MAX_NAMED, 0.3) or ids[:MAX_NAMED]


@dataclass(frozen=True, slots=True)
class ResultNotes:
    """Answers the hooks of the style's tools; see `satchel.load.ResultHooks`."""

    offers: ToolRegistry
    reading: SkillAccess
    memory: SessionState

    def instead(self, loaded: Loaded) -> str | None:
        """Return a line in place of a text that the model can see anyway."""
        if not self.memory.shows(loaded):
            return None
        self.memory.save_repeat(loaded)
        file = printable(loaded.file, keep="")
        what = "Skill" if loaded.is_instructions else f"File {file!r} of skill"
        return f"{what} {loaded.id!r} is unchanged; its text stands above. Use it."

    def notes(self, loaded: Loaded) -> tuple[str, ...]:
        """Return what to say beside a text: tools, the folder, what changed."""
        notes = list(self._on_skill(loaded)) if loaded.is_instructions else []
        changes = self.memory.changes()
        return (*notes, changes) if changes else tuple(notes)

    def missed(self, error: SkillError) -> str | None:
        """Count a miss; return what to say behind its message."""
        said = self.memory.changes()
        if is_not_found(error):
            misses, same = self.memory.miss(not_found_key(error))
            told = not_found_advice(error, misses, same, self.reading.listed)
            said = " ".join(filter(None, (told, said)))
        return said or None

    def _on_skill(self, loaded: Loaded) -> Iterator[str]:
        if self.memory.shows(loaded):  # it was said where the text is
            return
        owner = loaded.descriptor
        carried = self.offers.carried(owner)
        opened = [t.name for t in carried.tools if self.reading.may_call(owner, t.name)]
        if opened:
            yield f"Tools that are open now: {', '.join(opened)}."
        yield from (f"{note}." for note in carried.notes)
        for tool in carried.tools:
            if tool.name not in opened:
                yield f"tool {tool.name!r} is not allowed here."
        staged = self.reading.staged(owner)
        if staged is not None:
            yield from staged.notes
