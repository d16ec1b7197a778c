"""The repairs of a SKILL.md, by code; their sentences are in ``satchel/codes``."""

from typing import Final

# The frontmatter is where no reader of the specification would look for it.
FENCE_REPAIRS: Final = frozenset(
    [
        *("text-before-frontmatter", "frontmatter-in-code-block", "odd-fence"),
        *("no-opening-fence", "no-closing-fence", "text-after-closing-fence"),
    ]
)

# What is between the fences is not YAML, or not text where text has to be.
YAML_REPAIRS: Final = frozenset(
    [
        *("unquoted-colon", "reserved-character", "block-text", "bad-quotes"),
        *("bad-escape", "tab-indentation", "indentation", "unindented-text"),
        *("kept-as-text", "control-characters", "marked-keys", "stray-text"),
        *("translated-keys", "description-not-text"),
    ]
)

# A repair that leaves text out: only the author can write it down.
LOSSY_REPAIR: Final = "translated-keys"

# Repairs that `satchel check --fix` writes into the file as they were read.
WRITTEN_REPAIRS: Final = (FENCE_REPAIRS | YAML_REPAIRS) - {
    LOSSY_REPAIR,
    "description-not-text",
}

# Findings of a frontmatter that no reader of plain YAML 1.2 would read as it is read
# here: a host that compares field by field would call its skill forged.
READ_DIFFERENTLY: Final = (
    FENCE_REPAIRS
    | YAML_REPAIRS
    | {"not-utf8", "duplicate-key", "missing-name", "missing-description"}
)
