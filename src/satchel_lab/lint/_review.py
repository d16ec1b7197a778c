"""What `review.toml` lists, and whether a command in a file is to be run."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from satchel.lazy import lazy_pattern
from satchel_lab.lint._context import MARKDOWN, LintContext, document, text_of
from satchel_lab.lint._markdown import CodeBlock

_PART: Final = lazy_pattern(r"<([A-Z]+)>")
PAGES: Final = (*MARKDOWN, ".mdx")
_DATA: Final = (".json", ".jsonl", ".yaml", ".yml", ".toml")
# Lines of a code block above a command in which a comment may judge it.
_NEAR: Final = 8


@cache
def review_table() -> Mapping[str, Any]:
    import tomllib

    text = Path(__file__).with_name("review.toml").read_text("utf-8")
    head = text.partition("[[act]]")[0]  # half of the time is for the rest
    parts: Mapping[str, str] = tomllib.loads(head)["parts"]
    # A pattern has no quote of three, so that parts can be filled in before reading.
    while (filled := _PART.sub(lambda part: parts[part[1]], text)) != text:
        text = filled
    return tomllib.loads(text)


def is_in_use(pack: LintContext, path: str, at: int, *, prose: bool) -> bool:
    """Tell whether what a file has at a place is to be run, as far as its text shows.

    In Markdown, code is; a sentence only where it is ``prose``, or says to run it. What
    is warned of is not, nor a comment, nor a text that a program prints or looks for.
    """
    text, word = text_of(pack, path), review_table()["words"]
    before = text[text.rfind("\n", 0, at) + 1 : at]
    block = block_at(pack, path, text.count("\n", 0, at) + 1)
    is_page = path.lower().endswith(PAGES)
    if re.match(word["comment"], before) and (block or not is_page):
        return False
    bare = re.sub(r"\\.", "", before)
    if bare.count('"') % 2 or bare.count("'") % 2:
        runs = word["key" if path.lower().endswith(_DATA) else "runs"]
        if not re.search(runs, before) or re.match(word["says"], before):
            return False
    if not is_page:
        return True
    if not (block or prose or re.search(word["asks"], before)):
        return False
    around = _around(pack, path, text.split("\n"), text.count("\n", 0, at), block)
    return not any(re.search(word["warns"], text) for text in around)


def block_at(pack: LintContext, path: str, line: int) -> CodeBlock | None:
    """Return the code block of Markdown that a line is in, if any."""
    is_page = path.lower().endswith(PAGES)
    return document(pack, path).block_at(line) if is_page else None


def _around(
    pack: LintContext, path: str, lines: list[str], number: int, block: CodeBlock | None
) -> Iterator[str]:
    """Yield what says how a line is meant: it, what is above it, and its headings."""
    yield lines[number]
    word, above = review_table()["words"], number - 1
    if block:
        near = reversed(lines[max(block.line, number - _NEAR) : number])
        comment = next((line for line in near if re.match(word["comment"], line)), "")
        yield "" if re.search(word["praises"], comment) else comment
        # A list of patterns, or of what was noticed, has a line that says so above it.
        indent = len(lines[number]) - len(lines[number].lstrip())
        outer = (
            line
            for line in reversed(lines[block.line : number])
            if line.strip() and len(line) - len(line.lstrip()) < indent
        )
        yield next(outer, "")
        above = block.line - 2
        while above > 0 and not lines[above].strip():
            above -= 1
    yield lines[max(above, 0)]
    level = 7
    for heading in reversed(document(pack, path).headings):
        if heading.line <= number and heading.level < level:
            level = heading.level
            yield heading.text
