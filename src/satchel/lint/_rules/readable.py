"""Files that are listed and would not load (A30)."""

from collections.abc import Iterator

from satchel.errors import LimitExceededError, ReferenceNotFoundError, SkillError
from satchel.lint._context import LintContext, rule
from satchel.model import Finding


@rule()
def readable(pack: LintContext) -> Iterator[Finding]:
    """Yield each listed file that a load would refuse, with the load's own code.

    A missing one is left out: whoever made the list has said so already.
    """
    for path in pack.descriptor.resources:
        try:
            pack.read(path)
        except ReferenceNotFoundError:
            continue
        except SkillError as error:
            fix = (
                "make the file smaller, or split it"
                if isinstance(error, LimitExceededError)
                else "let whoever runs the agent read it, or take it out of the pack"
            )
            yield Finding.of_error(error, path, fix=fix)
