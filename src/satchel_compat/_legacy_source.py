"""Sources of the older protocol (name, iter_skills, read_*), wrapped."""

import json
import os
from collections.abc import Callable, Iterable
from typing import Final, cast

from satchel.errors import (
    ReferenceEscapesError,
    ReferenceNotFoundError,
    ReferenceUnreadableError,
    SkillError,
    SkillNotFoundError,
    SourceUnavailableError,
)
from satchel.files import Listing, check_path, check_read_size, digest_bytes
from satchel.model import DEFAULT_LIMITS, SKILL_FILE, FileStat, Finding, Found, Limits
from satchel.protocols import LegacySource, SkillSource

_READERS: Final = {
    "references": "read_reference",
    "scripts": "read_script",
    "assets": "read_asset",
}
_TEXTS: Final = ("name", "description", "version", "author")
_LISTS: Final = ("trigger_keywords", *_READERS)


def as_source(source: object, *, limits: Limits = DEFAULT_LIMITS) -> SkillSource:
    """Return a source as it is, or one of the older protocol wrapped."""
    if isinstance(source, type):
        name = source.__name__
        raise TypeError(f"expected a source; got the class {name}: write {name}(...)")
    if isinstance(source, SkillSource):
        return source
    if isinstance(source, LegacySource):
        return LegacySourceAdapter(source, label=str(source.name), limits=limits)
    kind = type(source).__name__
    hint = ""
    if isinstance(source, (str, os.PathLike)):
        hint = f": write LocalDirSkillSource({os.fspath(source)!r})"
    raise TypeError(f"expected a source; got a {kind}{hint}")


class LegacySourceAdapter:
    """Makes a `LegacySource` a source; keys are the names of the skills."""

    def __init__(
        self, older: LegacySource, *, label: str, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self.label: Final = label
        self.older: Final = older
        self._limits = limits

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.older!r}, label={self.label!r})"

    def scan(self) -> tuple[Found | Finding, ...]:
        return tuple(
            Found(name, f"{self.label}/{name}", digest_bytes(_skill_md(skill)))
            for name, skill in sorted(self._skills().items())
        )

    def manifest(self, key: str) -> bytes:
        return self.read(key, SKILL_FILE, self._limits.skill_md_bytes)

    def files(self, key: str) -> tuple[FileStat, ...]:
        """Return SKILL.md and the declared files that can be read, sorted by path."""
        skill = self._skill(key)
        listing = Listing(self._limits)
        for path in (SKILL_FILE, *_declared(skill)):
            if listing.admits(path):
                try:
                    data = self._data(skill, key, path)
                except SkillError:
                    continue  # the catalog reports a declared file that is missing
                listing.add(FileStat(path, len(data), digest_bytes(data)))
        return listing.files()

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        check_path(path, key)
        data = self._data(self._skill(key), key, path)
        check_read_size(path, len(data), limit_bytes)
        return data

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def _skills(self) -> dict[str, object]:
        try:
            skills = list(self.older.iter_skills())
        except Exception as error:
            detail = f"{type(error).__name__}: {error}"
            raise SourceUnavailableError(self.label, detail) from error
        return {str(_field(skill, "name")): skill for skill in skills}

    def _skill(self, key: str) -> object:
        try:
            return self._skills()[key]
        except KeyError:
            raise SkillNotFoundError(key) from None

    def _data(self, skill: object, key: str, path: str) -> bytes:
        if path == SKILL_FILE:
            return _skill_md(skill)
        bucket, _, name = path.partition("/")
        reader = getattr(self.older, _READERS.get(bucket, ""), None)
        if path not in _declared(skill) or not callable(reader):
            raise ReferenceNotFoundError(key, path)
        return _call(reader, key, path, name)


def _call(
    reader: Callable[[str, str], object], key: str, path: str, name: str
) -> bytes:
    try:
        content = reader(key, name)
    except (FileNotFoundError, KeyError) as error:
        raise ReferenceNotFoundError(key, path) from error
    except ValueError as error:  # the earlier system refuses a path so
        raise ReferenceEscapesError(
            key, path, detail="the source refuses it"
        ) from error
    except Exception as error:
        detail = f"the source raised {type(error).__name__}"
        raise ReferenceUnreadableError(key, path, detail=detail) from error
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode("utf-8", "surrogatepass")
    detail = f"the source returned {type(content).__name__}, not text or bytes"
    raise ReferenceUnreadableError(key, path, detail=detail)


def _field(skill: object, name: str) -> object:
    """Return a field of the skill's manifest, or of the skill itself."""
    missing = object()
    value = getattr(getattr(skill, "manifest", None), name, missing)
    return getattr(skill, name, None) if value is missing else value


def _texts(skill: object, name: str) -> list[str]:
    value = _field(skill, name)
    if not isinstance(value, (list, tuple)):
        return []
    return [str(item) for item in cast("Iterable[object]", value)]


def _declared(skill: object) -> list[str]:
    return [f"{bucket}/{name}" for bucket in _READERS for name in _texts(skill, bucket)]


def _skill_md(skill: object) -> bytes:
    """Return a SKILL.md with the fields of the skill."""
    lines = [
        f"{name}: {json.dumps(str(value), ensure_ascii=False)}"
        for name in _TEXTS
        if (value := _field(skill, name)) is not None
    ]
    lines += [
        f"{name}: {json.dumps(_texts(skill, name), ensure_ascii=False)}"
        for name in _LISTS
        if _texts(skill, name)
    ]
    body = _field(skill, "body") or ""
    text = "\n".join(["---", *lines, "---", str(body)])
    return text.encode("utf-8", "surrogatepass")
