"""Bytes of a SKILL.md to a manifest and findings: the one way in."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from satchel.errors import LimitExceededError
from satchel.model import (
    DEFAULT_LIMITS,
    MAX_NAME_CHARS,
    Finding,
    Json,
    Limits,
    Manifest,
)
from satchel.skill_md._dialects import SPEC_FIELDS, STRICT_FIELDS
from satchel.skill_md._frontmatter import Node, YamlProblem, YamlTree
from satchel.skill_md._manifest import manifest_of
from satchel.skill_md._misspelled import (
    corrected_keys,
    find_misspelled,
    with_corrected_keys,
)
from satchel.skill_md._opening import (
    Frontmatter,
    ManifestDraft,
    find_span,
    read_tree,
    too_large,
)
from satchel.skill_md._profiles import (
    Profile,
    Violation,
    dialect_of_keys,
    flag_violations,
    guide_violations,
    is_left_alone,
    misspelled_violations,
    spec_violations,
    strict_violations,
)
from satchel.text import clean_line, decode, find_hidden, is_unsure

_RULES: Final = {"spec": spec_violations, "strict": strict_violations}
# A file of a thousand equal keys must not give a thousand findings.
_MAX_DUPLICATES: Final = 10


@dataclass(frozen=True, slots=True)
class Parsed:
    """What `parse` made of a file.

    ``manifest`` is None exactly where the file was refused, and then at least one
    finding is an error. ``profile`` is the profile that matched, empty if refused.
    """

    manifest: Manifest | None
    findings: tuple[Finding, ...] = ()
    profile: str = ""


def parse(  # noqa: PLR0913 - keywords, each with a default
    data: bytes,
    *,
    profile: Profile = "auto",
    path: str = "SKILL.md",
    directory: str = "",
    limits: Limits = DEFAULT_LIMITS,
    allow_empty_description: bool = False,
) -> Parsed:
    """Return the manifest of a SKILL.md and findings; it never raises.

    ``strict`` and ``spec`` report everything that breaks their rules, each as an
    error with its line; ``dialect`` is that of the two whose fields the file has.
    ``lenient`` and ``auto`` accept what gives a name and a description, and report what
    was repaired, refused, or is likely to fail in other clients; ``auto`` also says
    which profile matched.

    Args:
        data: The whole file.
        profile: What is accepted. It never changes what is returned.
        path: What findings call the file.
        directory: The pack's folder, which its name should be; empty for none.
        limits: Bounds on the file, its frontmatter, and the depth and number of nodes.
        allow_empty_description: Accept a pack without a description, in the profiles
            ``lenient`` and ``auto``.
    """
    try:
        return _parse(data, profile, path, directory, limits, allow_empty_description)
    # A pack is untrusted, and one that makes the parser fail must cost no other.
    except Exception as error:  # noqa: BLE001
        return Parsed(None, (Finding.of("parser-failed", path, 1, error=error),))


def dialect_of(manifest: Manifest) -> Profile:
    """Return the profile of the dialect that a manifest is written in."""
    return dialect_of_keys(corrected_keys(manifest.frontmatter).keys())


def read_frontmatter(data: bytes, limits: Limits) -> Frontmatter | Finding:
    # Before any search, so that a file over the limit costs no work.
    if len(data) > limits.skill_md_bytes:
        return too_large("skill_md_bytes", limits.skill_md_bytes, len(data))
    problem: YamlProblem | None = None
    span = find_span(data)
    if span is not None:
        head = data[span.head : span.end]
        if len(head) > limits.frontmatter_bytes:
            return too_large("frontmatter_bytes", limits.frontmatter_bytes, len(head))
        tree = read_tree(head, limits)
        if isinstance(tree, YamlTree):
            return Frontmatter(tree, head, span.line)
        problem = tree
    # Most files are sound, so the repairs are imported for a broken one only.
    from satchel.skill_md._repair import repair_file

    return repair_file(data, span, problem, limits)


def draft_manifest(file: Frontmatter, directory: str) -> ManifestDraft:
    """Return the draft of a file, its misspelled keys read as they were meant."""
    misspelled = find_misspelled(file.tree.root)
    if misspelled:
        tree = with_corrected_keys(file.tree, misspelled)
        file = file._replace(tree=tree, misspelled=misspelled)
    tree, repairs = file.tree, file.repairs
    description = tree.text("description")
    if description is None and tree.root.get("description") is not None:
        description, repair = _description_as_written(file)
        repairs = (*repairs, repair)
    text = (description or "").strip()
    return ManifestDraft(file, tree.text("name"), text, directory, repairs)


def _description_as_written(file: Frontmatter) -> tuple[str, Finding]:
    """Return a description that is not text as text, and the finding of that."""
    from satchel.skill_md._entries import fold, split_entries
    from satchel.skill_md._repair import repair_finding

    text = file.head.decode("utf-8", "replace").replace("\r\n", "\n")
    # The entries come from the text as written, where the key may be misspelled.
    (key,) = file.as_written(("description",))
    values = (
        fold(entry.value, entry.more)
        for entry in split_entries(text.split("\n"))
        if entry.key == key
    )
    description = next(values, "")
    line = file.line_of("description")
    return description, repair_finding(
        "description-not-text", line, description, description
    )


def _parse(  # noqa: PLR0913, PLR0917 - the arguments of `parse`
    data: bytes,
    profile: Profile,
    path: str,
    directory: str,
    limits: Limits,
    allow_empty_description: bool,  # noqa: FBT001
) -> Parsed:
    file = read_frontmatter(data, limits)
    if isinstance(file, Finding):
        return Parsed(None, (replace(file, path=path),))
    # A model would be shown a description, or a body, that says nothing.
    if is_unsure(data):
        return Parsed(None, (Finding.of("unknown-encoding", path),))
    # The draft has misspelled keys corrected; the manifest keeps them as written.
    written = file.tree.root
    draft = draft_manifest(file, directory)
    if profile in _RULES or profile == "dialect":
        return _by_rule(data, draft, written, profile, path)
    # A name is a key of the catalog: what it hides would make it another's.
    name = clean_line(draft.name or "") or clean_line(directory)
    tree = draft.file.tree
    # Nearly every pack is sound, so the rules for warnings run for the others only.
    flags = [*flag_violations(tree)]
    sound = (
        not (flags or draft.repairs or tree.duplicates or draft.file.misspelled)
        and name == draft.name
        and (not directory or name == directory)
        and len(name) <= MAX_NAME_CHARS
    )
    findings = () if sound else tuple(_warnings(draft, path))
    refusal = None
    if not name or len(name) > limits.name_chars:
        refusal = _name_refusal(name, limits, path)
    if not draft.description and not allow_empty_description:
        from satchel.skill_md._repair import no_description

        refusal = no_description(data, draft.file.line_of("description"), path)
    if refusal is not None:
        return Parsed(None, (refusal, *findings))
    matched = "lenient"
    if profile == "auto" and not findings:  # each warning breaks a rule of both
        # In the order of `_RULES`: a file that fits both profiles counts as `spec`.
        matching = (
            n for n, rules in _RULES.items() if next(rules(draft), None) is None
        )
        matched = next(matching, "lenient")
    manifest = manifest_of(tree, name, draft.description, matched, written=written)
    return Parsed(manifest, findings, matched)


def _by_rule(
    data: bytes,
    draft: ManifestDraft,
    written: dict[str, Node],
    profile: Profile,
    path: str,
) -> Parsed:
    repairs = draft.repairs
    # A repaired encoding is found by decoding, which a sound file is spared.
    if not repairs and not data.isascii():
        repairs = decode(data).findings
    findings = [replace(repair, severity="error", path=path) for repair in repairs]
    duplicates = _duplicates(draft.file, path, _MAX_DUPLICATES)
    refused = bool(findings or duplicates)
    findings += [replace(duplicate, severity="error") for duplicate in duplicates]
    matched: str = profile
    if profile == "dialect":
        matched, violations = _of_dialect(draft)
    else:
        violations = list(_RULES[matched](draft))
    for violation in violations:
        findings.append(violation.finding(path, draft.file.line_of(*violation.at)))
        refused = refused or violation.refuses
    if refused or draft.name is None:
        return Parsed(None, tuple(findings))
    manifest = manifest_of(
        draft.file.tree, draft.name, draft.description, matched, written=written
    )
    return Parsed(manifest, tuple(findings), matched)


def _of_dialect(draft: ManifestDraft) -> tuple[str, list[Violation]]:
    """Return the profile of the dialect a manifest is in, and how it breaks that."""
    root = draft.file.tree.root
    keys = root.keys()
    violations = list(strict_violations(draft, forgiving=True))
    sound = not any(violation.severity == "error" for violation in violations)
    either = keys - SPEC_FIELDS and keys <= STRICT_FIELDS and sound
    # Fields of either dialect that break no rule of `strict` are strict.
    if either or dialect_of_keys(keys) == "strict":
        return "strict", violations
    return "spec", [v for v in spec_violations(draft) if not is_left_alone(v, root)]


def _warnings(draft: ManifestDraft, path: str) -> list[Finding]:
    file, name, directory = draft.file, draft.name, draft.directory

    def warn(violations: Iterable[Violation]) -> list[Finding]:
        return [
            violation.finding(path, file.line_of(*violation.at), "warning")
            for violation in violations
        ]

    findings = [replace(repair, path=path) for repair in draft.repairs]
    findings += _duplicates(file, path, _MAX_DUPLICATES)
    findings += warn(misspelled_violations(file.misspelled))
    findings += warn(flag_violations(file.tree))
    if name is None or not name.strip():
        if directory.strip():
            unnamed = Violation.of("missing-name", sentence="folder", folder=directory)
            findings += warn([unnamed])
        return findings
    if not (name.isascii() and name.isprintable()):
        findings += [
            Finding.of(
                "hidden-text",
                path,
                file.line_of("name"),
                severity=hidden.severity,
                sentence="name",
                hidden=hidden,
            )
            for hidden in find_hidden(name)
        ]
    return findings + warn(guide_violations(name, directory))


def _name_refusal(name: str, limits: Limits, path: str) -> Finding | None:
    if not name:
        return Finding.of("missing-name", path)
    if len(name) > limits.name_chars:
        error = LimitExceededError(
            "name_chars", limits.name_chars, len(name), "characters"
        )
        return Finding.of_error(error, path, fix="shorten the name")
    return None


def _duplicates(
    file: Frontmatter, path: str = "", most: int | None = None
) -> tuple[Finding, ...]:
    return tuple(
        Finding.of("duplicate-key", path, file.line - 1 + second.line, key=second.key)
        for second in file.tree.duplicates[:most]
    )


class WrittenFrontmatter(NamedTuple):
    """Fields and body of a SKILL.md; a number that JSON would change is its text."""

    fields: dict[str, Json]
    body: bytes
    repairs: tuple[Finding, ...] = ()


def read_as_written(
    data: bytes, limits: Limits = DEFAULT_LIMITS
) -> WrittenFrontmatter | Finding:
    """Return the fields of a SKILL.md, whatever the profile, or why it has none."""
    from satchel.skill_md._body import body_of
    from satchel.skill_md._writer import as_written

    file = read_frontmatter(data, limits)
    if isinstance(file, Finding):
        return file
    span = find_span(data)
    repairs = file.repairs + _duplicates(file)
    if span is None or repairs:
        text = data.decode("utf-8", "surrogateescape")
        body = body_of(text).encode("utf-8", "surrogateescape")
    else:
        body = data[span.body :]
    return WrittenFrontmatter(as_written(file.tree), body, repairs)
