"""The skills of an open library that another one hides."""

from collections.abc import Iterator

from satchel.checking._library import PackLibrary
from satchel.evals import (
    EvalFile,
    EvalLibrary,
    hidden_skills,
    pack_files,
    read_evals,
)
from satchel.model import Finding

CODE = "shadowed-skill"


def shadow_findings(library: PackLibrary) -> Iterator[Finding]:
    """Yield a finding for each skill that is hidden, by the evals of its own pack."""
    skills = EvalLibrary(library.packs, library.catalog.readers)
    cases = read_evals(eval_files(library), skills).cases
    yield from (shadow.finding() for shadow in hidden_skills(cases, skills)[1])


def eval_files(library: PackLibrary) -> Iterator[EvalFile | Finding]:
    """Yield the eval files of all packs, by the location of the pack."""
    packs = {pack.origin.location: pack for pack in library.packs}
    for _, pack in sorted(packs.items()):
        yield from pack_files(pack, library.reader(pack))
