"""What skills take for granted: other skills, and that somebody runs their scripts."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from satchel.errors import ScriptsNotRunWarning, SkillError
from satchel.load import needed_skill, wording
from satchel.model import SKILL_FILE, Catalog, Descriptor, Loaded
from satchel.skill_md import first_request
from satchel.text import decode, first_names

if TYPE_CHECKING:
    from satchel.runtime._components import Components

# Skills that a message names.
_MOST_NAMED: Final = 10
# Where more skills are listed, each is looked at as it is loaded.
_MOST_LOOKED_AT: Final = 50


def needs_notes(
    components: "Components",
    catalog: Catalog,
    loadable: Callable[[str], Descriptor | None],
    loaded: Loaded,
    *,
    warn: bool,
) -> Iterator[str]:
    """Yield what a text takes for granted, for a model; ``warn`` the developer, too."""
    entry = loaded.descriptor
    if entry.requires and loaded.is_instructions:
        needed = {name: needed_skill(catalog, entry, name) for name in entry.requires}
        may = {name: one and loadable(one.id) for name, one in needed.items()}
        present = [one.id for one in may.values() if one and one.model_invocable]
        yield from wording.needs_notes(present, [n for n in may if may[n] is None])
    if components.runner is not None:
        return  # the tool is offered, or the policy says no when it is called
    if scripts := _scripts_to_run(components, catalog, entry, loaded):
        yield wording.SCRIPTS_NOT_RUN.format(first_names(scripts, _MOST_NAMED))
        # No call of a tool may raise, also where warnings are errors.
        with suppress(ScriptsNotRunWarning):
            _warn(components, [entry.id] if warn else [])


def look_for_scripts(components: "Components", catalog: Catalog) -> None:
    """Warn of those of a short list that ask to run a script."""
    latest = components.registry.latest  # several users may see parts of it
    if components.looked is not latest and len(catalog) <= _MOST_LOOKED_AT:
        components.looked = latest
        asking = (e.id for e in catalog if _scripts_to_run(components, catalog, e))
        _warn(components, [*asking])


def _scripts_to_run(
    components: "Components",
    catalog: Catalog,
    entry: Descriptor,
    loaded: Loaded | None = None,
) -> Sequence[str]:
    """Return what a text asks to run, as far as it is loaded or can be read at once."""
    reader, limit = catalog.readers.get(entry.source), components.accept.limits
    first = loaded.file if loaded else SKILL_FILE

    def read(path: str) -> str:
        with suppress(SkillError):
            if loaded and path == first:
                return loaded.text
            if reader is not None and reader.near:
                data = reader.read(entry.origin.key, path, limit.file_bytes)
                return decode(data).text
        return ""

    return sorted(first_request(first, read, entry.resources)[1])


def _warn(components: "Components", ids: Sequence[str]) -> None:
    """Tell the developer, once, of skills that ask to run a script."""
    if ids and not components.scripts_warned:
        components.scripts_warned = True
        message = wording.SCRIPTS_WARNING.format(first_names(ids, _MOST_NAMED))
        warnings.warn(message, ScriptsNotRunWarning, stacklevel=5)
