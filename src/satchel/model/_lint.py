"""What a check reports and refuses: severities, thresholds, and the table ``lint``."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Level: TypeAlias = Literal["error", "warning", "note", "off"]
# The least severity that fails a check.
FailOn: TypeAlias = Literal["error", "warning", "note", "never"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The amounts from which rules report something, and refuse nothing; 0 is none."""

    body_tokens: int = 5_000
    """Tokens of what a load returns, estimated. Source: agentskills.io/specification,
    "Progressive disclosure". Claude Code keeps as much of a skill when it compacts."""
    body_lines: int = 500
    """Lines of SKILL.md. Source: the same. 9.3 % of 62,114 public files have more."""
    body_bytes: int = 0
    """Bytes of the body. No limit by default, since the public specification has none:
    it would fall on most public packs. 5 KiB in profile ``strict``, whose packs are
    short, and where an earlier lint had its limit."""
    reference_tokens: int = 10_000
    """Tokens of one file below ``references/``: twice what a body may have. A file is
    loaded whole, so a longer one is better split."""
    description_chars: int = 800
    """Characters of the description, which is in every prompt; white space folded."""
    description_point_chars: int = 90
    """Characters at the beginning of a description that should say its point: what
    clients with little room show."""
    file_bytes: int = 1024 * 1024
    """Bytes of one bundled file: a tenth of what a load returns at most."""
    pack_bytes: int = 16 * 1024 * 1024
    """Bytes of all files of a pack: what MCP's skills extension asks hosts to take."""
    pack_files: int = 512
    """Files of a pack: what MCP's skills extension asks hosts to take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LintConfig:
    """The table ``lint`` as it was written: names of codes, and only what it gives."""

    profile: str = ""
    fail_on: str = ""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: tuple[tuple[str, Level], ...] = ()
    per_path: tuple[tuple[str, tuple[str, ...]], ...] = ()
    thresholds: tuple[tuple[str, int], ...] = ()


DEFAULT_LINT: Final = LintConfig()
