"""What each profile requires of a manifest, as rules that yield their violations."""

import re
from collections.abc import Iterable, Iterator, Mapping, Set as AbstractSet
from typing import Any, Final, Literal, NamedTuple, cast

from satchel.files import path_problem
from satchel.model import (
    MAX_COMPATIBILITY_CHARS,
    MAX_DESCRIPTION_CHARS,
    MAX_NAME_CHARS,
    SPEC_NAME,
    STRICT_DESCRIPTION_CHARS,
    STRICT_NAME,
    Finding,
    Severity,
    is_name,
    portable_name,
)
from satchel.skill_md._dialects import CLIENT_FIELDS, DESCRIBING_FIELDS, is_of_a_skill
from satchel.skill_md._frontmatter import MisspelledKey, Node, YamlTree
from satchel.skill_md._manifest import (
    FLAGS,
    LISTS,
    NEEDS_FIELDS,
    SCHEMA_FIELD,
    SPEC_FIELDS,
    STRICT_FIELDS,
    boolean,
    mapping,
    skill_names,
)
from satchel.skill_md._misspelled import fold_key
from satchel.skill_md._opening import ManifestDraft

# The schema of the fields that are known here; a pack of a later one may have more.
MANIFEST_SCHEMA: Final = 1
_ONLY_STRICT: Final = STRICT_FIELDS - SPEC_FIELDS - {"version", "author"}


class Violation(NamedTuple):
    """A rule that is broken: where, as the keys that lead there, and what to do.

    ``refuses`` is false where the profile reports it and accepts the pack all the same.
    ``severity`` is that of the profiles that go by rules.
    """

    code: str
    message: str
    at: tuple[str, ...]
    fix: str = ""
    refuses: bool = True
    severity: Severity = "error"

    @classmethod
    def of(
        cls,
        code: str,
        *at: str,
        refuses: bool = True,
        severity: Severity = "error",
        sentence: str = "",
        **values: object,
    ) -> "Violation":
        """Make a violation from the table of codes, as `Finding.of` does."""
        finding = Finding.of(code, sentence=sentence, **cast("dict[str, Any]", values))
        return cls(code, finding.message, at, finding.fix, refuses, severity)

    def finding(
        self, path: str, line: int | None, severity: Severity | None = None
    ) -> Finding:
        """Return it as a finding; ``severity`` None is its own."""
        severity = severity or self.severity
        return Finding(self.code, severity, self.message, path, line, self.fix)


def guide_violations(name: str, directory: str) -> Iterator[Violation]:
    """Yield what the guide for clients warns of before it loads a pack all the same."""
    # agentskills.io/client-implementation, "Lenient validation".
    if len(name) > MAX_NAME_CHARS:
        yield Violation.of(
            "name-too-long", "name", count=len(name), limit=MAX_NAME_CHARS
        )
    if directory and name != directory:
        yield Violation.of("name-not-folder", "name", name=name, folder=directory)


def spec_name_violations(name: str, directory: str = "") -> Iterator[Violation]:
    """Yield how a name breaks the public specification, in its ASCII reading."""
    if not SPEC_NAME.fullmatch(name):
        expected = "letters a-z, digits 0-9, and single hyphens between them"
        yield _characters(name, expected)
    yield from guide_violations(name, directory)


def strict_name_violations(name: str, directory: str = "") -> Iterator[Violation]:
    if not STRICT_NAME.fullmatch(name):
        yield _characters(name, "a letter a-z, then letters, digits 0-9 and hyphens")
    yield from guide_violations(name, directory)


def _characters(name: str, expected: str) -> Violation:
    near = portable_name(name)
    # A name without some of its letters says something else.
    is_whole = sum(map(str.isalpha, near)) >= sum(map(str.isalpha, name))
    near = near if is_whole else ""
    return Violation.of(
        "name-characters",
        "name",
        sentence="" if near else "hopeless",
        name=name,
        expected=expected,
        near=near,
    )


# Yielded one by one, so that `auto` can ask cheaply whether there is a first.
def spec_violations(draft: ManifestDraft) -> Iterator[Violation]:
    tree = draft.file.tree
    name, directory = draft.name, draft.directory
    if name is None:
        yield Violation.of("missing-name", "name")
    elif not is_name(name) or (directory and name != directory):
        yield from spec_name_violations(name, directory)
    length = len(draft.description)
    if not length:
        yield Violation.of("missing-description", "description", sentence="profile")
    elif length > MAX_DESCRIPTION_CHARS:
        yield _description(length, f"at most {MAX_DESCRIPTION_CHARS}")
    if draft.file.misspelled:
        yield from misspelled_violations(draft.file.misspelled)
    misspelled = _by_key(draft.file.misspelled) if draft.file.misspelled else {}
    for key in tree.root:
        wrong = misspelled.get(key)
        if key not in SPEC_FIELDS and (wrong is None or wrong.counts):
            field = wrong.written if wrong else key
            yield Violation.of("unknown-field", field, refuses=False, field=field)
    yield from _spec_optional(tree)
    yield from flag_violations(tree)


def strict_violations(
    draft: ManifestDraft, *, forgiving: bool = False
) -> Iterator[Violation]:
    """Yield how a manifest breaks ``strict``; ``forgiving`` accepts misspelled keys."""
    tree = draft.file.tree
    if draft.name is None:
        yield Violation.of("missing-name", "name")
    else:
        yield from strict_name_violations(draft.name, draft.directory)
    shortest, longest = STRICT_DESCRIPTION_CHARS
    length = len(" ".join(draft.description.split()))
    if not length:
        yield Violation.of("missing-description", "description", sentence="profile")
    elif not shortest <= length <= longest:
        yield _description(length, f"{shortest} to {longest}")
    later = _schema(tree) > MANIFEST_SCHEMA
    misspelled = _by_key(draft.file.misspelled)
    for key, value in tree.root.items():
        wrong = misspelled.get(key)
        if wrong is not None and not (later or forgiving):
            yield Violation.of(
                "unknown-field",
                wrong.written,
                sentence="meant",
                field=wrong.written,
                meant=wrong.meant,
            )
        if key in STRICT_FIELDS:
            yield from _strict_field(tree, key, value)
        elif wrong is None and not later and not (forgiving and _needs(key, value)):
            yield Violation.of(
                "unknown-field",
                key,
                sentence="known",
                field=key,
                fields=", ".join(sorted(STRICT_FIELDS)),
            )
    yield from flag_violations(tree)
    yield from misspelled_violations(
        wrong for wrong in draft.file.misspelled if wrong.within or later or forgiving
    )


def dialect_of_keys(keys: AbstractSet[str]) -> Literal["strict", "spec"]:
    """Return the profile of the dialect that these keys at the top are of."""
    # `version` and `author`, which many write in either, decide nothing.
    own = keys & _ONLY_STRICT
    others = keys - STRICT_FIELDS - {*NEEDS_FIELDS}
    return "strict" if own and len(others) < len(own) else "spec"


def _needs(key: str, value: Node) -> bool:
    """Tell whether a field names the skills that are needed; it may name none."""
    return key in NEEDS_FIELDS and skill_names(key, value) is not None


def _by_key(misspelled: Iterable[MisspelledKey]) -> dict[str, MisspelledKey]:
    """Return the misspelled keys at the top by the key that a tree has for each."""
    return {s.meant if s.counts else s.written: s for s in misspelled if not s.within}


def misspelled_violations(misspelled: Iterable[MisspelledKey]) -> Iterator[Violation]:
    for wrong in misspelled:
        written, meant = ".".join(wrong.at), ".".join((*wrong.within, wrong.meant))
        # A client documents this spelling, too; or it is a key of the author's own,
        # which differs only in its hyphen.
        is_own = wrong.within and fold_key(wrong.written) == fold_key(wrong.meant)
        if written in CLIENT_FIELDS or is_own:
            continue
        yield Violation.of(
            "misspelled-field",
            *wrong.at,
            refuses=False,
            severity="warning",
            sentence="" if wrong.counts else "both",
            written=written,
            meant=meant,
            key=wrong.meant,
        )


def flag_violations(tree: YamlTree) -> Iterator[Violation]:
    """Yield the fields that are neither true nor false, and not empty."""
    for key, value in tree.root.items():
        if key in FLAGS and value is not None and boolean(tree, key) is None:
            yield _kind(key, "true or false", refuses=False, severity="warning")


def _strict_field(tree: YamlTree, key: str, value: Node) -> Iterator[Violation]:
    if key in LISTS:
        yield from _strict_list(tree, key, value)
    elif key == SCHEMA_FIELD:
        if not _schema(tree):
            yield _kind(key, "a whole number from 1")
    elif (key == "version" or (key == "author" and value is not None)) and tree.text(
        key
    ) is None:
        yield _kind(key, "a text")


def _schema(tree: YamlTree) -> int:
    """Return the manifest's schema, the known one if it names none; 0 if invalid."""
    value = tree.root.get(SCHEMA_FIELD, MANIFEST_SCHEMA)
    return value if type(value) is int and value > 0 else 0


def _strict_list(tree: YamlTree, key: str, value: Node) -> Iterator[Violation]:
    items = tree.items(value) if isinstance(value, list) else [None]
    if None in items:
        yield _kind(key, "a list of texts")
    for item in items if key in LISTS[1:] else ():
        problem = path_problem(item) if item else ""
        if problem:
            yield Violation.of(
                "unsafe-declared-file",
                key,
                sentence="problem",
                bucket=key,
                name=item,
                problem=problem,
            )


def _spec_optional(tree: YamlTree) -> Iterator[Violation]:
    root = tree.root
    if "license" in root and tree.text("license") is None:
        yield _kind("license", "a text")
    if "compatibility" in root:
        text = tree.text("compatibility")
        if text is None or not 1 <= len(text.strip()) <= MAX_COMPATIBILITY_CHARS:
            yield Violation.of(
                "compatibility-length", "compatibility", limit=MAX_COMPATIBILITY_CHARS
            )
    if "allowed-tools" in root and tree.text("allowed-tools") is None:
        yield _kind("allowed-tools", "a text with spaces between the tools")
    if "metadata" in root:
        metadata = root["metadata"]
        if not isinstance(metadata, dict):
            yield _kind("metadata", "a mapping of texts to texts")
        for key in mapping(metadata):
            if tree.text(key, mapping(metadata)) is None:
                yield Violation.of(
                    "metadata-not-text", "metadata", key, sentence="profile", key=key
                )


def _description(length: int, expected: str) -> Violation:
    return Violation.of(
        "description-length", "description", count=length, expected=expected
    )


def _kind(
    key: str, expected: str, *, refuses: bool = True, severity: Severity = "error"
) -> Violation:
    return Violation.of(
        *("field-kind", key),
        refuses=refuses,
        severity=severity,
        field=key,
        expected=expected,
    )


_WORD: Final = re.compile(r"[A-Za-z]+")


def is_left_alone(violation: Violation, root: Mapping[str, Node]) -> bool:
    """Tell whether a pack may break the public specification so, if nobody chose it."""
    if violation.code == "field-kind":
        # As Claude Code documents it: a text, with commas or spaces, or a list.
        return violation.at == ("allowed-tools",) and isinstance(
            root["allowed-tools"], list
        )
    if violation.code == "unknown-field":
        return not _may_move(violation.at[0], root)
    if violation.code == "misspelled-field":
        return not is_of_a_skill(root)
    # A list or a mapping there is one that a program reads; lint reports the scalars.
    return violation.code == "metadata-not-text"


def _may_move(field: str, root: Mapping[str, Node]) -> bool:
    """Tell whether ``metadata`` is a better place for a field: nothing reads it."""
    # A pack with a field of its own, or a mapping in `metadata`, has a program that
    # reads it where it is; a word alone is for people.
    unknown = root.keys() - SPEC_FIELDS - CLIENT_FIELDS.keys()
    unknown = {key for key in unknown if not _needs(key, root[key])}
    value = root.get(field)
    is_word = isinstance(value, str) and _WORD.fullmatch(f"{field}{value}")
    return (
        field in unknown
        and is_of_a_skill(root)
        and (unknown <= DESCRIBING_FIELDS or bool(is_word and unknown == {field}))
        and not any(map(mapping, mapping(root.get("metadata")).values()))
    )
