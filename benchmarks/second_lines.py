"""A second reading of lines, by programs that are not Satchel's.

Run by `benchmarks.lint_lines` with an interpreter that has markdown-it-py and
ruamel.yaml. It imports nothing of Satchel: it reads JSON lines (code, line, message,
before, text of the file) and answers each with the way it was checked and whether the
line is right; None for a code of which it knows no way.
"""

from __future__ import annotations

import io
import json
import re
import sys
import unicodedata
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from markdown_it import MarkdownIt
from ruamel.yaml import YAML

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Finding = dict[str, Any]
Verdict = tuple[str, bool]


def split(text: str) -> tuple[str, int, str, int]:
    """Return the frontmatter and the body, each with the number of its first line."""
    lines = text.split("\n")
    ends = [
        n for n, line in enumerate(lines) if n and re.match(r"(---|\.\.\.)\s*$", line)
    ]
    if not lines[0].lstrip("\ufeff").startswith("---") or not ends:
        return "", 1, text, 1
    head, body = lines[1 : ends[0]], lines[ends[0] + 1 :]
    return "\n".join(head), 2, "\n".join(body), ends[0] + 2


def in_yaml(*path: str) -> Callable[[Finding], Verdict]:
    """Check that a key stands on the line, by the marks of ruamel.yaml."""

    def check(finding: Finding) -> Verdict:
        head, first, _, _ = split(finding["text"])
        keys = [part.format(*names(finding)) for part in path]
        try:
            node = YAML().compose(io.StringIO(head))
            mark = None
            for key in keys:
                pairs = [(k, v) for k, v in node.value if str(k.value) == key]
                mark, node = pairs[-1][0].start_mark, pairs[-1][1]
        except Exception:  # noqa: BLE001 - what it refuses, text has to tell
            wanted = re.compile(rf"(?:\A|[\s{{,])[\"']?{re.escape(keys[-1])}[\"']?\s*:")
            line = finding["text"].split("\n")[finding["line"] - 1]
            return "text: the key is on the line", bool(wanted.search(line))
        return "ruamel.yaml: mark of the key", mark.line + first == finding["line"]

    return check


def names(finding: Finding) -> list[str]:
    """Return what a message quotes, or its first word where it quotes nothing."""
    quoted = re.findall(r"'([^']*)'", finding["message"])
    return quoted or [re.split(r"[\s:,]", finding["message"])[0]]


def dotted(finding: Finding) -> Verdict:
    """Check a message that begins with ``metadata.key``, or with a key."""
    return in_yaml(*names(finding)[0].split(".", 1))(finding)


def first_word(finding: Finding) -> Verdict:
    """Check a message that begins with a key, at the top or in ``metadata``."""
    key = re.split(r"[\s:,]", finding["message"])[0]
    head = split(finding["text"])[0]
    is_top = re.search(rf"^[\"']?{re.escape(key)}[\"']?\s*:", head, re.MULTILINE)
    return (in_yaml(key) if is_top else in_yaml("metadata", key))(finding)


def before(finding: Finding) -> Verdict:
    """Check that what a repair changes stands on the line."""
    wanted = finding["before"].split("\n")[0].strip()
    line = finding["text"].split("\n")[finding["line"] - 1]
    return "text: what it shows is there", bool(wanted) and wanted[:60] in line


def says(pattern: str, *, once: bool = True) -> Callable[[Finding], Verdict]:
    """Check that a piece of the message is on the line, and on none before it."""

    def check(finding: Finding) -> Verdict:
        match = re.search(pattern, finding["message"])
        wanted = match[1] if match else "\0"
        _, _, _, first = split(finding["text"])
        lines = finding["text"].split("\n")
        above = lines[first - 1 : finding["line"] - 1]
        right = wanted in lines[finding["line"] - 1]
        if not once:
            return "text: on the line", right
        edge = re.compile(rf"(?<![\w./-]){re.escape(wanted)}(?![\w/])")
        return "text: on the line, none above", right and not any(
            map(edge.search, above)
        )

    return check


def tokens(finding: Finding) -> tuple[list[Any], int]:
    """Return the tokens of markdown-it, and the number of the body's first line."""
    _, _, body, first = split(finding["text"])
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return parser.parse(body), first


def heading(finding: Finding) -> Verdict:
    """Check that a heading of the level begins there, behind one of the other."""
    levels = [int(each) for each in re.findall(r"level (\d)", finding["message"])]
    every, first = tokens(finding)
    previous = 0
    for token in every:
        if token.type != "heading_open" or token.level:
            continue
        level = int(token.tag[1])
        if token.map[0] + first == finding["line"]:
            return "markdown-it: headings", [level, previous] == levels
        previous = level
    return "markdown-it: headings", False


def fence(finding: Finding) -> Verdict:
    """Check that a fenced block begins there, and that its last line closes nothing."""
    every, first = tokens(finding)
    lines = finding["text"].split("\n")
    for token in every:
        if token.type == "fence" and token.map[0] + first == finding["line"]:
            last = lines[token.map[1] + first - 2].strip(" \t\r>")
            marks = token.markup
            closes = last.startswith(marks) and not last.strip(marks[0])
            alone = token.map[1] - token.map[0] == 1
            return "markdown-it: blocks", alone or not closes
    return "markdown-it: blocks", False


def link(finding: Finding) -> Verdict:
    """Check that a block on the line holds such a link, and the line its text."""
    anchor = re.search(r"anchor #(.*)$", finding["message"])
    path = re.search(r"nowhere: (.*?) is ", finding["message"])
    wanted = f"#{anchor[1]}" if anchor else (path[1] if path else "\0")
    every, first = tokens(finding)
    line = finding["text"].split("\n")[finding["line"] - 1]
    for to, start, end in targets(every):
        if wanted not in unquote(to).replace(
            "/./", "/"
        ).lower() and wanted not in unquote(to):
            continue
        if start + first <= finding["line"] < end + first:
            return "markdown-it: link in the block; text: on the line", (
                unquote(to)[:40] in unquote(line) or to[:40] in line
            )
    return "markdown-it: link in the block; text: on the line", False


def targets(every: list[Any]) -> Iterator[tuple[str, int, int]]:
    """Yield each destination with the lines of its block."""
    place = (0, 0)
    for token in every:
        place = tuple(token.map) if token.map else place
        for child in (token, *(token.children or ())):
            if child.type.startswith("html_"):
                for found in re.findall(
                    r"""(?:href|src)\s*=\s*["']([^"']*)""", child.content
                ):
                    yield found, *place
            to = child.attrs.get("href") or child.attrs.get("src")
            if to:
                yield str(to), *place


def title(finding: Finding) -> Verdict:
    """Check that no heading of level 1 is there, and that the body begins there."""
    every, first = tokens(finding)
    has = any(t.type == "heading_open" and t.tag == "h1" and not t.level for t in every)
    lines = finding["text"].split("\n")
    begin = next(
        n for n in range(first - 1, len(lines)) if lines[n].strip("\ufeff \t\r")
    )
    return "markdown-it: no h1; text: first line", not has and begin + 1 == finding[
        "line"
    ]


def hidden(finding: Finding) -> Verdict:
    """Check that the line is the first with a character of that kind."""
    kinds = {"zero-width": "Cf", "bidi": "Cf", "control": "Cc", "private": "Co"}
    want = next((v for k, v in kinds.items() if k in finding["message"]), "Cf")
    text = finding["text"].removeprefix("\ufeff")
    for number, line in enumerate(text.split("\n"), start=1):
        found = [c for c in line if unicodedata.category(c) == want and c not in "\t\r"]
        if number == finding["line"]:
            return "unicodedata: category on the line", bool(found)
    return "unicodedata: category on the line", False


def comment(finding: Finding) -> Verdict:
    """Check that ruamel.yaml ends the description where ` #` begins."""
    head, first, _, _ = split(finding["text"])
    node = YAML().compose(io.StringIO(head))
    value = next(v for k, v in node.value if k.value == "description")
    rest = head.split("\n")[value.end_mark.line][value.end_mark.column :]
    right = value.end_mark.line + first == finding["line"] and rest.lstrip().startswith(
        "#"
    )
    return "ruamel.yaml: end of the value", right


def scalar(finding: Finding) -> Verdict:
    """Check that ruamel.yaml reads one value there, and no keys."""
    head, first, _, _ = split(finding["text"])
    node = YAML().compose(io.StringIO(head))
    at = node.start_mark.line + first
    return "ruamel.yaml: no mapping", node.id == "scalar" and at == finding["line"]


def top(finding: Finding) -> Verdict:
    """Check a finding on the file's beginning."""
    return "text: the first line", finding["line"] == 1


WAYS: dict[str, Callable[[Finding], Verdict]] = {
    **dict.fromkeys(
        ("name-characters", "name-not-folder", "name-too-long", "name-not-portable"),
        in_yaml("name"),
    ),
    **dict.fromkeys(
        ("reserved-name", "duplicate-skill", "missing-name"), in_yaml("name")
    ),
    **dict.fromkeys(
        (
            *("description-lacks-when", "description-late-point", "description-length"),
            *("description-limits", "description-markup", "long-description"),
            *("description-lines", "missing-description"),
        ),
        in_yaml("description"),
    ),
    **dict.fromkeys(
        ("allowed-tools-form", "unlimited-shell"), in_yaml("allowed-tools")
    ),
    "compatibility-length": in_yaml("compatibility"),
    "license-file-missing": in_yaml("license"),
    "unknown-field": in_yaml("{0}"),
    "duplicate-key": in_yaml("{0}"),
    **dict.fromkeys(("metadata-not-text", "client-only-field"), dotted),
    **dict.fromkeys(
        (
            *("field-kind", "spec-incompatible", "listed-file-missing"),
            *("unsafe-declared-file",),
        ),
        first_word,
    ),
    **dict.fromkeys(
        (
            *("unquoted-colon", "block-text", "reserved-character", "bad-quotes"),
            *("kept-as-text", "unindented-text", "no-closing-fence", "odd-fence"),
            *("no-opening-fence", "text-after-closing-fence", "translated-keys"),
            *("description-not-text", "text-before-frontmatter"),
        ),
        before,
    ),
    **dict.fromkeys(("no-frontmatter", "byte-order-mark", "link-text"), top),
    "frontmatter-not-mapping": scalar,
    "skipped-heading": heading,
    "unclosed-fence": fence,
    **dict.fromkeys(("dead-link", "dead-anchor"), link),
    "undefined-link": says(r"label '(.*)' is", once=False),
    "missing-h1": title,
    "hidden-text": hidden,
    "description-comment-cut": comment,
    "envelope-breakout": says(r"^'(.*)' is a tag", once=False),
    "client-envelope": says(r"^(<.*?>) is a tag"),
    "client-only-syntax": says(r"^(.*?) is filled in"),
    "machine-path": says(r"^(.*?) is the home"),
    "backslash-path": says(r"^(.*?) is a path", once=False),
    "mentioned-file-missing": says(r"names (.*?), and"),
    "unpinned-command": says(r"^'(.*)' fetches"),
    "impossible-date": says(r"^(.*?) is written", once=False),
    "argument-in-code": says(r"place of (\$\d)", once=False),
}


def main() -> None:
    """Answer every line of the standard input."""
    for request in sys.stdin:
        finding = json.loads(request)
        way = WAYS.get(finding["code"])
        try:
            answer = way(finding) if way else None
        except Exception as error:  # noqa: BLE001 - then it is no agreement
            answer = (f"could not: {error!r}"[:80], False)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
