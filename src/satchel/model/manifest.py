"""The parsed frontmatter of a SKILL.md: the union of what every dialect can say."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

__all__ = ["NO_CLIENT_FIELDS", "ClientFields", "Json", "Manifest"]

Json: TypeAlias = (
    str
    | int
    | float
    | bool
    | Mapping[str, "Json"]
    | list["Json"]
    | tuple["Json", ...]
    | None
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFields:
    """Fields beyond the specification that well-known clients honour.

    Each is normalised to one form whatever spelling the author chose; None or an
    empty tuple means that the manifest is silent.

    Source: the documentation of Claude Code, Codex, VS Code, OpenClaw, Hermes and
    OpenHands, as summarised in docs/reference/frontmatter.md.
    """

    when_to_use: str = ""
    model_invocable: bool = True
    user_invocable: bool = True
    argument_hint: str = ""
    arguments: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    model: str | None = None
    effort: str | None = None
    context: str | None = None
    agent: str | None = None
    background: bool | None = None
    shell: str | None = None
    paths: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    required_environment: tuple[str, ...] = ()
    short_description: str = ""
    internal: bool = False


NO_CLIENT_FIELDS: Final = ClientFields()


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One pack's manifest, normalised; ``frontmatter`` keeps it as it was written.

    String fields hold the author's text (``version: 1.10`` is ``"1.10"``), lists are
    tuples, and an absent list is empty. ``declares_files`` tells whether any of
    references, scripts and assets was declared, which closes the pack to just
    those. ``frontmatter`` is JSON-safe, unknown fields included.
    """

    name: str
    description: str
    version: str = "1.0.0"
    author: str | None = None
    license: str | None = None
    compatibility: str | None = None
    allowed_tools: tuple[str, ...] = ()
    trigger_keywords: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    assets: tuple[str, ...] = ()
    declares_files: bool = False
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json], hash=False)
    client: ClientFields = NO_CLIENT_FIELDS
    status: str = ""
    replaced_by: str = ""
    replaces: tuple[str, ...] = ()
    profile: str = ""
    frontmatter: Mapping[str, Json] = field(
        default_factory=dict[str, Json], hash=False, repr=False
    )
