"""What a session adds to the results of its tools."""

from collections.abc import Iterator
from dataclasses import dataclass

from satchel.errors import SkillError
from satchel.model import Loaded
from satchel.runtime.conversation.memory import Memory
from satchel.runtime.conversation.misses import advice, is_miss, missed_by
from satchel.runtime.conversation.reading import Reading
from satchel.runtime.offers import Offers
from satchel.text import printable

__all__ = ["Comments"]


@dataclass(frozen=True, slots=True)
class Comments:
    """Answers the hooks of the style's tools; see `satchel.load.Hooks`."""

    offers: Offers
    reading: Reading
    memory: Memory

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
        if is_miss(error):
            misses, same = self.memory.miss(missed_by(error))
            told = advice(error, misses, same, self.reading.listed)
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
