"""The owner of a skill: from its source, its manifest, or CODEOWNERS."""

# ruff: noqa: PTH100, PTH113, PTH114, PTH118, PTH120, PTH208 - strings are faster
import os
import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import translate
from functools import cache
from typing import Final, NamedTuple, cast

from satchel.errors import SkillError
from satchel.files import read_confined
from satchel.model import SKILL_FILE, Descriptor, Origin
from satchel.protocols import SkillSource, with_abilities
from satchel.text import clean_line

# Where GitHub looks, in this order; the first that exists counts.
CODEOWNERS_PATHS: Final = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
# GitHub does not read a larger one.
MAX_BYTES: Final = 3 * 1024 * 1024
# Characters of an owner that an event carries.
MAX_OWNER: Final = 200
_ANY: Final = "**"
_WORD: Final = re.compile(r"(?:\\.|[^\s\\])+|\\\Z")
_NO_GLOB: Final = frozenset("[]!")


class OwnerRule(NamedTuple):
    """One line of a CODEOWNERS file; a part that is None matches any folders.

    If ``deep`` is true, everything below a folder that matches is owned too.
    """

    parts: tuple["re.Pattern[str] | None", ...]
    deep: bool
    owners: str


class _Home(NamedTuple):
    """The nearest parents of a folder: with a ``.git``, and with a CODEOWNERS file.

    An image that was built from a repository has only the second.
    """

    repository: str | None
    owned: str | None


class OwnerLookup:
    """Looks up owners, and remembers them until `forget` is called."""

    def __init__(self, sources: Callable[[], Mapping[str, SkillSource]]) -> None:
        """Take a function that returns the sources by label."""
        self._sources = sources
        self._owners: dict[tuple[str, str, str], str] = {}
        self._rules: dict[str, tuple[OwnerRule, ...]] = {}
        self._repositories = _Repositories()

    def of(self, entry: Descriptor) -> str:
        """Return what its source says, else its manifest, else CODEOWNERS."""
        if not entry.origins:
            return entry.owner
        origin = entry.origins[0]
        key = origin.source, origin.key, entry.owner
        owner = self._owners.get(key)
        if owner is None:
            owners = self._look(origin, entry.owner)
            owner = self._owners[key] = clean_line(owners)[:MAX_OWNER]
        return owner

    def forget(self) -> None:
        """Look everything up again from now on: after a sync."""
        self._owners, self._rules = {}, {}
        self._repositories = _Repositories()

    def _look(self, origin: Origin, declared: str) -> str:
        source = self._sources().get(origin.source)
        if source is None:
            return declared
        ask = getattr(source, "owner_of", None)
        try:
            owners = ask(origin.key) if ask is not None else ""
            if isinstance(owners, str) and owners:
                return owners
            return declared or self._by_repository(source, origin.key)
        except Exception:  # noqa: BLE001 - a source is a plug-in, and an event without owner is fine
            return declared

    def _by_repository(self, source: SkillSource, key: str) -> str:
        root = with_abilities(source).root
        if not root:
            return ""
        # The root may itself be the one pack.
        whole = os.path.isfile(os.path.join(root, SKILL_FILE))
        repository = self._repositories.of(root if whole else os.path.join(root, key))
        if repository is None:
            return ""
        home, path = repository
        rules = self._rules.get(home)
        if rules is None:
            rules = self._rules[home] = parse_codeowners(_read_codeowners(home))
        path = os.path.normpath(os.path.join(path, SKILL_FILE))
        return owner_by(rules, path.replace(os.sep, "/"))


class _Repositories:
    """Finds the repository of a folder, and looks into each folder once."""

    def __init__(self) -> None:
        self._home = cache(self._look)
        self._real_path = cache(cast("Callable[[str], str]", os.path.realpath))

    def of(self, pack: str) -> tuple[str, str] | None:
        """Return the repository of a pack, and the path of the pack in it."""
        above, name = os.path.split(os.path.abspath(pack))
        # All packs of a folder share its real path; only the last part may be another
        # link.
        place = os.path.join(self._real_path(above), name)
        if os.path.islink(place):
            place = os.path.realpath(place)
        home = self._home(place)
        folder = home.repository or home.owned
        return None if folder is None else (folder, os.path.relpath(place, folder))

    def _look(self, folder: str) -> _Home:
        try:
            # One listing answers whether any of the files below exists.
            names = set(os.listdir(folder))
        except OSError:
            names = set[str]()
        if ".git" in names:
            return _Home(folder, None)
        parent = os.path.dirname(folder)
        above = _Home(None, None) if parent == folder else self._home(parent)
        for place in CODEOWNERS_PATHS:
            near = place.partition("/")[0] in names
            if near and os.path.isfile(os.path.join(folder, place)):
                return _Home(above.repository, folder)
        return above


def _read_codeowners(home: str) -> str:
    for place in CODEOWNERS_PATHS:
        try:
            # Confined: a CODEOWNERS that is a link could name any file of the machine.
            data = read_confined(home, place, MAX_BYTES)
        except SkillError:
            continue
        return data.decode("utf-8-sig", "replace")
    return ""


def parse_codeowners(text: str) -> tuple[OwnerRule, ...]:
    """Return the rules of a CODEOWNERS file in order; other lines are left out."""
    rules: list[OwnerRule] = []
    for line in text.splitlines():
        # As on GitHub: the patterns of .gitignore without `!` and `[ ]`; `#` always
        # starts a comment, and a line without owners removes the owners.
        words = _WORD.findall(re.sub(r"(?:^|\s)#.*", "", line))
        if not words or not _NO_GLOB.isdisjoint(words[0]) or "***" in words[0]:
            continue
        rule = _parse_rule(words[0].replace("\\ ", " "), " ".join(words[1:]))
        if rule is not None:
            rules.append(rule)
    return tuple(rules)


def _parse_rule(pattern: str, owners: str) -> OwnerRule | None:
    if pattern == "/":
        return None
    names = pattern.split("/")
    if names[0] == "":
        names = names[1:]
    elif len(names) == 1 or names[1:] == [""]:
        names = [_ANY, *names]  # a bare name matches at any depth
    if names[-1:] == [""]:
        names[-1] = _ANY
    if not any(names) or "" in names:
        return None
    parts = tuple(
        None if name == _ANY else re.compile(translate(name)) for name in names
    )
    # `docs/*` owns the files directly in docs; `docs` owns everything below it.
    return OwnerRule(parts, deep=names[-1] != "*", owners=owners)


def owner_by(rules: Sequence[OwnerRule], path: str) -> str:
    """Return the owners of a file, by the last rule that matches its path."""
    names = path.split("/")
    return next((r.owners for r in reversed(rules) if _rule_matches(r, names)), "")


def _rule_matches(rule: OwnerRule, names: Sequence[str]) -> bool:
    """Return whether a path matches, in at most parts times names steps."""
    # One place to go back to is enough: the last part that matches any folders.
    parts = rule.parts
    part = name = 0
    back_part, back_name = -1, 0
    while name < len(names):
        if part == len(parts) and rule.deep:
            return True
        here = parts[part] if part < len(parts) else None
        if part < len(parts) and here is None:
            if part == len(parts) - 1:
                return True  # a pattern that ends in any folders needs one more name
            back_part, back_name = part, name
            part += 1
        elif here is not None and here.match(names[name]):
            part, name = part + 1, name + 1
        elif back_part >= 0:
            back_name += 1
            part, name = back_part + 1, back_name
        else:
            return False
    return part == len(parts)
