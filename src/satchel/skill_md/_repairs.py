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
