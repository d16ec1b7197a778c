"""How much is accepted, and what a name may be; with sources."""

import re
from dataclasses import dataclass
from typing import Final

_KIB: Final = 1024
_MIB: Final = 1024 * 1024

MAX_NAME_CHARS: Final = 64
MAX_DESCRIPTION_CHARS: Final = 1_024
# Source of these three: agentskills.io/specification, "Frontmatter".
MAX_COMPATIBILITY_CHARS: Final = 500

# The least and the most in profile ``strict``, with white space folded.
STRICT_DESCRIPTION_CHARS: Final = (20, 500)

# The characters of a name. Source: agentskills.io/specification, field ``name``.
SPEC_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")

# The characters of a name in profile ``strict``.
STRICT_NAME: Final = re.compile(r"[a-z][a-z0-9-]*")

# The characters of a name that every profile and every client accepts.
PORTABLE_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")

_NOT_PORTABLE: Final = re.compile(r"[^a-z0-9]+")
_MARKS: Final = re.compile("[\u0300-\u036f]+")


# The length is no part of the patterns, so that a long name can be named as such.
def is_name(name: str, characters: re.Pattern[str] = SPEC_NAME) -> bool:
    return len(name) <= MAX_NAME_CHARS and characters.fullmatch(name) is not None


def portable_name(text: str) -> str:
    """Return the nearest name that every profile accepts; empty where there is none.

    Our own writers emit only such names: `PORTABLE_NAME`, at most 64 characters.
    """
    if not text.isascii():
        from unicodedata import normalize

        text = _MARKS.sub("", normalize("NFKD", text))  # "é" is "e" and a mark
    words = _NOT_PORTABLE.sub("-", text.strip().lower()).lstrip("-0123456789")
    return words[:MAX_NAME_CHARS].strip("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on untrusted input; every one can be overridden by name.

    Over a bound is a `LimitExceededError` (or the finding ``limit-exceeded``) that
    names the limit, the actual amount and the unit. The defaults come from
    62,114 public SKILL.md files and the limits of other loaders
    (docs/explanation/limits.md); what a number comes from is below it.
    """

    frontmatter_bytes: int = 64 * _KIB
    """Bytes between the fences. Largest seen: 5.1 thousand characters."""
    skill_md_bytes: int = 1 * _MIB
    """Bytes of one SKILL.md. Largest seen: 101 KB; 99.9 % are under 66 KB."""
    yaml_depth: int = 16
    """Nested collections in a frontmatter. Deepest seen: 7."""
    yaml_nodes: int = 1_000
    """Scalars and collections in a frontmatter. Most seen: 136."""
    name_chars: int = 255
    """Characters of a name. The specification has 64; a folder can have 255 at most,
    and a name, unlike a description, is never cut to fit a prompt."""
    pack_files: int = 2_000
    """Files in one pack. MCP's skills extension requires hosts to take 512."""
    pack_bytes: int = 50 * _MIB
    """Bytes of all files in one pack. MCP's skills extension: 16 MiB."""
    file_bytes: int = 10 * _MIB
    """Bytes of one bundled file that a load may return."""
    pack_depth: int = 8
    """Folders below a pack's own."""
    scan_depth: int = 6
    """Folders below a source's root that are searched; the client guide says 4 to 6."""
    scan_entries: int = 500_000
    """Directory entries that one scan looks at; room for 100,000 small packs of a
    folder, a SKILL.md and three entries more (102,692 public ones had 205,789)."""
    archive_files: int = 512
    """Files in one archive that is unpacked: what MCP's skills extension allows."""
    archive_bytes: int = 16 * _MIB
    """Bytes of all files that come out of one archive: as MCP's skills extension."""
    archive_ratio: int = 100
    """Bytes that may come out of an archive for each byte of it; text gives 3 to 10.
    It counts from 256 KiB on, for a tar of tiny files is mostly padding."""
    index_bytes: int = 8 * _MIB
    """Bytes of an index of skills that is fetched; 10,000 entries have some 4 MB."""
    index_skills: int = 10_000
    """Skills of one index that are looked at."""
    eval_queries: int = 20_000
    """Different queries of one evaluation; the largest public set has 1,382."""
    release_bytes: int = 64 * _MIB
    """Bytes of the release.json that lists a release; 10,000 skills have 9 MB."""


DEFAULT_LIMITS = Limits()
