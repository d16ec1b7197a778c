"""Pages of HTML, and text for a page of Markdown."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from satchel.text import printable

# No script, and nothing from elsewhere: the page is safe to open and to attach.
_PAGE: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
{style}
</style>
</head>
<body>
{body}
</body>
</html>"""


def html_page(title: str, style: str, body: Iterable[str]) -> str:
    """Return a page of these lines, which are escaped already."""
    return _PAGE.format(title=title, style=style, body="\n".join(body))


_CELL_CHARS: Final = 400
_MARKUP: Final = re.compile(r"[\\`*_{}\[\]()~|!]")

_HTML: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})

# Where a hosted page would see a person, an issue or a link.
_CALLS: Final = re.compile(r"[@#](?=\w)|\bGH(?=-\d)|\bwww(?=\.)", re.IGNORECASE)


def markdown_text(text: str) -> str:
    """Return text that is not read as markup, a mention or a link to an issue."""
    text = _flat(text).translate(_HTML)
    text = _MARKUP.sub(r"\\\g<0>", text)
    # A zero-width space keeps a hosted page from mentioning people or linking issues.
    text = _CALLS.sub(r"\g<0>&#8203;", text)
    return text.replace("://", ":&#8203;//")


def markdown_details(
    summary: str, lines: Iterable[str], *, is_open: bool = False
) -> Iterator[str]:
    """Yield lines that a page folds below a summary; nothing where there are none."""
    lines = tuple(lines)
    if lines:
        state = " open" if is_open else ""
        yield from ("", f"<details{state}><summary>{summary}</summary>", "")
        yield from (*lines, "", "</details>")


def markdown_code(text: str) -> str:
    """Return a code span, with a longer fence than any row of back-ticks in it."""
    text = _flat(text).replace("|", "\\|")
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _flat(text: str) -> str:
    text = " ".join(printable(text, keep="").split())
    return text if len(text) <= _CELL_CHARS else f"{text[: _CELL_CHARS - 1]}…"
