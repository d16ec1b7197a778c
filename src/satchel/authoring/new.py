"""A new pack: the same wish gives the same bytes, and what is made passes a check."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from satchel.authoring.templates import body_of, reference, script
from satchel.errors import SkillManifestError
from satchel.files import is_left_out, path_problem
from satchel.model import SKILL_FILE, Json
from satchel.spec import parse, portable_name, render_frontmatter, to_spec

__all__ = ["Dialect", "NewPack", "Wish", "make_pack", "name_problem"]

Dialect: TypeAlias = Literal["spec", "strict"]

MAX_NAME_CHARS: Final = 64
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a new pack is to be; ``references`` and ``scripts`` are plain file names.

    ``role`` is one of the packs that ship with Satchel, to begin with; empty for none.
    """

    name: str
    description: str = ""
    dialect: Dialect = "spec"
    references: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    license: str = ""
    author: str = ""
    role: str = ""


@dataclass(frozen=True, slots=True)
class NewPack:
    """The files of a new pack, by path; ``programs`` are to be executable."""

    name: str
    files: dict[str, bytes]
    programs: frozenset[str]


def name_problem(name: str) -> str:
    """Return what is wrong with a name for a new pack, with a better one; else nothing.

    Only names are taken that every profile and every client takes (X05): ``a-z``, then
    ``a-z`` and ``0-9``, single hyphens between, at most 64 characters.
    """
    if _NAME.fullmatch(name) and len(name) <= MAX_NAME_CHARS:
        problem = path_problem(name)
        return f"{name!r} is no name for a folder: {problem}" if problem else ""
    folder, slash, last = name.rstrip("/").rpartition("/")
    near = portable_name(last)
    usable = _NAME.fullmatch(near) and not path_problem(near)
    place = f" --in {folder}" if slash and folder != "." else ""
    offer = f"; try {near}{place}" if usable else ""
    return (
        f"{name!r} is no name that every client takes: a letter a-z, then letters, "
        f"digits and single hyphens, at most {MAX_NAME_CHARS} characters{offer}"
    )


def make_pack(wish: Wish) -> NewPack:
    """Return the files of a new pack; nothing is written.

    Raises:
        SkillManifestError: The name, the description or a file's name will not do.
    """
    problem = name_problem(wish.name)
    if problem:
        raise SkillManifestError("name", problem)
    pack = _of_role(wish) if wish.role else _of_template(wish)
    parsed = parse(pack.files[SKILL_FILE], profile=wish.dialect, directory=wish.name)
    for finding in parsed.findings:
        raise SkillManifestError(SKILL_FILE, f"{finding.message}; {finding.fix}")
    return pack


def _of_template(wish: Wish) -> NewPack:
    references = tuple(_places("references", wish.references))
    scripts = tuple(_places("scripts", wish.scripts))
    title = wish.name.replace("-", " ").capitalize()
    fields: dict[str, Json] = {
        "name": wish.name,
        "description": " ".join(wish.description.split()),
    }
    if wish.license:
        fields["license"] = wish.license
    if wish.author:
        fields["author"] = wish.author
    if wish.dialect == "strict":
        for key, places in (("references", references), ("scripts", scripts)):
            if places:
                fields[key] = [place.partition("/")[2] for place in places]
    else:
        fields = to_spec(fields)
    text = render_frontmatter(fields) + body_of(title, references, scripts)
    files = {SKILL_FILE: text.encode()}
    files |= {place: reference(place).encode() for place in references}
    files |= {place: script(place).encode() for place in scripts}
    return NewPack(wish.name, files, frozenset(scripts))


def _places(bucket: str, names: Iterable[str]) -> Iterator[str]:
    """Yield the path of each file once, in the order given."""
    taken: set[str] = set()
    for name in dict.fromkeys(each.removeprefix(f"{bucket}/") for each in names):
        place = f"{bucket}/{name}"
        problem = "it holds a slash" if "/" in name else path_problem(place)
        if is_left_out(place):
            problem = "no pack hands out a file of this kind"
        folded = unicodedata.normalize("NFC", place).casefold()
        if not problem and not place.isprintable():
            problem = "it holds a character that nobody sees"
        if folded in taken:
            problem = "on some systems another one is the same file"
        taken.add(folded)
        if problem:
            raise SkillManifestError(place, problem)
        yield place


def _of_role(wish: Wish) -> NewPack:
    from satchel.authoring.role_packs import read_role

    description = " ".join(wish.description.split())
    files = read_role(wish.role, wish.name, description, in_spec=wish.dialect == "spec")
    return NewPack(
        wish.name,
        files,
        frozenset(path for path in files if path.startswith("scripts/")),
    )
