"""Measure a client again, and say what changed since the committed data.

The client is installed again first, so that it is the newest release. The table is in
Markdown, to be put into a changelog: a weekly job needs no more than its output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tools.listings.recording import read_recorded, record, write_recorded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tools.listings.clients import Lister

_HEADS: Final = ("client", "version", "library", "window", "was", "is")
_STATES: Final = ("whole", "shortened", "left out")


def changes(client: Lister) -> list[str]:
    """Return the table's lines; write what is shown now.

    Raises:
        UnavailableError: It cannot be had or run here.
    """
    before = read_recorded().get(client.key)
    client.remove()
    now = record(client)
    write_recorded({client.key: now})
    return [*changes_table(client.key, before or {"version": "-", "windows": {}}, now)]


def changes_table(
    key: str, before: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[str]:
    """Yield a row for each list that is another one than before."""
    version = f"{before['version']} -> {now['version']}"
    if before["version"] == now["version"]:
        version = str(now["version"])
    rows = [*_rows(before["windows"], now["windows"])]
    if not rows:
        yield f"{key} {version}: it shows the same."
        return
    yield f"| {' | '.join(_HEADS)} |"
    yield f"|{'---|' * len(_HEADS)}"
    for row in rows:
        yield f"| {' | '.join((key, version, *row))} |"


def _rows(
    before: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[tuple[str, str, str, str]]:
    for window, libraries in now.items():
        for name, row in libraries.items():
            old = before.get(window, {}).get(name)
            if old != row:
                yield name, f"{int(window):,}", _said(old), _said(row)


def _said(row: list[Any] | None) -> str:
    """Return what was shown; another digest alone is another text or order."""
    if row is None:
        return "not measured"
    *counts, digest = row
    parts = [f"{n} {word}" for n, word in zip(counts, _STATES, strict=True) if n]
    return f"{', '.join(parts) or 'nothing'} ({digest[:4]})"
