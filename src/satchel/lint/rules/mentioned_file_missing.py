"""Files of the pack that its text names, and that are not there."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint.context import Context, rule
from satchel.lint.reading import body, document, documents, text_of
from satchel.lint.targets import find_case, find_target, held_paths
from satchel.model import SKILL_FILE, Finding

__all__ = ["mentioned_file_missing"]

_MENTION: Final = re.compile(
    r"(?:references|scripts|assets)/(?:[\w.-]{1,80}/){0,8}[\w-][\w.-]{0,80}"
    r"\.[A-Za-z]\w{0,7}(?![\w/*{<\[(-])",
    re.ASCII,
)
_BEFORE: Final = re.compile(
    r"(?:(?:\A|[^\w./~\\}$>@-])(?:\./)?|SKILL_DIR\}?/|\{baseDir\}/)\Z", re.ASCII
)
"""What may stand before: nothing of a longer path, but for the skill's own folder."""
_BEFORE_CHARS: Final = 12
_FOR_EXAMPLE: Final = re.compile(
    r"\A[^\w\n]*(?:examples?\b|\u793a\u4f8b)[^\w\n]{1,4}"  # a label, in Chinese too
    r"|\b(?:e\.g\.|for (?:example|instance)\b|such as )|\u4f8b\u5982",
    re.IGNORECASE,
)
"""What stands before, in its line, where a path shows what paths are like."""
_LINE_CHARS: Final = 400
_EXAMPLE: Final = re.compile(
    r"(?:\A|[/_-])(?:your|my|example|foo|bar|baz|xxx|name|filename|file|topic|some\w*)"
    r"(?:[._-]|\Z)",
    re.IGNORECASE,
)


@rule("file-name-case", "mentioned-file-missing")
def mentioned_file_missing(pack: Context) -> Iterator[Finding]:
    """Yield each path below references/, scripts/ or assets/ that leads to no file.

    Once for each path and file, at its first place. Links are for `dead_link`. A note
    where the pack has no such folder: the text may mean the user's project.
    """
    for path, _ in documents(pack):
        text = text_of(pack, path)
        if "references/" in text or "scripts/" in text or "assets/" in text:
            yield from _missing(pack, path, text)


def _missing(pack: Context, path: str, text: str) -> Iterator[Finding]:
    held = held_paths(pack)
    told = {
        target.path
        for link in document(pack, path).links
        if (target := find_target(pack, path, link.to)) is not None
    }
    begin = len(text) - len(body(pack).text) if path == SKILL_FILE else 0
    line, counted = 1, 0
    for match in _MENTION.finditer(text, begin):
        wanted, at = match[0], match.start()
        if wanted in told or wanted in held or _EXAMPLE.search(wanted):
            continue
        if not _BEFORE.search(text[max(0, at - _BEFORE_CHARS) : at]):
            continue
        if _FOR_EXAMPLE.search(text[text.rfind("\n", 0, at) + 1 : at][:_LINE_CHARS]):
            continue
        told.add(wanted)
        line += text.count("\n", counted, at)
        counted = at
        case = find_case(pack, wanted)
        bucket = wanted.partition("/")[0]
        yield Finding(
            "file-name-case" if case else "mentioned-file-missing",
            "warning" if case or bucket == "references" or bucket in held else "note",
            f"{wanted} is {case} in the pack: where case counts it is not found"
            if case
            else f"the text names {wanted}, and the pack has no such file",
            path,
            line,
            fix=f"write {case}"
            if case
            else "add the file, or name the one that is meant",
        )
