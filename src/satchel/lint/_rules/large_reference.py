"""A reference that is too long to read at once."""

from collections.abc import Iterator

from satchel.lint._context import LintContext, rule, text_of
from satchel.model import Finding
from satchel.text import EstimateCounter


@rule("large-reference")
def large_reference(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on each file below ``references/`` over the bound of tokens."""
    bound = pack.thresholds.reference_tokens
    sizes = {file.path: file.size for file in pack.descriptor.files}
    for path in pack.descriptor.references:
        # The estimate is four bytes a token, so most files need not be counted.
        if not bound or sizes.get(path, 0) <= bound * 4:
            continue
        tokens = EstimateCounter().count(text_of(pack, path))
        if tokens > bound:
            yield Finding.of("large-reference", path, tokens=tokens, bound=bound)
