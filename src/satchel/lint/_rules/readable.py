"""Listed files that would not load."""

from collections.abc import Iterator

from satchel.errors import LimitExceededError, ReferenceNotFoundError, SkillError
from satchel.lint._context import LintContext, rule
from satchel.model import Finding


@rule()
def readable(pack: LintContext) -> Iterator[Finding]:
    """Yield each listed file that a load would refuse, with the code of the load."""
    for path in pack.descriptor.resources:
        try:
            pack.read(path)
        except ReferenceNotFoundError:
            # Making the list has reported it already.
            continue
        except SkillError as error:
            fix = (
                "make the file smaller, or split it"
                if isinstance(error, LimitExceededError)
                else "give the user of the agent the right to read it, or remove it"
            )
            yield Finding.of_error(error, path, fix=fix)
