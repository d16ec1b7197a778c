"""JSON that anybody may have written, read into values: each form is checked."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeGuard, TypeVar, cast

from satchel.errors import LimitExceededError, SkillError
from satchel.files import folded_name, is_digest
from satchel.model import Limits, Resource

# A size that every reader of JSON takes for the same number (RFC 8259, section 6).
_MAX_SIZE: Final = 2**53 - 1

_T = TypeVar("_T")


class DuplicateMemberError(ValueError):
    """An object of JSON has a member twice; the message says which."""


def unique_members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make an object of its members, and refuse one that has a name twice."""
    # Of two digests, one program would use the first and another the last.
    members: dict[str, object] = {}
    for name, value in pairs:
        if name in members:
            raise DuplicateMemberError(f"an object has the member {name[:80]!r} twice")
        members[name] = value
    return members


def canonical_json(value: object) -> bytes:
    """Return a document in its only spelling: ASCII, keys in their order, one LF."""
    # release.json is part of a release's id, so equal content needs equal bytes.
    return f"{json.dumps(value, indent=1)}\n".encode("ascii")


def resource_to_json(resource: Resource) -> dict[str, object]:
    """Return a file as all our documents list it."""
    return {"path": resource.path, "digest": resource.digest, "size": resource.size}


class DocumentParser:
    """Turns the JSON of one document into values, or says where it is wrong.

    ``at`` is the path into the document that errors begin with; ``failure`` makes the
    error of this and of what is wrong there.
    """

    def __init__(
        self, where: str, limits: Limits, failure: Callable[[str, str], SkillError]
    ) -> None:
        self._where = where
        self._limits = limits
        self._failure = failure

    def load(self, data: bytes) -> dict[str, Any]:
        """Return the document, which has to be an object."""
        most = self._limits.release_bytes
        if len(data) > most:
            of = self._where
            raise LimitExceededError("release_bytes", most, len(data), "bytes", of)
        try:
            document = json.loads(data, object_pairs_hook=unique_members)
        except DuplicateMemberError as error:
            raise self._failure(self._where, str(error)) from error
        except RecursionError as error:
            raise self._failure(self._where, "it is nested too deeply") from error
        except ValueError as error:
            detail = f"it is not JSON: {error}"
            raise self._failure(self._where, detail) from error
        return self._object(document, "the document")

    def check_head(self, top: Mapping[str, object], *kinds: str, version: int) -> str:
        """Return which format a document is in, of a version that is known."""
        kind, number = top.get("format"), top.get("schema_version")
        if kind not in kinds:
            raise self._error("format", f"expected {kinds[0]!r}")
        if not is_count(number) or number < 1:
            raise self._error("schema_version", "expected a number from 1")
        if number > version:
            detail = f"{number} is of a later Satchel; upgrade this one"
            raise self._error("schema_version", detail)
        return str(kind)

    def _check_names(self, names: list[str], at: str) -> None:
        """Check that names are sorted, and that no two are one on any system."""
        # One order, so that equal releases have equal bytes.
        if names != sorted(names):
            raise self._error(at, "they are not sorted")
        if len({folded_name(name) for name in names}) != len(names):
            raise self._error(at, "two of them are one on some systems")

    def _resource(self, fields: Mapping[str, object], at: str) -> Resource:
        digest, size = self._text(fields, "digest", at), fields.get("size")
        if not is_digest(digest):
            raise self._error(f"{at}digest", "expected sha256: and 64 hex digits")
        if not is_count(size) or size > _MAX_SIZE:
            raise self._error(f"{at}size", "expected a count of bytes")
        return Resource(self._text(fields, "path", at), digest, size)

    def _name(self, fields: Mapping[str, object], key: str, at: str) -> str:
        text = self._text(fields, key, at)
        if not text.strip():
            raise self._error(f"{at}{key}", "it is empty")
        most = self._limits.name_chars
        if len(text) > most:
            raise self._error(f"{at}{key}", f"it has more than {most} characters")
        return text

    def _text(self, fields: Mapping[str, object], key: str, at: str) -> str:
        text = self._typed(fields.get(key), str, f"{at}{key}", "a text")
        return self._encodable(text, f"{at}{key}")

    def _texts(
        self, fields: Mapping[str, object], key: str, at: str
    ) -> tuple[str, ...]:
        items = self._list(fields, key, at) if key in fields else []
        at += key
        texts = (self._typed(item, str, at, "a list of texts") for item in items)
        return tuple(self._encodable(text, at) for text in texts)

    def _encodable(self, text: str, at: str) -> str:
        # JSON can hold a lone surrogate, which no output could encode.
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError as error:
                raise self._error(at, "it is not valid Unicode") from error
        return text

    def _list(self, fields: Mapping[str, object], key: str, at: str) -> list[object]:
        value = fields.get(key)
        return cast("list[object]", self._typed(value, list, f"{at}{key}", "a list"))

    def _objects(
        self, fields: Mapping[str, object], key: str, at: str
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the objects of a list, each with its place in the document."""
        for number, item in enumerate(self._list(fields, key, at)):
            place = f"{at}{key}[{number}]"
            yield place, self._object(item, place)

    def _object(self, value: object, at: str) -> dict[str, Any]:
        return cast("dict[str, Any]", self._typed(value, dict, at, "an object"))

    def _typed(self, value: object, kind: type[_T], at: str, expected: str) -> _T:
        if not isinstance(value, kind):
            raise self._error(at, f"expected {expected}")
        return value

    def _error(self, at: str, detail: str) -> SkillError:
        return self._failure(self._where, f"{at}: {detail}")


def is_count(value: object) -> TypeGuard[int]:
    """Tell whether a value is a number from 0; in Python, JSON's true is an int."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
