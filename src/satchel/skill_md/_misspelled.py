"""Keys that are nearly ones that are known: what each is taken for."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Final, cast

from satchel.model import Json
from satchel.skill_md._frontmatter import MisspelledKey, Node
from satchel.skill_md._manifest import METADATA_KEYS, TOP_KEYS, has_unknown_keys
from satchel.skill_md._opening import Frontmatter

_METADATA: Final = "metadata"
# Below this many letters, another word is as near as a typo.
_SHORT: Final = 6
# From this many letters on, two typos are recognised.
_LONG: Final = 9
# Words of their own that are one or two letters away from a key, folded.
_OTHER_WORDS: Final = frozenset(
    [
        *("authors", "agents", "models", "versions", "licenses", "contexts"),
        *("descriptions", "descriptor", "inscription", "prescription", "content"),
        *("incompatibility", "interval", "internals", "mode", "names", "owners"),
        *("path", "platform", "preference", "preferences", "referenced", "replaced"),
        *("required", "stats", "tool", "trigger"),
    ]
)
_WORDS: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")
_MAX_KEY_CHARS: Final = 64
# Unknown keys of one mapping that are compared; public packs have at most 14.
_MOST_KEYS: Final = 100


# A key counts as the one that it is near, so that a typo never opens a pack.
def find_misspelled(root: Mapping[str, object]) -> tuple[MisspelledKey, ...]:
    """Return the misspelled keys of a frontmatter, in their order."""
    if not has_unknown_keys(root):
        return ()
    misspelled = list(_misspelled(root, TOP_KEYS, ()))
    meant = next((s.written for s in misspelled if s.meant == _METADATA), _METADATA)
    inner = root.get(meant)
    if isinstance(inner, Mapping):
        fields = cast("Mapping[str, object]", inner)
        misspelled += _misspelled(fields, METADATA_KEYS, (meant,))
    return tuple(misspelled)


def _misspelled(
    mapping: Mapping[str, object], keys: frozenset[str], within: tuple[str, ...]
) -> Iterator[MisspelledKey]:
    taken = {*mapping}
    for key in islice((key for key in mapping if key not in keys), _MOST_KEYS):
        meant = nearest_key(key, keys)
        if meant is not None:
            yield MisspelledKey(key, meant, within, meant not in taken)
            # Of two keys that are near one known key only the first counts.
            taken.add(meant)


def corrected_keys(frontmatter: Mapping[str, Json]) -> dict[str, Json]:
    """Return frontmatter, as a manifest keeps it, with each key as it is meant."""
    misspelled = find_misspelled(frontmatter)
    meant = {slip.at: slip.meant for slip in misspelled if slip.counts}
    top = {meant.get((key,), key): value for key, value in frontmatter.items()}
    within = next((slip.within for slip in misspelled if slip.within), ())
    inner = top.get(_METADATA)
    if within and isinstance(inner, Mapping):
        names = {key: meant.get((*within, key), key) for key in inner}
        top[_METADATA] = {names[key]: value for key, value in inner.items()}
    return top


def with_corrected_keys(file: Frontmatter) -> Frontmatter:
    """Return a frontmatter with the keys that were meant; its tree must stay alive."""
    tree = file.tree
    misspelled = find_misspelled(tree.root)
    if not misspelled:
        return file
    top = {s.written: s.meant for s in misspelled if s.counts and not s.within}
    inner = {s.written: s.meant for s in misspelled if s.counts and s.within}
    texts = dict(tree.texts)
    root = _renamed(tree.root, top, texts)
    metadata = root.get(_METADATA)
    if inner and isinstance(metadata, dict):
        root[_METADATA] = _renamed(metadata, inner, texts)
    tree = replace(tree, root=root, texts=texts)
    return file._replace(tree=tree, misspelled=misspelled)


def _renamed(
    mapping: dict[str, Node],
    names: dict[str, str],
    texts: dict[tuple[int, str | int], str],
) -> dict[str, Node]:
    renamed = {names.get(key, key): value for key, value in mapping.items()}
    for key in mapping:
        text = texts.get((id(mapping), key))
        if text is not None:
            texts[id(renamed), names.get(key, key)] = text
    return renamed


@lru_cache(maxsize=4_096)
def nearest_key(key: str, keys: frozenset[str]) -> str | None:
    """Return the known key that ``key`` is a misspelling of, None where it is none."""
    # Capitals and separators do not count; of the rest one letter may be wrong, in a
    # long key two. A short key may only lack a letter or have them in another order.
    # The distance takes time by the length, and known keys are short and in ASCII.
    if len(key) > _MAX_KEY_CHARS or not key.isascii():
        return None
    folded, goals = fold_key(key), _goals(keys)
    alike = goals.get(folded)
    if alike is not None:
        return alike
    if folded in _OTHER_WORDS or not folded.isalnum():
        return None
    words = _words(key)
    near = sorted(
        (steps, candidate)
        for goal, candidate in goals.items()
        if (steps := _steps(folded, goal)) and not _holds(words, candidate)
    )
    return near[0][1] if near else None


@lru_cache
def _goals(keys: frozenset[str]) -> dict[str, str]:
    """Return the known keys by what is left of them when they are folded."""
    # Reversed, so that of keys that fold alike the first by name wins.
    return {fold_key(key): key for key in sorted(keys, reverse=True)}


def fold_key(key: str) -> str:
    return re.sub(r"[\s_-]+", "", key).lower()


def _words(key: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORDS.findall(key))


def _holds(words: tuple[str, ...], key: str) -> bool:
    """Return whether these words are those of a known key and more."""
    theirs = _words(key)
    return len(words) > len(theirs) and any(
        words[at : at + len(theirs)] == theirs
        for at in range(len(words) - len(theirs) + 1)
    )


def _steps(folded: str, key: str) -> int:
    """Return how many typos lead from a key to another; 0 for too many."""
    length = len(key)
    if abs(len(folded) - length) > 2:  # noqa: PLR2004 - the most typos that count
        return 0
    if length < _SHORT:
        mixed = sorted(folded) == sorted(key)
        lacking = len(folded) == length - 1 and _distance(folded, key, 1) == 1
        return int(mixed or lacking)
    most = 2 if length >= _LONG else 1
    if abs(len(folded) - length) > most:
        return 0
    steps = _distance(folded, key, most)
    return steps if steps <= most else 0


def _distance(one: str, other: str, most: int) -> int:
    """Return the optimal string alignment distance; over ``most`` it is any number."""
    # Damerau (1964): one letter missing, added, replaced, or two exchanged.
    before: list[int] = []
    last = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        row = [at]
        for to, goal in enumerate(other, 1):
            steps = min(row[-1] + 1, last[to] + 1, last[to - 1] + (letter != goal))
            swapped = at > 1 < to and letter == other[to - 2] and one[at - 2] == goal
            row.append(min(steps, before[to - 2] + 1) if swapped else steps)
        # No later row can have a distance of `most` or less again.
        if min(row) > most:
            return most + 1
        before, last = last, row
    return last[-1]
