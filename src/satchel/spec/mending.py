"""A file whose frontmatter cannot be read as it stands: mended, or told why not."""

import re
from typing import Final

from satchel.model import Finding, Limits
from satchel.spec.fences import Span, span_of_text
from satchel.spec.frontmatter import Problem, Tree, read_tree
from satchel.spec.loose import HEADING, body_of, loose_span, with_line_feeds
from satchel.spec.opening import Opened, over
from satchel.spec.quoting import quoted
from satchel.spec.repair import mend
from satchel.spec.sentence import first_sentence
from satchel.text.decoding import decode

__all__ = ["no_description", "open_broken"]


def open_broken(
    data: bytes, span: Span | None, problem: Problem | None, limits: Limits
) -> Opened | Finding:
    """Return the frontmatter of a file in which `open_file` found none, or the error.

    ``problem`` is what the parser had against the text in ``span``, where that is
    between two fences.
    """
    if span is None or problem is None:
        return _open_text(data, limits)
    try:
        head = data[span.head : span.end].decode()
    except UnicodeDecodeError:
        return _open_text(data, limits)
    if HEADING.search(head):
        return _open_text(data, limits)
    return _mend(head, problem, span.line, (), limits)


def _open_text(data: bytes, limits: Limits) -> Opened | Finding:
    """Do the same for a file that is not UTF-8, or whose fences are out of place."""
    if not data.strip():
        return _error("empty-file", "the file is empty", None, _TEMPLATE)
    decoded = decode(data)
    text, repairs = with_line_feeds(decoded.text), decoded.findings
    if text is not decoded.text and "\r" in decoded.text:
        repairs += (_OLD_LINE_ENDS,)
    span = span_of_text(text)
    if span is None or HEADING.search(text, span.head, span.end):
        loose = loose_span(text)
        if loose is None:
            return _no_frontmatter(text)
        span, repairs = loose[0], repairs + loose[1]
    head = text[span.head : span.end]
    raw = head.encode("utf-8", "replace")
    if len(raw) > limits.frontmatter_bytes:
        return over("frontmatter_bytes", limits.frontmatter_bytes, len(raw))
    tree = read_tree(raw, limits)
    if isinstance(tree, Tree):
        return Opened(tree, raw, span.line, repairs)
    return _mend(head, tree, span.line, repairs, limits)


def _mend(
    head: str,
    problem: Problem,
    line: int,
    repairs: tuple[Finding, ...],
    limits: Limits,
) -> Opened | Finding:
    mended = mend(head, problem, limits, line=line)
    if isinstance(mended, Problem):
        at = mended.line + line - 1 if mended.line else None
        return _error(mended.code, mended.message, at, _FIXES.get(mended.code, ""))
    return Opened(mended.tree, mended.head, line, repairs + mended.findings)


def _no_frontmatter(text: str) -> Finding:
    if _LINK.fullmatch(text):
        return _error(
            "link-text",
            f"the file holds only the path {text.strip()!r}, as a link does that was"
            " checked out as a file",
            1,
            "put the file itself here, or check out with links",
        )
    sentence = first_sentence(text)
    fix = _TEMPLATE
    if sentence:
        fix += f"; the text offers `description: {quoted(sentence)}`"
    return _error("no-frontmatter", "the file does not begin with frontmatter", 1, fix)


def no_description(data: bytes, line: int | None, path: str) -> Finding:
    """Return the error of a pack without a description, with what its body offers."""
    sentence = first_sentence(body_of(decode(data).text))
    offer = f"write `description: {quoted(sentence)}`" if sentence else ""
    return Finding(
        "missing-description",
        "error",
        "there is no description, so that no model would know when to use it",
        path,
        line,
        offer or "say in `description:` what it does and when to use it",
    )


_TEMPLATE: Final = (
    "begin it with a line ---, then `name:`, `description:`, and --- again"
)
_OLD_LINE_ENDS: Final = Finding(
    "old-line-ends",
    "warning",
    "lines end in a carriage return alone, so that others see one line",
    line=1,
    fix="save the file with line feeds",
)
_LINK: Final = re.compile(r"\s*[^\s:*]+/[^\s:*]+\.md\s*", re.IGNORECASE)
_FIXES: Final = {
    "yaml-alias": "write the value out, or put it in quotes if it is text",
    "yaml-anchor": "take the & away, or put the value in quotes if it is text",
    "yaml-tag": "take the ! away, or put the value in quotes if it is text",
    "limit-exceeded": "shorten it, or raise the limit",
    "empty-frontmatter": "write `name:` and `description:` between the fences",
    "frontmatter-not-mapping": "write `name:` and `description:` between the fences",
    "complex-key": "put the value in quotes if it is text",
    "invalid-yaml": "put values with special characters in double quotes",
}


def _error(code: str, message: str, line: int | None, fix: str) -> Finding:
    return Finding(code, "error", message, line=line, fix=fix)
