"""A pack, or one of its files, that is too large to transfer."""

from collections.abc import Iterator

from satchel.lint._context import LintContext, rule
from satchel.model import SKILL_FILE, Finding


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
