"""A pack, or one of its files, that is too large to travel."""

from collections.abc import Iterator

from satchel.lint._context import LintContext, rule
from satchel.model import SKILL_FILE, Finding


@rule("large-file", "pack-too-large")
def pack_too_large(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning on a pack over the bounds, a note on each file over its own.

    Source: MCP's skills extension, which asks hosts to take 512 files and 16 MiB.
    """
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
        yield Finding(
            "pack-too-large",
            "warning",
            f"the pack has {'; '.join(over)}",
            SKILL_FILE,
            fix="take out what no task needs, or let a script fetch it",
        )
    for file in files:
        if 0 < bounds.file_bytes < file.size:
            yield Finding(
                "large-file",
                "note",
                f"the file has {file.size:,} bytes; {bounds.file_bytes:,} are plenty",
                file.path,
                fix="make it smaller, split it, or let a script fetch it",
            )
