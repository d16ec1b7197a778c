"""YAML as events: PyYAML's parsers, with what YAML 1.2 reads differently from 1.1."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, Final, Protocol

from yaml import SafeLoader
from yaml.events import ScalarEvent

from satchel.skill_md._frontmatter import YamlProblem


class UnreadableYamlError(Exception):
    """Carries a problem out of the loop over events."""

    def __init__(
        self,
        code: str,
        message: str,
        event: Any = None,  # noqa: ANN401
    ) -> None:
        super().__init__(code, message, event)
        line = None if event is None else event.start_mark.line + 1
        self.problem = YamlProblem(code, message, line)


class YamlParser(Protocol):
    """The part of PyYAML's parsers that is used; its events have no common type."""

    def get_event(self) -> Any:  # noqa: ANN401 - the library types none of it
        """Return the next event; None after the last."""
        ...


class _PureParser:
    """The parser in Python; like the one in C it refuses surrogates."""

    def __init__(self, head: bytes) -> None:
        self._parser: YamlParser = SafeLoader(head)

    def get_event(self) -> Any:  # noqa: ANN401
        event = self._parser.get_event()
        if type(event) is ScalarEvent and not event.value.isascii():
            text: str = event.value
            # The two differ only where the text has a lone surrogate.
            if text.encode("utf-8", "replace") != text.encode("utf-8", "surrogatepass"):
                raise UnreadableYamlError("invalid-yaml", "found a surrogate", event)
        return event


def _best_parser() -> Callable[[bytes], YamlParser]:
    """Return the C parser; the pure one where PyYAML was built without it."""
    try:
        # Neither stubs nor `__all__` name it.
        from yaml.cyaml import CParser  # type: ignore[attr-defined]
    except ImportError:
        return _PureParser
    return CParser  # pyright: ignore[reportUnknownVariableType]


new_parser: Final = _best_parser()


# Line ends in YAML 1.1, which both of PyYAML's parsers read; text since 1.2.
_OLD_BREAKS: Final = re.compile(b"\xc2\x85|\xe2\x80[\xa8\xa9]")


# 131,000 characters of four bytes, more than a frontmatter has room for.
_PLANES: Final = (range(0xF0000, 0xFFFFE), range(0x100000, 0x10FFFE))


def _spare(head: bytes, codes: Iterable[int]) -> Iterator[str]:
    """Yield characters that are not in the text, escaped or not."""
    # The hex digits of an escape may be in either case.
    small = head.lower()
    for code in codes:
        if chr(code).encode() not in head and b"%x" % code not in small:
            yield chr(code)


class _OldBreaksParser:
    """A parser for which those are text: it reads private characters instead."""

    def __init__(self, head: bytes) -> None:
        self._restored: dict[int, str] = {}
        spare = _spare(head, chain(range(0xE000, 0xF8FF), *_PLANES))
        for mark in "\x85\u2028\u2029":
            stand_in = next(spare)
            self._restored[ord(stand_in)] = mark
            head = head.replace(mark.encode(), stand_in.encode())
        self._parser = new_parser(head)

    def get_event(self) -> Any:  # noqa: ANN401
        event = self._parser.get_event()
        if type(event) is ScalarEvent:
            event.value = event.value.translate(self._restored)
        return event


# A character as JSON escapes it in two halves, an escaped backslash not before it.
_PAIR: Final = re.compile(
    rb"(?<!\\)((?:\\\\)*)"
    rb"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
)


class _SurrogatePairParser:
    """Joins such halves in double quotes: YAML 1.2 has them, libyaml refuses."""

    def __init__(self, head: bytes) -> None:
        # Four bytes in UTF-8, like the two `\u` that it replaces.
        stand_in = next(_spare(head, chain(*_PLANES)))
        self._stand_in = stand_in
        self._shown = re.compile(f"{stand_in}([0-9a-fA-F]{{4}})([0-9a-fA-F]{{4}})")
        self._parser = _text_parser(
            _PAIR.sub(rb"\1" + stand_in.encode() + rb"\2\3", head)
        )

    def get_event(self) -> Any:  # noqa: ANN401
        event = self._parser.get_event()
        if type(event) is ScalarEvent and self._stand_in in event.value:
            meant = _joined if event.style == '"' else r"\\u\1\\u\2"
            event.value = self._shown.sub(meant, event.value)
        return event


def _joined(halves: re.Match[str]) -> str:
    high, low = int(halves[1], 16), int(halves[2], 16)
    # As in UTF-16: the first half has the upper ten bits, the second the lower ten.
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def parser_of(head: bytes) -> YamlParser:
    """Return a parser for the text between the fences."""
    if b"\\u" in head and _PAIR.search(head):
        return _SurrogatePairParser(head)
    return _text_parser(head)


def _text_parser(head: bytes) -> YamlParser:
    if not head.isascii() and _OLD_BREAKS.search(head):
        return _OldBreaksParser(head)
    return new_parser(head)
