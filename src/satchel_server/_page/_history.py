"""The releases that changed a skill, and what each of them changed."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Final, NamedTuple

from satchel.errors import SkillError
from satchel.files import LruCache
from satchel.model import Descriptor
from satchel.text import printable, unified_lines
from satchel_server._library import ServedLibrary
from satchel_store.release import ReleaseSource

# Releases that are looked through, characters of a file, and lines of a difference.
_MAX_RELEASES: Final = 50
_MAX_CHARS: Final = 256 * 1024
_MAX_LINES: Final = 2_000


class Version(NamedTuple):
    """A release in which a skill is another one than in ``older``; None is the first.

    ``key`` names the skill in both; ``is_served`` is whether callers get it now.
    """

    key: str
    source: ReleaseSource
    older: ReleaseSource | None
    is_served: bool = False

    @property
    def release(self) -> str:
        return self.source.pin or self.source.release

    def changes(self) -> dict[str, list[str]]:
        """Return the paths that it added, removed and changed; nothing for none."""
        before, after = _files(self.older, self.key), _files(self.source, self.key)
        both = before.keys() & after.keys()
        paths = {
            "added": after.keys() - before.keys(),
            "removed": before.keys() - after.keys(),
            "changed": {path for path in both if before[path] != after[path]},
        }
        return {word: sorted(some) for word, some in paths.items() if some}

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield each file that it changed, and the lines, as (path, line)."""
        return islice(self._lines(), _MAX_LINES)

    def _lines(self) -> Iterator[tuple[str, str]]:
        changed = self.changes().values()
        for path in sorted(path for paths in changed for path in paths):
            for line in unified_lines(
                self._text(self.older, path), self._text(self.source, path)
            ):
                yield path, line

    def _text(self, source: ReleaseSource | None, path: str) -> str:
        if source is None or path not in _files(source, self.key):
            return ""
        data = source.read(self.key, path, _MAX_CHARS)
        return printable(data.decode("utf-8", "replace"))


class History:
    """Finds the versions of a skill, where its source is a site that has several.

    To read a release takes time with its number of skills, so their digests are kept.
    """

    def __init__(self, library: ServedLibrary) -> None:
        self._library = library
        self._digests: LruCache[str, dict[str, str]] = LruCache(_MAX_RELEASES)

    def versions(self, entry: Descriptor) -> list[Version]:
        """Return the releases that changed the skill, the latest first.

        What is withdrawn, by the source or by settings, is in none of them.
        """
        registry = self._library.skills.registry
        source = registry.sources.get(entry.source)
        withdrawn: set[str] = set()
        for one in (source, registry.rules.verifier):
            withdrawn |= getattr(one, "withdrawn", frozenset[str]())
        releases: tuple[ReleaseSource, ...] = getattr(source, "history", tuple)()
        in_use = None, getattr(source, "release", "")
        served = next((one for one in releases if one.pin in in_use), None)
        key, older, last = entry.origin.key, None, ""
        versions: list[Version] = []
        for release in reversed(releases[:_MAX_RELEASES]):
            with suppress(SkillError):  # a damaged release hides no other
                digest = self._digests_of(release).get(key, "")
                is_left_out = not withdrawn.isdisjoint((digest, release.release))
                if digest and digest != last and not is_left_out:
                    versions.append(Version(key, release, older))
                    older, last = release, digest
            if release is served and versions:
                versions[-1] = versions[-1]._replace(is_served=True)
        return versions[::-1]

    def _digests_of(self, release: ReleaseSource) -> dict[str, str]:
        def read() -> dict[str, str]:
            return {skill.id: skill.digest for skill in release.open().skills}

        return self._digests.get(release.pin or release.release, read)


def _files(release: ReleaseSource | None, key: str) -> dict[str, str]:
    skills = release.open().skills if release else ()
    resources = (skill.resources for skill in skills if skill.id == key)
    return {file.path: file.digest for files in resources for file in files}
