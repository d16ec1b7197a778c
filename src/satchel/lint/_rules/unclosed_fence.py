"""A code block that is never closed."""

from collections.abc import Iterator

from satchel.lint._context import LintContext, documents, rule
from satchel.model import Finding


@rule("unclosed-fence")
def unclosed_fence(pack: LintContext) -> Iterator[Finding]:
    """Yield the first fence of each file that is not closed."""
    for path, document in documents(pack):
        for block in document.blocks:
            if not block.closed:
                yield Finding.of("unclosed-fence", path, block.line)
                # What follows is read the wrong way round, so further ones mean
                # nothing.
                break
