"""What the skills extension leaves out, as findings for whoever keeps the library."""

from collections.abc import Iterator

from satchel.errors import SkillError
from satchel.model import Finding
from satchel.serve.library import Library
from satchel.serve.mcp.fitness import FRONTMATTER, MEND, unfit, unlisted
from satchel.serve.mcp.served import Served, UnfitError
from satchel.spec.odd_fields import odd_fields

__all__ = ["withheld_from_mcp"]


def withheld_from_mcp(library: Library, *, read: bool = False) -> tuple[Finding, ...]:
    """Return a finding for each served skill that the skills extension does not list.

    It cannot carry it, or answers for it without listing it. By id. Without ``read`` no
    file is read, and the few are left out that only their SKILL.md can tell, such as a
    name that is a number in YAML; the extension leaves these out when it is asked for
    them. Whatever is left out, the tools serve.
    """
    return tuple(_findings(library, read=read))


def _findings(library: Library, *, read: bool) -> Iterator[Finding]:
    served = Served(library)
    view = library.view()
    catalog = view.catalog
    hidden = (
        held.descriptor
        for held in catalog.withheld
        if held.reason in ("hidden", "deprecated")
    )
    for entry in sorted((*catalog.entries, *hidden), key=lambda entry: entry.id):
        found = served.fitness.problem(catalog, entry)
        is_listed = entry.id in catalog
        if found is None and is_listed:
            found = served.fitness.unlisted(entry)
        if found is not None:
            yield found
        elif read:
            try:
                odd = odd_fields(served.frontmatter(view, entry))
                if odd and is_listed:
                    yield unlisted(entry, odd)
            except UnfitError as error:
                yield unfit(entry, FRONTMATTER, error.why, MEND)
            except (SkillError, OSError):
                continue  # what cannot be read now is no matter of its author
