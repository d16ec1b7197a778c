"""What each profile requires of a manifest, as rules.

That yield the violations they find.
"""

from collections.abc import Iterable, Iterator, Mapping, Set as AbstractSet
from typing import Final, Literal, NamedTuple, cast

from satchel.files import path_problem
from satchel.model import (
    MAX_COMPATIBILITY_CHARS,
    MAX_DESCRIPTION_CHARS,
    MAX_NAME_CHARS,
    SPEC_NAME,
    STRICT_DESCRIPTION_CHARS,
    STRICT_NAME,
    Json,
    Severity,
    portable_name,
)
from satchel.skill_md._dialects import SCHEMA_FIELD, SPEC_FIELDS, STRICT_FIELDS, mapping
from satchel.skill_md._frontmatter import Node, YamlTree
from satchel.skill_md._misspelled import MisspelledKey
from satchel.skill_md._opening import ManifestDraft

Profile = Literal["strict", "spec", "lenient", "auto", "dialect"]

_FILES: Final = ("references", "scripts", "assets")
_LISTS: Final = ("trigger_keywords", *_FILES)
MANIFEST_SCHEMA: Final = 1
"""The schema of the fields that are known here; a pack of a later one may have more."""
_ONLY_STRICT: Final = STRICT_FIELDS - SPEC_FIELDS - {"version", "author"}


class Violation(NamedTuple):
    """A rule that is broken: where, as the keys that lead there, and what to do.

    ``refuses`` is false where the profile reports it and takes the pack all the same.
    ``severity`` is that of the profiles that go by rules.
    """

    code: str
    message: str
    at: tuple[str, ...]
    fix: str = ""
    refuses: bool = True
    severity: Severity = "error"


def guide_violations(name: str, directory: str) -> Iterator[Violation]:
    """Yield what the guide for clients warns of before it loads a pack all the same.

    Source: agentskills.io/client-implementation, "Lenient validation".
    """
    if len(name) > MAX_NAME_CHARS:
        yield _too_long(name)
    if directory and name != directory:
        yield _elsewhere(name, directory)


def spec_name_violations(name: str, directory: str = "") -> Iterator[Violation]:
    """Yield what the public specification holds against a name, in its ASCII reading.

    Source: agentskills.io/specification, field ``name``.
    """
    if not SPEC_NAME.fullmatch(name):
        hint = "letters a-z, digits 0-9, and single hyphens between them"
        yield _characters(name, hint)
    yield from guide_violations(name, directory)


def strict_name_violations(name: str, directory: str = "") -> Iterator[Violation]:
    """Yield what profile ``strict`` holds against a name: ``[a-z][a-z0-9-]*``."""
    if not STRICT_NAME.fullmatch(name):
        yield _characters(name, "a letter a-z, then letters, digits 0-9 and hyphens")
    yield from guide_violations(name, directory)


def spec_violations(draft: ManifestDraft) -> Iterator[Violation]:
    """Yield every way in which a manifest breaks the public specification."""
    tree = draft.tree
    if draft.name is None:
        yield _MISSING_NAME
    else:
        yield from spec_name_violations(draft.name, draft.directory)
    if not draft.description:
        yield _MISSING_DESCRIPTION
    elif len(draft.description) > MAX_DESCRIPTION_CHARS:
        yield _description(len(draft.description), f"at most {MAX_DESCRIPTION_CHARS}")
    if tree.root.keys() <= _ESSENTIAL and not draft.misspelled:
        return
    yield from misspelled_violations(draft.misspelled)
    misspelled = _by_key(draft.misspelled)
    for key in tree.root:
        slip = misspelled.get(key)
        if key not in SPEC_FIELDS and (slip is None or slip.counts):
            yield _unknown(
                slip.written if slip else key,
                "metadata is the place for further fields",
                refuses=False,
            )
    yield from _spec_optional(tree)


def strict_violations(
    draft: ManifestDraft, *, forgiving: bool = False
) -> Iterator[Violation]:
    """Yield every way in which a manifest breaks the rules of profile ``strict``.

    ``forgiving`` takes a misspelled field with a warning, as all other profiles do.
    """
    tree = draft.tree
    if draft.name is None:
        yield _MISSING_NAME
    else:
        yield from strict_name_violations(draft.name, draft.directory)
    shortest, longest = STRICT_DESCRIPTION_CHARS
    if not draft.description:
        yield _MISSING_DESCRIPTION
    else:
        folded = len(" ".join(draft.description.split()))
        if not shortest <= folded <= longest:
            yield _description(folded, f"{shortest} to {longest}")
    later = _schema(tree) > MANIFEST_SCHEMA
    misspelled = _by_key(draft.misspelled)
    for key, value in tree.root.items():
        slip = misspelled.get(key)
        if slip is not None and not (later or forgiving):
            yield _unknown(slip.written, f"did you mean `{slip.meant}:`?")
        if key in STRICT_FIELDS:
            yield from _strict_field(tree, key, value)
        elif slip is None and not later:
            yield _unknown(key, f"want one of {', '.join(sorted(STRICT_FIELDS))}")
    yield from misspelled_violations(
        slip for slip in draft.misspelled if slip.within or later or forgiving
    )


def dialect_of_keys(keys: AbstractSet[str]) -> Literal["strict", "spec"]:
    """Return the profile of the dialect that these keys at the top are of.

    ``strict`` where some are fields that only its dialect has, and where fewer are
    unknown to it than to the public specification. ``version`` and ``author``, which
    many write in either, decide nothing.
    """
    own = keys & _ONLY_STRICT
    return "strict" if own and len(keys - STRICT_FIELDS) < len(own) else "spec"


def _by_key(misspelled: Iterable[MisspelledKey]) -> dict[str, MisspelledKey]:
    """Return the slips at the top by the key that a tree has for each."""
    return {s.meant if s.counts else s.written: s for s in misspelled if not s.within}


def misspelled_violations(misspelled: Iterable[MisspelledKey]) -> Iterator[Violation]:
    """Yield what there is to say of keys that are nearly known ones."""
    for slip in misspelled:
        shown, meant = ".".join(slip.at), ".".join((*slip.within, slip.meant))
        told = "it is read as that" if slip.counts else "that is there too, and counts"
        yield Violation(
            "misspelled-field",
            f"unknown field {shown!r}; did you mean {meant!r}? {told}",
            slip.at,
            f"write `{slip.meant}:`" if slip.counts else "keep one of the two",
            refuses=False,
            severity="warning",
        )


def _strict_field(tree: YamlTree, key: str, value: Node) -> Iterator[Violation]:
    if key in _LISTS:
        yield from _strict_list(tree, key, value)
    elif key == SCHEMA_FIELD:
        if not _schema(tree):
            yield _kind(key, "a whole number from 1")
    elif key == "version" or (key == "author" and value is not None):
        yield from _no_text(tree, key)


_ESSENTIAL: Final = frozenset(["name", "description"])
_MISSING_NAME: Final = Violation(
    "missing-name", "there is no name", ("name",), "add `name:`"
)
_MISSING_DESCRIPTION: Final = Violation(
    "missing-description",
    "there is no description",
    ("description",),
    "say in `description:` what the skill does and when to use it",
)


def _schema(tree: YamlTree) -> int:
    """Return the manifest's schema, the known one where it is silent; 0 for none."""
    value = tree.root.get(SCHEMA_FIELD, MANIFEST_SCHEMA)
    return value if type(value) is int and value > 0 else 0


def _strict_list(tree: YamlTree, key: str, value: Node) -> Iterator[Violation]:
    items = tree.items(value) if isinstance(value, list) else [None]
    if None in items:
        yield _kind(key, "a list of texts")
    for item in items if key in _FILES else ():
        problem = path_problem(item) if item else ""
        if problem:
            yield Violation(
                "unsafe-declared-file",
                f"{key} declares {item!r}: {problem}",
                (key,),
                "name a file inside the pack, relative to it, with / between",
            )


def _spec_optional(tree: YamlTree) -> Iterator[Violation]:
    root = tree.root
    if "license" in root:
        yield from _no_text(tree, "license")
    if "compatibility" in root:
        text = tree.text("compatibility")
        if text is None or not 1 <= len(text.strip()) <= MAX_COMPATIBILITY_CHARS:
            yield Violation(
                "compatibility-length",
                f"want a text of 1 to {MAX_COMPATIBILITY_CHARS} characters",
                ("compatibility",),
                "shorten it, or leave the field out",
            )
    if "allowed-tools" in root and tree.text("allowed-tools") is None:
        yield _kind("allowed-tools", "a text with blanks between the tools")
    if "metadata" in root:
        metadata = root["metadata"]
        if not isinstance(metadata, dict):
            yield _kind("metadata", "a mapping of texts to texts")
        for key in mapping(metadata):
            if tree.text(key, mapping(metadata)) is None:
                yield Violation(
                    "metadata-not-text",
                    f"metadata.{key} is no text",
                    ("metadata", key),
                    "write it as one text, in quotes",
                )


def _no_text(tree: YamlTree, key: str) -> Iterator[Violation]:
    if tree.text(key) is None:
        yield _kind(key, "a text")


def _characters(name: str, want: str) -> Violation:
    near = portable_name(name)
    fix = f"write `name: {near}`" if near else "give it a name of these"
    return Violation("name-characters", f"name {name!r}: want {want}", ("name",), fix)


def _too_long(name: str) -> Violation:
    return Violation(
        "name-too-long",
        f"the name has {len(name)} characters, at most {MAX_NAME_CHARS} are allowed",
        ("name",),
        "shorten the name, and the folder's with it",
    )


def _elsewhere(name: str, directory: str) -> Violation:
    return Violation(
        "name-not-folder",
        f"the name is {name!r}, the folder is {directory!r}",
        ("name",),
        "give both the same name",
    )


def _description(length: int, want: str) -> Violation:
    return Violation(
        "description-length",
        f"the description has {length} characters, want {want}",
        ("description",),
        "say what the skill does and when to use it, in a few sentences",
    )


def _unknown(key: str, fix: str, *, refuses: bool = True) -> Violation:
    return Violation("unknown-field", f"unknown field {key!r}", (key,), fix, refuses)


def _kind(key: str, want: str) -> Violation:
    return Violation("field-kind", f"{key}: want {want}", (key,), f"write {want}")


def nonstandard_fields(frontmatter: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the names of such fields, ``metadata.version`` for a value of a mapping.

    ``license`` and ``allowed-tools`` are to be text, ``compatibility`` text of 1 to 500
    characters, ``metadata`` a mapping of text to text.
    """
    return tuple(_nonstandard(frontmatter))


def _nonstandard(frontmatter: Mapping[str, Json]) -> Iterator[str]:
    for name in ("license", "allowed-tools", "compatibility"):
        if name in frontmatter and not isinstance(frontmatter[name], str):
            yield name
    text = frontmatter.get("compatibility")
    if isinstance(text, str) and not 1 <= len(text) <= MAX_COMPATIBILITY_CHARS:
        yield "compatibility"
    if "metadata" not in frontmatter:
        return
    metadata = frontmatter["metadata"]
    if not isinstance(metadata, dict):
        yield "metadata"
        return
    for key, value in cast("dict[str, object]", metadata).items():
        if not isinstance(value, str):
            yield f"metadata.{key}"
