"""Broken frontmatter taken apart into its top-level entries, by the look of its lines.

One entry that is not YAML then costs no other: each is parsed by itself, and only
what does not parse is touched.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

__all__ = ["Entry", "split_entries"]

_KEY: Final = re.compile(r"([A-Za-z_][\w.-]*|\"[^\"]+\"|'[^']+')[ \t]*:(?:[ \t]+|$)")
# Fields that begin an entry even where they are indented, or glued to their value.
_FIELD: Final = (
    r"(name|description|version|license|author|metadata|compatibility|allowed-tools"
    r"|tags|homepage|references|scripts|assets|trigger_keywords|user-invocable"
    r"|disable-model-invocation|argument-hint|when_to_use|model)"
)
_KNOWN: Final = re.compile(_FIELD)
_SLIPPED: Final = re.compile(rf"[ ]{{1,3}}{_FIELD}[ \t]*:(?:[ \t]+|$)")
_GLUED: Final = re.compile(rf"{_FIELD}:(?=[^\s:/])")
_OPENERS: Final = frozenset('{["')
_QUOTE: Final = re.compile(r"(?<!\\)\"")


class Entry(NamedTuple):
    """A key with all the lines that belong to it.

    ``line`` counts from 1 within the frontmatter. ``key`` is empty for what stands
    before the first key. ``value`` is the rest of the first line, ``more`` the
    lines behind it. ``slipped`` tells that the key was indented or glued to its value.
    """

    line: int
    key: str
    first: str
    value: str
    more: tuple[str, ...] = ()
    slipped: bool = False

    @property
    def text(self) -> str:
        """The entry as it was written, every line ended."""
        return "\n".join((self.first, *self.more, ""))


def split_entries(lines: list[str]) -> Iterator[Entry]:
    """Yield the entries in their order; together they hold every line once."""
    growing: _Growing | None = None
    for number, line in enumerate(lines, 1):
        begun = _begins(number, line, growing)
        if begun is not None or growing is None:
            if growing is not None:
                yield growing.entry()
            growing = begun or _Growing(Entry(number, "", line, line))
        else:
            growing.add(line)
    if growing is not None:
        yield growing.entry()


class _Growing:
    """An entry that may still get lines, and what of it is still open."""

    def __init__(self, head: Entry) -> None:
        self.head = head
        self.more: list[str] = []
        self.at_margin = False
        self.brackets = 0
        self.quotes = 0
        self.opener = head.value[:1] if head.value[:1] in _OPENERS else ""
        self._count(head.value)

    def add(self, line: str) -> None:
        self.more.append(line)
        self.at_margin = self.at_margin or bool(line and not line[0].isspace())
        self._count(line)

    def entry(self) -> Entry:
        return self.head._replace(more=tuple(self.more)) if self.more else self.head

    def goes_on(self, key: str) -> bool:
        """Whether what looks like a key lies inside a text or a list that goes on."""
        if _KNOWN.fullmatch(key):
            return False
        if self.opener == '"':
            return self.quotes % 2 == 1
        if self.opener:
            return self.brackets > 0
        # `Note: ...` in a text that already runs on at the margin is prose.
        return self.at_margin and key[:1].isupper()

    def _count(self, line: str) -> None:
        if not self.opener:
            return
        self.brackets += line.count("{") + line.count("[")
        self.brackets -= line.count("}") + line.count("]")
        self.quotes += len(_QUOTE.findall(line))


def _begins(number: int, line: str, growing: _Growing | None) -> _Growing | None:
    """Return the entry that ``line`` begins; None where it belongs to the last one."""
    slipped = False
    match = _KEY.match(line)
    if match is None:
        slipped = True
        match = _GLUED.match(line)
        if match is None and (growing is None or _is_full(growing.head)):
            match = _SLIPPED.match(line)
    if match is None:
        return None
    if growing is not None and growing.goes_on(match[1]):
        return None
    key = match[1].strip("\"'")
    return _Growing(Entry(number, key, line, line[match.end() :], (), slipped))


def _is_full(head: Entry) -> bool:
    """Whether the value stands on the line of the key, so that nothing nests in it."""
    return bool(head.value) and head.value[0] not in "|>\"'{[&*!#"
