"""What a skill's own allowed-tools leaves open of the tools that it names."""

from fnmatch import fnmatchcase

__all__ = ["is_allowed"]


def is_allowed(tool: str, allowed_tools: tuple[str, ...]) -> bool:
    """Tell whether ``allowed_tools`` lets ``tool`` open; an empty one lets any.

    Of an entry with a rule, ``Bash(git:*)``, what stands before the parenthesis is
    the name; it may be a shell pattern, for many packs say ``*``.
    """
    if not allowed_tools:
        return True
    return any(
        fnmatchcase(tool, entry.partition("(")[0].strip()) for entry in allowed_tools
    )
