"""The URIs of skills and of their files, checked as text: nothing is resolved.

What cannot be used is an `EntryRefusedError`.
"""

import re
from typing import Final
from urllib.parse import unquote

from satchel.model import SKILL_FILE
from satchel.text import clean_line

_MAX_LINE_CHARS: Final = 120


class EntryRefusedError(Exception):
    """One entry of a server cannot be used; the others can. Caught in this package.

    ``fix`` is what the server's owner can do.
    """

    def __init__(
        self, problem: str, fix: str = "", code: str = "invalid-entry"
    ) -> None:
        super().__init__(problem, fix, code)
        self.problem = problem
        self.fix = fix
        self.code = code


def short_line(text: object) -> str:
    """Return text of a server as one short line, with its hidden characters shown."""
    line = clean_line(text) if isinstance(text, str) else type(text).__name__
    return line if len(line) <= _MAX_LINE_CHARS else f"{line[:_MAX_LINE_CHARS]}..."


# Far above a name and a path of 1,024 bytes with every byte escaped.
MAX_URI_CHARS: Final = 8_192

_SHAPE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}://([^/]+(?:/[^/]+)*)")
_FORBIDDEN_CHARS: Final = re.compile(
    r"[\s\\?#\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
)
_FORBIDDEN_ESCAPES: Final = re.compile(
    r"(?i)%(?:2e|2f|5c|0[0-9a-f]|1[0-9a-f]|7f)|%(?![0-9a-f]{2})"
)
_SKILL_FILE_SUFFIX: Final = f"/{SKILL_FILE}"


def skill_root(uri: object) -> str:
    """Return the URI of a skill's folder, given that of its SKILL.md.

    Source: "Resource Mapping" of the Skills extension.
    """
    text = plain_uri(uri)
    if not text.endswith(_SKILL_FILE_SUFFIX):
        raise EntryRefusedError(f"its URI does not end in {_SKILL_FILE_SUFFIX}")
    root = text.removesuffix(_SKILL_FILE_SUFFIX)
    plain_uri(root)  # `skill://SKILL.md` has no folder
    return root


def skill_name(root: str) -> str:
    """Return the last part of a skill's folder, which must be the skill's name."""
    return _unquote(root.rpartition("/")[2])


def skill_path(root: str) -> str:
    """Return the folder without its scheme, to tell skills of one name apart."""
    return root.partition("://")[2]


def path_in(root: str, uri: object) -> str:
    """Return the path of a file inside a skill's folder, decoded."""
    text = plain_uri(uri)
    # With the slash: "skill://ab/x" is not inside "skill://a".
    inside = text.removeprefix(f"{root}/")
    if inside == text:
        raise EntryRefusedError("it lists a file that is not in its own folder")
    return _unquote(inside)


def plain_uri(uri: object) -> str:
    """Return a URI of folders and a file, if it has only one reading."""
    if not isinstance(uri, str):
        raise EntryRefusedError("a URI is not a text")
    if len(uri) > MAX_URI_CHARS:
        raise EntryRefusedError(f"a URI has more than {MAX_URI_CHARS:,} characters")
    match = _SHAPE.fullmatch(uri)
    if match is None or _FORBIDDEN_CHARS.search(uri):
        raise EntryRefusedError("a URI is not of the form scheme://folder/file")
    # A program that decodes it first would see another path.
    if _FORBIDDEN_ESCAPES.search(uri):
        raise EntryRefusedError("a URI has an encoded dot, slash or control character")
    if any(part in {".", ".."} for part in match[1].split("/")):
        raise EntryRefusedError("a URI has a part that is . or ..")
    return uri


def _unquote(part: str) -> str:
    try:
        return unquote(part, errors="strict")
    except UnicodeDecodeError:
        raise EntryRefusedError("a URI is not encoded as UTF-8") from None
