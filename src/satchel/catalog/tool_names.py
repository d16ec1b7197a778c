"""The tools that a manifest names, whichever client's key it uses."""

from collections.abc import Mapping
from typing import Final

from satchel.catalog.narrowing import is_allowed
from satchel.model import Finding, Json
from satchel.spec.fields import decode_items

__all__ = ["TOOL_KEYS", "tool_names"]

TOOL_KEYS: Final = ("tools", "adk_additional_tools", "include_tools")
"""Keys of ``metadata``, in the order in which their tools open.

Source: ours, Google ADK's ``SkillToolset``, and the skills of deepagents.
"""

MAX_TOOLS: Final = 128
"""Tools that one skill may name: OpenAI's limit for one whole request."""

MAX_TOLD: Final = 10
"""Tools that one message names."""


def tool_names(
    metadata: Mapping[str, Json], allowed_tools: tuple[str, ...], path: str
) -> tuple[tuple[str, ...], tuple[Finding, ...]]:
    """Return the names in order, each once, and what is wrong with the fields.

    A field is a list of names, or a text of names between blanks or commas. What is
    neither names nothing and is said; so are names beyond `MAX_TOOLS`, and those that
    the skill's own ``allowed_tools`` keeps closed.
    """
    names: dict[str, None] = {}
    findings: list[Finding] = []
    for key in TOOL_KEYS:
        value = metadata.get(key)
        if value is None:
            continue
        found = _names(value)
        if None in found:
            findings.append(_ill_typed(key, path))
        names |= {name: None for name in found if name}
    if len(names) > MAX_TOOLS:
        findings.append(_too_many(len(names), path))
    kept = tuple(names)[:MAX_TOOLS]
    closed = [name for name in kept if not is_allowed(name, allowed_tools)]
    if closed:
        findings.append(_closed(closed, path))
    return kept, tuple(findings)


def _names(value: Json) -> list[str | None]:
    """Return each name; None for what is none."""
    if isinstance(value, str):
        return list(decode_items(value.strip()))
    if isinstance(value, (list, tuple)):
        return [item.strip() if isinstance(item, str) else None for item in value]
    return [None]


def _ill_typed(key: str, path: str) -> Finding:
    return Finding(
        "field-kind",
        "warning",
        f"metadata.{key}: want a list of names of tools, or a text with blanks between",
        path,
        fix=f'write `{key}: "first_tool second_tool"`',
    )


def _too_many(count: int, path: str) -> Finding:
    return Finding(
        "field-kind",
        "warning",
        f"metadata names {count} tools; only the first {MAX_TOOLS} open",
        path,
        fix="name the tools that the skill needs",
    )


def _closed(names: list[str], path: str) -> Finding:
    told = ", ".join(map(repr, names[:MAX_TOLD]))
    more = f" and {len(names) - MAX_TOLD} more" if len(names) > MAX_TOLD else ""
    return Finding(
        "tool-not-allowed",
        "warning",
        f"allowed-tools leaves out {told}{more}, which metadata names: closed",
        path,
        fix="name the tools in allowed-tools too, or leave that field out",
    )
