"""What no pack lists, told as findings; and which of it may be listed after all."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Final

from satchel.errors import rename_advice
from satchel.files._confined import escape_name, folded_name
from satchel.files._exclusion import JUDGED_BYTES, ExclusionKind, exclusion_kind
from satchel.lazy import lazy_pattern
from satchel.model import Finding

# Names that files without a secret have, too: what is in the file decides.
_JUDGED: Final = lazy_pattern(
    r"\.env\.(?:dist|example|sample|template|tmpl)|(?:example|sample|template)\.env"
    r"|.*\.(?:asc|key|pem)"
)
_SECRET: Final = lazy_pattern(
    rb"PRIVATE KEY|BEGIN PGP MESSAGE|^\s*(?:export\s+)?\w+\s*=\s*[\"']?"
    rb"(?!\S*(?:change|dummy|example|here|placeholder|sample|test|xxx|your))"
    rb"(?=\S*[0-9])(?=\S*[a-z])[\w+/=.-]{16}",
    re.IGNORECASE | re.MULTILINE,
)


def may_be_public(path: str, read: Callable[[], bytes] | None = None) -> bool:
    """Return whether a file that is named like key material need not be any.

    ``read`` gives what is in it, up to `JUDGED_BYTES` and one; then that decides.
    """
    folder, _, name = path.lower().rpartition("/")
    if exclusion_kind(folder) or not _JUDGED.fullmatch(name):
        return False
    try:
        data = read() if read is not None else None
    except OSError:  # a link, or nothing that can be read
        return False
    begins = {".key": b"PK\x03\x04", ".pem": b"-----BEGIN "}.get(name[-4:], b"")
    return data is None or (
        len(data) <= JUDGED_BYTES
        and data.lstrip().startswith(begins)
        and not _SECRET.search(data)
    )


_SKIPPED: Final = {
    "link-in-pack": ("a link is not followed", "put the file itself into the pack"),
    "special-file": ("it is a FIFO, a device or a socket", "remove it"),
    "unreadable-file": ("it cannot be read", "give the right to read it"),
    "unsafe-file-name": ("no path may name it", "rename it"),
}


def left_out_findings(
    excluded: Mapping[ExclusionKind, list[str]],
    skipped: Mapping[str, list[tuple[str, str]]],
    paths: Iterable[str],
) -> Iterator[Finding]:
    """Yield the findings of a listing, with pack-relative paths.

    ``excluded`` are paths by kind, ``skipped`` paths and details by code, and ``paths``
    what is listed, of which some may collide.
    """
    for kind, names in sorted(excluded.items()):
        first, count = ", ".join(map(escape_name, sorted(names)[:5])), len(names)
        named = f": {first}" + f" and {count - 5} more" * (count > 5)  # noqa: PLR2004
        entries = "entry" if count == 1 else "entries"
        of = partial(Finding.of, "files-left-out", kind=kind, count=count)
        yield of(entries=entries, named=named)
    for code, places in sorted(skipped.items()):
        path, detail = min(places)
        reason, fix = _SKIPPED[code]
        more = f" (and {len(places) - 1} more like it)" if len(places) > 1 else ""
        message = f"not listed: {detail or reason}{more}"
        yield Finding(code, "warning", message, escape_name(path), fix=fix)
    seen: dict[str, str] = {}
    for path in paths:
        # One of the two files would silently replace the other on some file systems.
        first = seen.setdefault(folded_name(path), path)
        if first != path:
            at = "colliding-file-names", path
            yield Finding.of(*at, severity="warning", first=first, fix=rename_advice())
