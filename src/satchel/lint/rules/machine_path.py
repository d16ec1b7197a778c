"""Paths that are true on one machine."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint.context import Context, rule
from satchel.lint.reading import documents, text_of
from satchel.model import Finding

__all__ = ["machine_path"]

_HOME: Final = re.compile(
    r"(?<![\w./~\\-])(?:/Users/|/home/|[A-Za-z]:\\{1,2}Users\\{1,2}|[A-Za-z]:/Users/)"
    r"([A-Za-z0-9][\w.-]*)(?=[/\\])"
)
_ANYBODY: Final = re.compile(
    r".*(?:user|name|example|your|sandbox|xxx).*"
    r"|a|admin|agent|alice|app|bar|bob|claude|coder|codespaces?|default|deploy|dev"
    r"|developer|docker|foo|git|guest|jane|john|jovyan|linuxbrew|me|my|node|pi|public"
    r"|root|runner|shared|some(?:body|one)|suspect|test|ubuntu|vagrant|vscode|vsts|xyz"
    r"|yo?u",
)
"""Names that stand for whoever reads, or that a system gives."""


@rule("machine-path")
def machine_path(pack: Context) -> Iterator[Finding]:
    """Yield a warning on the first path of each file into somebody's home folder."""
    for path, _ in documents(pack):
        text = text_of(pack, path)
        if "/Users/" not in text and "/home/" not in text and "Users\\" not in text:
            continue
        for match in _HOME.finditer(text):
            if _is_anybody(match[1].lower().rstrip(".")):
                continue
            yield Finding(
                "machine-path",
                "warning",
                f"{match[0]} is the home folder of one person",
                path,
                text.count("\n", 0, match.start()) + 1,
                fix="write a path from the skill's root, or with `~` for any home",
            )
            break


def _is_anybody(name: str) -> bool:
    return _ANYBODY.fullmatch(name) is not None
