"""Bodies, files and packs that are too large."""

from collections.abc import Iterator

from satchel.model import SKILL_FILE, Finding
from satchel.text import EstimateCounter
from satchel_lab.lint._context import LintContext, body, rule, text_of


@rule("body-too-large")
def body_too_large(pack: LintContext) -> Iterator[Finding]:
    """Yield one warning that names each bound of the body that is passed."""
    bounds = pack.thresholds
    text = body(pack).text
    lines = pack.text.count("\n") + (not pack.text.endswith("\n"))
    over = [
        f"{amount:,} {unit}, {bound:,} are plenty"
        for amount, bound, unit in (
            (EstimateCounter().count(text), bounds.body_tokens, "tokens"),
            (lines, bounds.body_lines, "lines"),
            (len(text.encode("utf-8", "replace")), bounds.body_bytes, "bytes"),
        )
        # A bound of 0 is none.
        if 0 < bound < amount
    ]
    if over:
        yield Finding.of("body-too-large", SKILL_FILE, over="; ".join(over))


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


@rule("large-file", "pack-too-large")
def pack_too_large(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning on a pack over the bounds, a note on each file over its own."""
    bounds = pack.thresholds
    files = pack.descriptor.files
    size = sum(file.size for file in files)
    over = [
        f"{amount:,} {unit}, and hosts need not take more than {bound:,}"
        for amount, bound, unit in (
            (len(files), bounds.pack_files, "files"),
            (size, bounds.pack_bytes, "bytes"),
        )
        if 0 < bound < amount
    ]
    if over:
        yield Finding.of("pack-too-large", SKILL_FILE, over="; ".join(over))
    for file in files:
        if 0 < bounds.file_bytes < file.size:
            yield Finding.of(
                "large-file", file.path, size=file.size, file_bytes=bounds.file_bytes
            )
