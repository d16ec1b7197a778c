"""What the client that a pack is for will make of it, as far as that is known."""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from satchel.authoring.convert.draft import Conversion
from satchel.authoring.convert.targets import Target
from satchel.model import SKILL_FILE, Finding

if TYPE_CHECKING:
    from satchel.compat import Outcome

__all__ = ["foretell", "told"]


def foretell(conversion: Conversion, target: Target) -> Conversion:
    """Return the conversion with what is known of the client's own loader.

    A loader is the client's where they have a word of their names in common. Nothing is
    added where nothing is known.
    """
    draft = conversion.draft
    if draft is None or not target.folder:
        return conversion
    from satchel.compat import Candidate, loaders, predict

    chosen = [
        each
        for each in loaders()
        if each.kind == "client" and _words(each.title) & _words(target.client)
    ]
    others = tuple(file.path for file in draft.files if file.path != SKILL_FILE)
    candidate = Candidate(draft.skill_md, draft.name, files=others)
    return conversion.telling(told(predict(candidate, chosen), conversion.source))


def told(outcomes: Iterable["Outcome"], source: str) -> Iterator[Finding]:
    """Yield a warning for each loader that loses the pack, a note where it is cut."""
    from satchel.compat import VERDICTS

    for outcome in outcomes:
        verdict = outcome.verdict
        if verdict in {"loaded", "unknown"}:
            continue
        cut = verdict == "cut"
        yield Finding(
            "client-cuts" if cut else "client-refuses",
            "note" if cut else "warning",
            f"{outcome.loader.title}: {VERDICTS[verdict]}",
            f"{source}/{SKILL_FILE}",
            fix=outcome.fix or "see what satchel check --for says",
        )


def _words(title: str) -> set[str]:
    return set(_WORD.findall(title.lower())) - _SAY_NOTHING


_WORD: Final = re.compile(r"[a-z0-9]+")
_SAY_NOTHING: Final = frozenset(["agent", "and", "cli", "code", "skills"])
