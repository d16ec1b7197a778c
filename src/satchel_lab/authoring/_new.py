"""A new pack, from a template or one that ships: equal requests give equal bytes."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from textwrap import dedent
from typing import TYPE_CHECKING, Final

from satchel.errors import SkillManifestError, SkillNotFoundError
from satchel.files import is_excluded_file, path_problem
from satchel.model import (
    DEFAULT_LIMITS,
    MAX_NAME_CHARS,
    PORTABLE_NAME,
    SKILL_FILE,
    Finding,
    Found,
    Json,
    is_name,
    portable_name,
)
from satchel.skill_md import (
    from_spec,
    parse,
    read_as_written,
    render_frontmatter,
    to_spec,
)
from satchel.sources import roles
from satchel_lab.authoring._convert._values import Dialect
from satchel_lab.authoring._packs import PackDraft
from satchel_lab.evals import NEW_FILE, new_evals

if TYPE_CHECKING:
    from satchel.protocols import SkillSource


# What an author has to write. Each begins like this one, by which the lint rule
# `left-to-fill-in` and the author's editor find it.
MARK: Final = "TODO: say"
_DESCRIPTION: Final = f"{MARK} what it does, and when to use it."

_STEPS: Final = dedent(f"""\
    {MARK} what a colleague has to know. Leave out what any good model knows.

    ## Steps

    1. {MARK} what to look at first, and what to ask for if it is missing.
    2. {MARK} how to do the work, if there is more than one way.
    3. {MARK} how to check the result.

    ## When it goes wrong

    {MARK} what usually fails, how to notice it, and what to do then.
    """)

_PYTHON: Final = f'''\
#!/usr/bin/env python3
"""{MARK} in one line what this does.

Usage: python {{path}} FILE
"""

import sys


def main(arguments: list[str]) -> int:
    """Return 0 if it worked, 2 if it was called in a wrong way."""
    if len(arguments) != 1 or arguments[0] in ("-h", "--help"):
        print(__doc__, file=sys.stderr)
        return 0 if "--help" in arguments or "-h" in arguments else 2
    # {MARK} here what to do with the file.
    print(f"would work on {{{{arguments[0]}}}}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
'''

_SHELL: Final = f"""\
#!/bin/sh
# {MARK} in one line what this does. Usage: {{path}} FILE
set -eu

if [ "$#" -ne 1 ] || [ "$1" = "--help" ]; then
    echo "usage: {{path}} FILE" >&2
    exit 2
fi

# {MARK} here what to do with the file.
echo "would work on $1"
"""

_OTHER: Final = f"{MARK} in one line what {{path}} is.\n"
_QUERIES: Final = {
    f"{MARK} what a user types who needs this skill": True,
    f"{MARK} what a user types who needs another one, in nearly the same words": False,
}


def template_body(title: str, references: Sequence[str], scripts: Sequence[str]) -> str:
    """Return the body of SKILL.md; every file that comes with it is mentioned."""
    body = f"\n# {title}\n\n{_STEPS}"
    if references:
        body += "\n## References\n\nRead one only when it is needed.\n\n"
    for path in references:
        body += f"- `{path}`: {MARK} when to read it, such as before step 2.\n"
    if scripts:
        body += "\n## Scripts\n\nPaths are relative to this skill's folder.\n\n"
    for path in scripts:
        body += f"- `{path} FILE`: {MARK} what it does.\n"
    return body


def template_reference(path: str) -> str:
    """Return a reference to begin with, by the kind of its file."""
    place = PurePosixPath(path)
    if place.suffix.lower() in {".md", ".markdown"}:
        title = place.stem.replace("-", " ").replace("_", " ").capitalize() or "Notes"
        return f"# {title}\n\n{MARK} what is too long, or too rare, for SKILL.md.\n"
    if place.suffix == ".py":
        return f'"""{MARK} in one line what {path} shows."""\n'
    if place.suffix == ".json":
        return "{}\n"
    return _OTHER.format(path=path)


def template_script(path: str) -> str:
    """Return a script to begin with, by the kind of its file: it runs, and helps."""
    suffix = PurePosixPath(path).suffix
    if suffix == ".py":
        return _PYTHON.format(path=path)
    if suffix in {".sh", ".bash", ""}:
        return _SHELL.format(path=path)
    return _OTHER.format(path=path)


def role_names() -> tuple[str, ...]:
    """Return the names of the packs that ship, sorted."""
    return tuple(sorted(_role_keys(roles())))


def _role_keys(source: "SkillSource") -> dict[str, str]:
    keys = (entry.key for entry in source.scan() if isinstance(entry, Found))
    return {key.rpartition("/")[2]: key for key in keys}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPackRequest:
    """What to put into a new pack; ``references`` and ``scripts`` are file names.

    Without a ``description`` there is a mark in its place. ``evals`` adds a file of
    queries to fill in, for ``satchel eval``. ``role`` is one of the packs that ship
    with Satchel, to begin with; empty for none.
    """

    name: str
    description: str = ""
    dialect: Dialect = "spec"
    references: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    license: str = ""
    author: str = ""
    role: str = ""
    evals: bool = False


def name_problem(name: str) -> str:
    """Return what is wrong with a name for a new pack, with a better one; else nothing.

    Only names are accepted that every profile and every client accepts: a letter
    ``a-z``, then letters, digits and single hyphens, at most 64 characters.
    """
    if is_name(name, PORTABLE_NAME):
        problem = path_problem(name)
        return f"{name!r} cannot be the name of a folder: {problem}" if problem else ""
    folder, slash, last = name.rstrip("/").rpartition("/")
    near = portable_name(last)
    usable = near and not path_problem(near)
    place = f" --in {folder}" if slash and folder != "." else ""
    offer = f"; try {near}{place}" if usable else ""
    return (
        f"{name!r} is not a name that every client accepts: use a letter a-z, then "
        f"letters, digits and single hyphens, at most {MAX_NAME_CHARS} characters"
        f"{offer}"
    )


def make_pack(request: NewPackRequest) -> PackDraft:
    """Return the files of a new pack; nothing is written.

    Raises:
        SkillManifestError: The name, the description or a file's name is not valid.
    """
    problem = name_problem(request.name)
    if problem:
        raise SkillManifestError("name", problem)
    pack = _of_role(request) if request.role else _of_template(request)
    # Parsed as a pack on disk is, so that a check never refuses what was made here.
    parsed = parse(
        pack.files[SKILL_FILE], profile=request.dialect, directory=request.name
    )
    for finding in parsed.findings:
        raise SkillManifestError(SKILL_FILE, f"{finding.message}; {finding.fix}")
    return pack


def _of_template(request: NewPackRequest) -> PackDraft:
    references = tuple(_places("references", request.references))
    scripts = tuple(_places("scripts", request.scripts))
    title = request.name.replace("-", " ").capitalize()
    fields: dict[str, Json] = {
        "name": request.name,
        "description": " ".join(request.description.split()) or _DESCRIPTION,
    }
    if request.license:
        fields["license"] = request.license
    if request.author:
        fields["author"] = request.author
    if request.dialect == "strict":
        for key, places in (("references", references), ("scripts", scripts)):
            if places:
                fields[key] = [place.partition("/")[2] for place in places]
    else:
        fields = to_spec(fields)
    text = render_frontmatter(fields) + template_body(title, references, scripts)
    files = {SKILL_FILE: text.encode()}
    files |= {place: template_reference(place).encode() for place in references}
    files |= {place: template_script(place).encode() for place in scripts}
    if request.evals:
        files[NEW_FILE] = new_evals(_QUERIES).encode()
    return PackDraft(request.name, files, frozenset(scripts))


def _places(bucket: str, names: Iterable[str]) -> Iterator[str]:
    """Yield the path of each file once, in the order given."""
    files: set[str] = set()
    for name in dict.fromkeys(name.removeprefix(f"{bucket}/") for name in names):
        place = f"{bucket}/{name}"
        problem = "it has a slash" if "/" in name else path_problem(place)
        if is_excluded_file(place):
            problem = "no pack hands out a file of this kind"
        # macOS and Windows have one file for both spellings of an accent, or of a case.
        folded = unicodedata.normalize("NFC", place).casefold()
        if not problem and not place.isprintable():
            problem = "it has an invisible character"
        if folded in files:
            problem = "on some systems another one is the same file"
        files.add(folded)
        if problem:
            raise SkillManifestError(place, problem)
        yield place


def _of_role(request: NewPackRequest) -> PackDraft:
    """Return a pack that ships, under another name; without a description its own."""
    source = roles()
    keys = _role_keys(source)
    if request.role not in keys:
        raise SkillNotFoundError(request.role, tuple(sorted(keys)))
    key = keys[request.role]
    limit = DEFAULT_LIMITS.file_bytes
    files = {
        stat.path: source.read(key, stat.path, limit) for stat in source.files(key)
    }
    written = read_as_written(files[SKILL_FILE])
    assert not isinstance(written, Finding)  # noqa: S101 - our own pack
    fields = {**written.fields, "name": request.name}
    if description := " ".join(request.description.split()):
        fields["description"] = description
    convert = to_spec if request.dialect == "spec" else from_spec
    files[SKILL_FILE] = render_frontmatter(convert(fields)).encode() + written.body
    programs = frozenset(path for path in files if path.startswith("scripts/"))
    return PackDraft(request.name, files, programs)
