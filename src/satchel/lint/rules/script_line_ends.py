"""Scripts whose first line ends as on Windows: no other system finds their program."""

from collections.abc import Iterator

from satchel.lint.context import Context, rule
from satchel.lint.reading import bytes_of
from satchel.model import Finding

__all__ = ["script_line_ends"]


@rule("script-line-ends")
def script_line_ends(pack: Context) -> Iterator[Finding]:
    """Yield each file that begins with ``#!`` and a line that ends in CR LF."""
    for path in pack.descriptor.resources:
        data = bytes_of(pack, path)
        if data.startswith(b"#!") and data.partition(b"\n")[0].endswith(b"\r"):
            yield Finding(
                "script-line-ends",
                "error",
                "the first line ends in CR LF, so that Linux and macOS look for a "
                "program whose name ends in CR",
                path,
                1,
                fix="save it with LF line ends",
            )
