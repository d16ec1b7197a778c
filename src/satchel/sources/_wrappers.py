"""Sources around sources: fewer packs, other ids, fewer scans."""

import os
import re
import threading
import time
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from satchel.errors import ConfigError
from satchel.model import SKILL_FILE, FileStat, Finding, Found, Manifest
from satchel.products import import_product
from satchel.protocols import Clock, SkillSource, index_key, with_abilities
from satchel.text import slug


class SourceWrapper:
    """A source that passes everything on; the base of those that change one thing.

    What a source has beyond the protocol (``scope``, ``trusted``, ``precedence``, the
    readers of older sources) shows through, too.
    """

    def __init__(self, source: SkillSource) -> None:
        self._source: Final = source

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the inner one has
        if name.startswith("_"):  # not set yet, as while a copy is being made
            raise AttributeError(name)
        return getattr(self._source, name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._source!r})"

    @property
    def label(self) -> str:
        return self._source.label

    def scan(self) -> Iterable[Found | Finding]:
        return self._source.scan()

    def manifest(self, key: str) -> bytes | Manifest:
        return self._source.manifest(key)

    def files(self, key: str) -> Iterable[FileStat]:
        return self._source.files(key)

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        return self._source.read(key, path, limit_bytes)

    def close(self) -> None:
        self._source.close()

    @property
    def index_key(self) -> object:
        """None: what a wrapper changes is not known here."""
        return None

    def _index_key(self, kind: type, *settings: object) -> object:
        """Return the key of the inner source with what this one changes."""
        inner = index_key(self._source)
        return inner and type(self) is kind and (kind.__name__, settings, inner)

    def identify_at(self, manifest: Manifest, key: str) -> str | None:
        """Return the id that the inner source gives; the manifest's name by default."""
        return with_abilities(self._source).identify_at(manifest, key)

    def identify(self, manifest: Manifest) -> str | None:
        """Return the id of a pack in a folder of its own name."""
        return self.identify_at(manifest, manifest.name)


class FilteredSource(SourceWrapper):
    """Those packs whose id fits; the others are excluded as filtered."""

    def __init__(
        self, source: SkillSource, include: Iterable[str], exclude: Iterable[str]
    ) -> None:
        """Take shell patterns, compared with regard to case; none to include is all."""
        super().__init__(source)
        self._include = tuple(include) or ("*",)
        self._exclude = tuple(exclude)

    @property
    def index_key(self) -> object:
        return self._index_key(FilteredSource, self._include, self._exclude)

    def identify_at(self, manifest: Manifest, key: str) -> str | None:
        name = super().identify_at(manifest, key)
        if name is None or _fits(name, self._exclude):
            return None
        return name if _fits(name, self._include) else None


def _fits(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


class PrefixedSource(SourceWrapper):
    """The same packs, with something in front of each id."""

    def __init__(self, source: SkillSource, prefix: str) -> None:
        """Take the prefix with its hyphen; see `satchel.sources.prefixed`."""
        if _PLUGIN in prefix:
            # Without what reads them no pack would have a prefix, unsaid.
            room = import_product("satchel_store.plugins", f"the prefix {_PLUGIN}")
            source = room.PluginNamesSource(source)
        super().__init__(source)
        unknown = [word for word in _BRACES.findall(prefix) if word not in _WORDS]
        if unknown:
            words = ", ".join(_WORDS)
            raise ConfigError("prefix", f"unknown {unknown[0]}; known: {words}")
        self._prefix = prefix

    @property
    def index_key(self) -> object:
        return self._index_key(PrefixedSource, self._prefix)

    def identify_at(self, manifest: Manifest, key: str) -> str | None:
        name = super().identify_at(manifest, key)
        return None if name is None else self._filled(key) + name

    def _filled(self, key: str) -> str:
        if "{" not in self._prefix:
            return self._prefix
        plugin = self.name_of(key) if _PLUGIN in self._prefix else ""
        if _PLUGIN in self._prefix and not plugin:
            return ""
        above, _, folder = key.rpartition("/")
        parent = above.rpartition("/")[2] or self._home(key)
        # As parts of an id: in lower case, with hyphens for all but letters and digits.
        prefix = self._prefix
        for word, text in zip(_WORDS, (folder, parent, above, plugin), strict=True):
            prefix = prefix.replace(word, slug(text))
        ends_in_word = self._prefix.endswith(_WORDS)
        return f"{prefix}-" if ends_in_word and prefix else prefix

    def _home(self, key: str) -> str:
        """Return the folder that a pack without a folder above it in its key is in.

        The root of the source; of a root that is itself the pack, the one above.
        """
        root = with_abilities(self._source).root or self.label
        above, _, own = root.replace(os.sep, "/").rstrip("/").rpartition("/")
        is_pack = own == key and os.path.isfile(f"{root}/{SKILL_FILE}")  # noqa: PTH113
        return above.rpartition("/")[2] if is_pack else own


_PLUGIN: Final = "{plugin}"
_WORDS: Final = ("{folder}", "{parent}", "{path}", _PLUGIN)
_BRACES: Final = re.compile(r"\{[^{}]*\}")


class RenamedSource(SourceWrapper):
    """The same packs, some under another id."""

    def __init__(self, source: SkillSource, names: Mapping[str, str]) -> None:
        super().__init__(source)
        self._names = dict(names)

    @property
    def index_key(self) -> object:
        return self._index_key(RenamedSource, sorted(self._names.items()))

    def identify_at(self, manifest: Manifest, key: str) -> str | None:
        name = super().identify_at(manifest, key)
        return None if name is None else self._names.get(name, name)


class CachedSource(SourceWrapper):
    """The same packs, looked for at most once in a time; what is read is not cached."""

    def __init__(self, source: SkillSource, ttl_s: float, clock: Clock | None) -> None:
        super().__init__(source)
        self._ttl_s = ttl_s
        self._now = clock.monotonic if clock else time.monotonic
        self._lock = threading.Lock()
        self._seen: tuple[Found | Finding, ...] = ()
        self._until: float | None = None

    def scan(self) -> Iterable[Found | Finding]:
        # Inside the lock, so that callers who come at once wait for one scan. One that
        # fails is not remembered.
        with self._lock:
            now = self._now()
            if self._until is None or now >= self._until:
                self._seen = tuple(self._source.scan())
                self._until = now + self._ttl_s
            return self._seen

    def scan_one(self, key: str, location: str) -> Found | None:
        """Return one pack as it is now, and forget what the last look saw."""
        # One that looks for a single pack saw an edit: the cached scan is stale.
        with self._lock:
            self._until = None
        source = with_abilities(self._source)
        if source.finds_one:
            return source.scan_one(key, location)
        packs = (item for item in self.scan() if isinstance(item, Found))
        return next((pack for pack in packs if pack.key == key), None)

    def close(self) -> None:
        with self._lock:
            self._seen, self._until = (), None
        super().close()


def only(
    source: SkillSource, include: Iterable[str] = (), exclude: Iterable[str] = ()
) -> SkillSource:
    """Keep the packs whose id fits a pattern of ``include`` and none of ``exclude``.

    Patterns are those of the shell; no ``include`` is all. What is left out stays
    visible as filtered.
    """
    return FilteredSource(source, include, exclude)


def prefixed(source: SkillSource, prefix: str) -> SkillSource:
    """Put ``prefix`` in front of every id of a source.

    ``{parent}`` in it is the name of the folder that holds the pack's folder,
    ``{folder}`` of the pack's own, ``{path}`` of all from the source's root to the
    pack: ``prefixed(folder("libraries"), "{parent}")`` gives packs of one name
    different ids. ``{plugin}`` is the name of the plugin that the pack is of; a pack of
    none has no prefix then.

    Raises:
        ConfigError: ``prefix`` has another word in braces.
        ProductMissingError: ``satchel_store``, which reads plugins, is not installed.
    """
    return PrefixedSource(source, prefix)


def renamed(source: SkillSource, names: Mapping[str, str]) -> SkillSource:
    """Give some packs of a source new ids: ``{old: new}``."""
    return RenamedSource(source, names)


def cached(
    source: SkillSource, ttl_s: float, clock: Clock | None = None
) -> SkillSource:
    """Look for the packs of a source at most once in ``ttl_s`` seconds."""
    return CachedSource(source, ttl_s, clock)
