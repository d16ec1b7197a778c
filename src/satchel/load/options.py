"""The choices inside a style."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["DEFAULT_STYLE_OPTIONS", "Content", "Envelope", "Escape", "StyleOptions"]

Envelope = Literal["2026-02", "extended"]
Content = Literal["file", "body"]
Escape = Literal["raw", "cdata", "entities"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleOptions:
    """How a style writes what was loaded. The defaults are the letter of the contract.

    ``envelope``, ``content`` and ``escape`` are of ``agent-skills``: ``extended`` adds
    the pack's files; ``body`` leaves the frontmatter out; ``cdata`` and ``entities``
    make well-formed XML of any text. ``always_body`` is of ``packs``: the body also
    where a file was asked for. ``show_root`` tells the pack's location, for an agent
    that can reach it; ``root`` is the absolute folder of a copy that it can reach.

    In every style the envelope ``extended`` also says how relative paths resolve, or
    with what the files are read.
    """

    envelope: Envelope = "2026-02"
    content: Content = "file"
    escape: Escape = "raw"
    always_body: bool = False
    show_root: bool = False
    root: str | None = None


DEFAULT_STYLE_OPTIONS = StyleOptions()
