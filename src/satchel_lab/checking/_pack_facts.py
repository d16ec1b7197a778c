"""What a check of a change compares: the bytes, programs and description of a pack."""

import math
import os
import re
import stat
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from satchel.files import digest_bytes, tree_digest
from satchel.model import Descriptor, Limits, Resource
from satchel_lab.checking._library import PackLibrary

# The share of common words from which descriptions are similar: an agent that reads one
# cannot tell when to use the other.
SIMILAR: Final = 0.8

_FEWEST_WORDS: Final = 5
_WORD: Final = re.compile(r"\w+")


def are_similar(one: str, other: str) -> bool:
    """Tell whether two descriptions have nearly the same words."""
    return _have_common_words(_words(one), _words(other))


def similar_pairs(
    descriptions: Mapping[str, str], new: AbstractSet[str]
) -> Iterator[tuple[str, str]]:
    """Yield the pairs of keys with similar descriptions, at least one of them ``new``.

    Two descriptions with most words in common share one of their rarest words: only
    such pairs are compared. Each comes once, a new key first, in the order of keys.
    """
    words = {key: _words(text) for key, text in descriptions.items()}
    counts = Counter(word for text in words.values() for word in text)
    by_rare: dict[str, list[str]] = defaultdict(list)
    rare: dict[str, list[str]] = {}
    for key, own in words.items():
        ranked = sorted(own, key=lambda word: (counts[word], word))
        # Prefix filter: sets with this share in common meet in so many rare words.
        rare[key] = ranked[: len(ranked) - math.ceil(SIMILAR * len(ranked)) + 1]
        for word in rare[key]:
            by_rare[word].append(key)
    for key in sorted(new & words.keys()):
        near = {other for word in rare[key] for other in by_rare[word]} - {key}
        for other in sorted(near):
            # Of two that are new, only the later one is reported.
            if other in new and other > key:
                continue
            if _have_common_words(words[key], words[other]):
                yield key, other


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _have_common_words(one: frozenset[str], other: frozenset[str]) -> bool:
    if min(len(one), len(other)) < _FEWEST_WORDS:
        return False
    common = len(one & other)
    return common >= SIMILAR * (len(one) + len(other) - common)


_SUFFIXES: Final = frozenset(
    """
    .app .bash .bat .bin .cjs .cmd .com .command .dll .dylib .exe .fish .jar .js .mjs
    .node .php .pl .ps1 .py .pyc .pyz .rb .sh .so .ts .vbs .wasm .zsh
    """.split()  # noqa: SIM905 - a list would be a column of words
)
_MAGIC: Final = (
    (b"#!", "#!"),
    (b"\x7fELF", "ELF"),
    (b"MZ", "PE"),
    (b"\xcf\xfa\xed\xfe", "Mach-O"),
    (b"\xca\xfe\xba\xbe", "Mach-O"),
    (b"\0asm", "wasm"),
)
_SCRIPTS: Final = "scripts/"
_ANY_MODE: Final = 0o111
# What git keeps in place of a large file (git-lfs, docs/spec.md).
_POINTER: Final = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n"
    rb"(?:ext-[^\n]{1,99}\n){0,9}oid (sha256:[0-9a-f]{64})\nsize ([0-9]{1,18})\n"
)


@dataclass(frozen=True, slots=True)
class PackFacts:
    """One pack at its location; ``digest`` is over all its files, listed or not.

    ``files`` has the digest of each file by its path in the pack, ``programs`` the
    digest of those that run, and what shows that they run.
    """

    location: str
    id: str
    description: str
    digest: str
    files: dict[str, str] = field(default_factory=dict[str, str])
    programs: dict[str, tuple[str, str]] = field(
        default_factory=dict[str, tuple[str, str]]
    )


def pack_facts(library: PackLibrary, limits: Limits) -> dict[str, PackFacts]:
    """Return the facts of every pack, by location; copies of a pack are each there."""
    packs = {origin.location: pack for pack in library.packs for origin in pack.origins}
    return {
        location: _facts(location, pack, library.folder_of(location), limits)
        for location, pack in sorted(packs.items(), key=lambda item: item[0])
    }


def _facts(location: str, pack: Descriptor, folder: Path, limits: Limits) -> PackFacts:
    resources: list[Resource] = []
    programs: dict[str, tuple[str, str]] = {}
    for path, mode, size, data in _files(folder, limits):
        digest = _digest(size, data, limits)
        resources.append(Resource(path, digest, size))
        why = _why(path, mode, data or b"")
        if why:
            programs[path] = (digest, why)
    return PackFacts(
        location,
        pack.id,
        pack.description,
        tree_digest(resources),
        {resource.path: resource.digest for resource in resources},
        programs,
    )


def _files(
    folder: Path, limits: Limits
) -> Iterator[tuple[str, int, int, bytes | None]]:
    """Yield path, mode, size and bytes of every file; None for what cannot be read."""
    left = limits.pack_files
    for here, folders, names in os.walk(folder):
        # In place, so that `os.walk` skips `.git` and keeps this order.
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            file = Path(here, name)
            try:
                status = file.lstat()
            except OSError:
                continue
            # A link leads to bytes that are not the pack's; reading a pipe would block.
            if not stat.S_ISREG(status.st_mode):
                continue
            path = file.relative_to(folder).as_posix()
            yield path, status.st_mode, status.st_size, _bytes(file, status, limits)
            left -= 1
            if not left:
                return


def _bytes(file: Path, status: os.stat_result, limits: Limits) -> bytes | None:
    if status.st_size > limits.file_bytes:
        return None
    try:
        return file.read_bytes()
    except OSError:
        return None


def _digest(size: int, data: bytes | None, limits: Limits) -> str:
    """Return the digest of a file, the same before and after a checkout.

    git may convert line ends, or replace the pointer to a large file by the file.
    """
    pointer = _POINTER.fullmatch(data) if data else None
    if pointer is not None:
        size = int(pointer[2])
        # The pointer has the digest that the file itself has after a checkout.
        if size <= limits.file_bytes:
            return pointer[1].decode("ascii")
    # Too large to be read as a file, so both sides are compared by size.
    if data is None or pointer is not None:
        return f"{size} bytes"
    # Like git, take a file with a NUL byte as binary, and keep its line ends.
    return digest_bytes(data if b"\0" in data else data.replace(b"\r\n", b"\n"))


def _why(path: str, mode: int, data: bytes) -> str:
    """Return what shows that a file runs, or an empty string."""
    shown = ["mode"] if mode & _ANY_MODE else []
    shown += [name for magic, name in _MAGIC if data.startswith(magic)]
    if path.startswith(_SCRIPTS):
        shown.append(_SCRIPTS)
    suffix = os.path.splitext(path)[1].lower()  # noqa: PTH122
    if suffix in _SUFFIXES:
        shown.append(suffix)
    return ", ".join(shown)
