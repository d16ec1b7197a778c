"""Bytes of a SKILL.md to a manifest and findings: the one way in."""

from dataclasses import dataclass, replace
from typing import Final, Literal

from satchel.model import (
    DEFAULT_LIMITS,
    MAX_COMPATIBILITY_CHARS,
    MAX_DESCRIPTION_CHARS,
    MAX_NAME_CHARS,
    Finding,
    Limits,
    Manifest,
    is_name,
)
from satchel.skill_md._frontmatter import YamlProblem, YamlTree, find_span
from satchel.skill_md._manifest import FLAGS, has_unknown_keys, manifest_of
from satchel.skill_md._opening import Frontmatter, ManifestDraft, read_tree, too_large
from satchel.text import clean_line, is_unsure

Profile = Literal["strict", "spec", "lenient", "auto", "dialect"]

# Most packs have no other fields: the rules of profiles are imported for the others.
_USUAL: Final = frozenset(["name", "description", "license", "compatibility"])


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
    if has_unknown_keys(file.tree.root):
        from satchel.skill_md._misspelled import with_corrected_keys

        file = with_corrected_keys(file)
    tree, repairs = file.tree, file.repairs
    description = tree.text("description")
    if description is None and tree.root.get("description") is not None:
        from satchel.skill_md._repair import description_as_written

        description, repair = description_as_written(file)
        repairs = (*repairs, repair)
    text = (description or "").strip()
    return ManifestDraft(file, tree.text("name"), text, directory, repairs)


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
    if profile not in {"lenient", "auto"}:
        from satchel.skill_md._verdict import judge

        matched, findings, is_refused = judge(data, draft, profile, path)
        if is_refused or draft.name is None:
            return Parsed(None, findings)
        manifest = manifest_of(draft, draft.name, matched, written=written)
        return Parsed(manifest, findings, matched)
    # A name is a key of the catalog: what it hides would make it another's.
    name = clean_line(draft.name or "") or clean_line(directory)
    is_sound = name == draft.name and _is_sound(draft)
    # Nearly every pack is sound: what warns of the others is imported for them.
    findings = ()
    if not is_sound:
        from satchel.skill_md._verdict import warnings

        findings = tuple(warnings(draft, path))
    is_described = bool(draft.description) or allow_empty_description
    if not (is_described and 0 < len(name) <= limits.name_chars):
        from satchel.skill_md._verdict import name_refusal, no_description

        if is_described:
            refusal = name_refusal(name, limits, path)
        else:
            refusal = no_description(data, draft, path)
        return Parsed(None, (refusal, *findings))
    matched = "lenient"
    if profile == "auto" and not findings:  # each warning breaks a rule of both
        matched = "spec"
        if not (is_sound and _is_usual(draft)):
            from satchel.skill_md._verdict import matching_profile

            matched = matching_profile(draft)
    manifest = manifest_of(draft, name, matched, written=written)
    return Parsed(manifest, findings, matched)


def _is_sound(draft: ManifestDraft) -> bool:
    """Tell whether there is nothing to warn of."""
    name, tree = draft.name or "", draft.file.tree
    return (
        not (draft.repairs or tree.duplicates or draft.file.misspelled)
        and FLAGS.isdisjoint(tree.root)
        and draft.directory in {"", name}
        and len(name) <= MAX_NAME_CHARS
    )


def _is_usual(draft: ManifestDraft) -> bool:
    """Tell whether a sound manifest fits ``spec`` at the first look."""
    root = draft.file.tree.root
    compatibility = root.get("compatibility", "any")
    return (
        root.keys() <= _USUAL
        and is_name(draft.name or "")
        and 0 < len(draft.description) <= MAX_DESCRIPTION_CHARS
        and isinstance(root.get("license", ""), str)
        and isinstance(compatibility, str)
        and 0 < len(compatibility.strip()) <= MAX_COMPATIBILITY_CHARS
    )
