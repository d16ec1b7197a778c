"""The tools that the manifest of a pack names."""

from collections.abc import Mapping
from typing import Final

from satchel.catalog._packs import TOOL_KEYS, is_tool_allowed
from satchel.model import Finding, Json
from satchel.skill_md import decode_items
from satchel.text import first_names

# Tools that one skill may name: OpenAI's limit for one whole request.
MAX_TOOLS: Final = 128

# Tools that one message names.
MAX_LISTED_TOOLS: Final = 10


def tool_names(
    metadata: Mapping[str, Json], allowed_tools: tuple[str, ...], path: str
) -> tuple[tuple[str, ...], tuple[Finding, ...]]:
    """Return the names in order, each once, and what is wrong with the fields.

    A field is a list of names, or a text of names separated by spaces or commas.
    """
    names: dict[str, None] = {}  # in order, each once
    findings: list[Finding] = []
    for key in TOOL_KEYS:
        value = metadata.get(key)
        if value is None:
            continue
        items = _names(value)
        if None in items:
            findings.append(
                Finding.of("field-kind", path, sentence="tool-names", key=key)
            )
        names |= {name: None for name in items if name}
    if (count := len(names)) > MAX_TOOLS:
        findings.append(
            Finding.of(
                "field-kind",
                path,
                sentence="too-many-tools",
                count=count,
                limit=MAX_TOOLS,
            )
        )
    # A closed one stays named, so that a load can say why it does not open.
    tools = tuple(names)[:MAX_TOOLS]
    closed = [name for name in tools if not is_tool_allowed(name, allowed_tools)]
    if closed:
        shown = first_names([*map(repr, closed)], MAX_LISTED_TOOLS)
        findings.append(Finding.of("tool-not-allowed", path, names=shown))
    return tools, tuple(findings)


def _names(value: Json) -> list[str | None]:
    """Return each name; None for what is none."""
    if isinstance(value, str):
        return list(decode_items(value.strip()))
    if isinstance(value, (list, tuple)):
        return [item.strip() if isinstance(item, str) else None for item in value]
    return [None]
