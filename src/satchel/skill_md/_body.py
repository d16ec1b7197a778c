"""Where the body of a SKILL.md begins, whatever its fences, and its first sentence."""

import re
from typing import Final, NamedTuple

from satchel.lazy import lazy_pattern
from satchel.model import Finding
from satchel.skill_md._frontmatter import HEADING, Span

TolerantSpan = tuple[Span, tuple[Finding, ...]]

# What may come before the frontmatter: blank lines, HTML comments, a rule that an
# editor made of the fence, the head of a form upload that was saved with the file.
_BEFORE: Final = lazy_pattern(
    r"(?:[\s\ufeff\u200b]+|<!--.*?-->|[*_]{3,}[ \t]*\r?\n"
    r"|-{8,}\w+\r?\n(?:[\w-]+:[^\n]*\n)+)*",
    re.DOTALL,
)
_CODE_FENCE: Final = lazy_pattern(r"(`{3,}|~{3,})[\w-]*[ \t]*\r?\n")
_OPENING: Final = lazy_pattern(r"-{3,}[ \t]*(?:#[^\n]*)?\r?\n")
# What a hand or a word processor makes of a fence. As an opening one only where a field
# follows, as a closing one only where no other is there.
_ODD: Final = r"(?:--|[\u2013\u2014]+-?|-[\u2013\u2014])"
_ODD_OPENING: Final = lazy_pattern(rf"{_ODD}[ \t]*\r?\n(?=(?:name|description)[ \t]*:)")
_ODD_CLOSING: Final = lazy_pattern(
    rf"^(?:{_ODD}|-(?:[ \t]+-)+|={{3,}}|\*{{3,}}|_{{3,}}|\+{{3,}})[ \t]*"
    r"(?:\r?\n|\r?\Z)",
    re.MULTILINE,
)
_ESSENTIAL: Final = lazy_pattern(
    r"(?:name|description)[ \t]*:[ \t]"
    r"|\*{0,2}(?:名称|描述)\*{0,2}[：:]"  # noqa: RUF001
    r"|(\*\*|__)(?:name|description)(?::\1|\1:)"
)
# The last form is a fence with text on its line, as `---Text`.
_CLOSING: Final = lazy_pattern(
    r"^(?:-{3,}|\.{3})[ \t]*(?:\r?\n|\r?\Z)|^---(?=[^\s-])", re.MULTILINE
)
# A line without indent that is not YAML; and a field that no body begins with.
_PROSE: Final = lazy_pattern(
    r"^(?![\w.\"'-]+[ \t]*:(?:\s|$)|-\s|[]#}\"'\s])[^\n]", re.MULTILINE
)
_FIELD: Final = lazy_pattern(
    r"^(?:name|description|version|license|metadata|author|tags|homepage"
    r"|allowed-tools|user-invocable)[ \t]*:(?:\s|$)",
    re.MULTILINE,
)
_SHOWN_CHARS: Final = 200
_BLANK_LINE: Final = lazy_pattern(r"\n[ \t]*\r?\n")


def with_line_feeds(text: str) -> str:
    """Return a text whose lines end in CR alone with line feeds, as long as before."""
    return text if "\n" in text else text.replace("\r", "\n")


def before_frontmatter(text: str) -> str:
    """Return the text before the frontmatter, or before the code block around it."""
    before = _BEFORE.match(text)
    return before[0] if before else ""


def tolerant_span(text: str) -> TolerantSpan | None:
    """Return the span that was meant, and what is wrong with the fences, if any."""
    # The length stays the same, so the offsets are valid in the caller's text.
    text = with_line_feeds(text)
    start = len(before_frontmatter(text))
    findings: list[Finding] = []
    code = _CODE_FENCE.match(text, start)
    inner = code.end() if code else start
    opening = _OPENING.match(text, inner) or _ODD_OPENING.match(text, inner)
    if opening is None and not _ESSENTIAL.match(text, inner):
        return None
    # A byte order mark alone is fine: `find_span` accepts it too.
    if text[:start].strip("\ufeff"):
        findings.append(_fence_finding("text-before-frontmatter", text, 0))
    if code is not None:
        findings.append(_fence_finding("frontmatter-in-code-block", text, start))
    elif opening is None:
        findings.append(_fence_finding("no-opening-fence", text, inner))
    if opening is not None and opening[0].split() != ["---"]:
        findings.append(_fence_finding("odd-fence", text, inner))
    head = opening.end() if opening else inner
    end = _end(text, head)
    if code is not None:
        end = _inside_code(text, head, code[1], end)
    if end.wrong:
        findings.append(_fence_finding(end.wrong, text, end.at))
    line = text.count("\n", 0, head) + 1
    return Span(head, end.at, end.body, line), tuple(findings)


class _End(NamedTuple):
    """Where frontmatter ends, where the body begins, and what is wrong there."""

    at: int
    body: int
    wrong: str = ""


def _end(text: str, head: int) -> _End:
    closing = _CLOSING.search(text, head)
    limit = closing.start() if closing else len(text)
    heading = HEADING.search(text, head, limit)
    if heading is not None:
        at = heading.start()
        prose = _PROSE.search(text, at, limit)
        # It may be a YAML comment: a field after it means that the YAML continues.
        if (prose or closing is None) and not _FIELD.search(text, at, limit):
            return _odd_end(text, head, at) or _End(at, at, "no-closing-fence")
    if closing is None:
        odd = _odd_end(text, head, len(text))
        if odd is not None:
            return odd
        # Without any fence, the body begins with the first prose after an empty line.
        blank = _BLANK_LINE.search(text, head)
        prose = _PROSE.search(text, blank.end()) if blank else None
        at = prose.start() if prose else len(text)
        return _End(at, at, "no-closing-fence")
    wrong = ""
    if not closing[0].endswith("\n") and closing.end() < len(text):
        wrong = "text-after-closing-fence"
    elif closing[0].strip() not in {"---", "..."}:
        wrong = "odd-fence"
    return _End(limit, closing.end(), wrong)


def _odd_end(text: str, head: int, limit: int) -> _End | None:
    """Return the end at what was meant for the closing fence, before ``limit``."""
    odd = _ODD_CLOSING.search(text, head, limit)
    if odd is None or _FIELD.search(text, odd.end(), limit):
        return None
    return _End(odd.start(), odd.end(), "odd-fence")


def _inside_code(text: str, head: int, mark: str, end: _End) -> _End:
    """Correct the end for frontmatter in a Markdown code block."""
    line = re.compile(rf"^{re.escape(mark)}[ \t]*(?:\r?\n|\r?\Z)", re.MULTILINE)
    closed = line.search(text, head)
    if closed is None:
        return end
    # The code block ends first, so the fence that was found is in the body.
    if closed.start() < end.at:
        return _End(closed.start(), closed.end())
    # Only the frontmatter is in the block: its last line is not body text.
    if not text[end.body : closed.start()].strip():
        return end._replace(body=closed.end())
    return end


def _fence_finding(code: str, text: str, at: int) -> Finding:
    end = text.find("\n", at)
    before = text[at : end if end >= 0 else None].rstrip("\r")[:_SHOWN_CHARS]
    after = "---"
    if code in {"no-opening-fence", "no-closing-fence"}:
        after = f"---\n{before}"
    elif code == "text-after-closing-fence":
        after = f"---\n{before[3:].lstrip()}"
    line = text.count("\n", 0, at) + 1
    return Finding.of(code, "", line, before=before, after=after)


_LOOKED_AT_CHARS: Final = 3_000
_MAX_CHARS: Final = 200
_SKIPPED: Final = lazy_pattern(
    r"<!--.*?(?:-->|\Z)|^(```|~~~).*?(?:^\1|\Z)|^#{1,6}[^\n]*|^[ \t]*[-=*_|>!<][^\n]*",
    re.DOTALL | re.MULTILINE,
)
_NUMBER: Final = lazy_pattern(r"\A\d{1,3}[.)]\s+")
# Not after one letter, as in "e.g.".
_END: Final = lazy_pattern(r"(?<!\b\w)[.!?](?=\s|\Z)|[。！？]")  # noqa: RUF001
_HEADING: Final = lazy_pattern(r"^#{1,6}[ \t]+(\S[^\n]*)", re.MULTILINE)


def first_sentence(body: str) -> str:
    """Return the first sentence of running text, on one line, else the first heading.

    At most 200 characters; empty where the body holds neither.
    """
    text = body[:_LOOKED_AT_CHARS]
    prose = _SKIPPED.sub("", text).strip()
    if not prose:
        heading = _HEADING.search(text)
        return heading[1].strip()[:_MAX_CHARS] if heading else ""
    folded = _NUMBER.sub("", " ".join(prose.split("\n\n", 1)[0].split()))
    end = _END.search(folded)
    return (folded[: end.end()] if end else folded)[:_MAX_CHARS].strip()
