"""Bytes of a SKILL.md to a manifest and findings: the one way in."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from satchel.errors import LimitExceededError
from satchel.model import (
    DEFAULT_LIMITS,
    MAX_NAME_CHARS,
    Finding,
    Limits,
    Manifest,
    Severity,
)
from satchel.skill_md._dialects import SPEC_FIELDS, STRICT_FIELDS
from satchel.skill_md._frontmatter import Node
from satchel.skill_md._manifest import manifest_of
from satchel.skill_md._misspelled import corrected_keys
from satchel.skill_md._opening import (
    Frontmatter,
    ManifestDraft,
    draft_manifest,
    line_of_key,
    read_frontmatter,
    with_corrections,
)
from satchel.skill_md._profiles import (
    Profile,
    Violation,
    dialect_of_keys,
    guide_violations,
    misspelled_violations,
    spec_violations,
    strict_violations,
)
from satchel.text import clean_line, decode, find_hidden


@dataclass(frozen=True, slots=True)
class Parsed:
    """What `parse` made of a file.

    ``manifest`` is None exactly where the file was refused, and then at least one
    finding is an error. ``profile`` is the profile that matched, empty if refused.
    """

    manifest: Manifest | None
    findings: tuple[Finding, ...] = ()
    profile: str = ""


_RULES: Final = {"spec": spec_violations, "strict": strict_violations}


def _of_dialect(draft: ManifestDraft) -> tuple[str, list[Violation]]:
    """Return the profile of the dialect a manifest is in, and how it breaks that.

    One whose fields may be of either, and which breaks no rule of ``strict``, is that.
    """
    keys = draft.tree.root.keys()
    broken = list(strict_violations(draft, forgiving=True))
    sound = not any(breach.severity == "error" for breach in broken)
    either = keys - SPEC_FIELDS and keys <= STRICT_FIELDS and sound
    if either or dialect_of_keys(keys) == "strict":
        return "strict", broken
    return "spec", list(spec_violations(draft))


def parse(  # noqa: PLR0913 - keywords, each with a default
    data: bytes,
    *,
    profile: Profile = "auto",
    path: str = "SKILL.md",
    directory: str = "",
    limits: Limits = DEFAULT_LIMITS,
    allow_empty_description: bool = False,
) -> Parsed:
    """Return what a SKILL.md says; nothing is ever raised, whatever the bytes.

    ``strict`` and ``spec`` report everything that breaks their rules, each as an
    error with its line; ``dialect`` is that of the two whose fields the file has.
    ``lenient`` and ``auto`` take what gives a name and a description, and report what
    was repaired, refused, or is likely to fail in other clients; ``auto`` also says
    which profile matched.

    Args:
        data: The whole file.
        profile: What is accepted. It never changes what is returned.
        path: What findings call the file.
        directory: The pack's folder, which its name should be; empty for none.
        limits: Bounds on the file, its frontmatter, and the depth and number of nodes.
        allow_empty_description: Take a pack without a description, in the profiles
            ``lenient`` and ``auto``.
    """
    wish = _ParseOptions(profile, path, directory, limits, allow_empty_description)
    try:
        return _parse(data, wish)
    except Exception as error:  # noqa: BLE001 - R33: the parse boundary
        message = f"the parser failed: {error!r}"
        fix = "report the file; it can be told by its frontmatter alone"
        return Parsed(None, (Finding("parser-failed", "error", message, path, 1, fix),))


def dialect_of(manifest: Manifest) -> Profile:
    """Return the profile of the dialect that a manifest is written in."""
    return dialect_of_keys(corrected_keys(manifest.frontmatter).keys())


class _ParseOptions(NamedTuple):
    """How a file is to be parsed: the arguments of `parse`."""

    profile: Profile
    path: str
    directory: str
    limits: Limits
    allow_empty_description: bool


def _parse(data: bytes, wish: _ParseOptions) -> Parsed:
    profile, path, directory, limits, allow_empty_description = wish
    opened = read_frontmatter(data, limits)
    if isinstance(opened, Finding):
        return Parsed(None, (replace(opened, path=path),))
    written = opened.tree.root
    opened = with_corrections(opened)
    draft = draft_manifest(opened, directory)
    if profile in _RULES or profile == "dialect":
        return _by_rule(data, opened, draft, written, wish)
    # A name is a key that stands in the catalog: what it hides would make it another's.
    name = clean_line(draft.name or "") or clean_line(directory)
    findings = _warnings(opened, draft, path)
    refusal = _name_refusal(name, limits, path)
    if not draft.description and not allow_empty_description:
        line = line_of_key(opened, ("description",))
        from satchel.skill_md._repair import no_description

        refusal = no_description(data, line, path)
    if refusal is not None:
        return Parsed(None, (refusal, *findings))
    # What is noticed here breaks a rule of both other profiles.
    matched = _matching(draft) if profile == "auto" and not findings else "lenient"
    manifest = manifest_of(
        draft.tree, name, draft.description, matched, written=written
    )
    return Parsed(manifest, findings, matched)


def _matching(draft: ManifestDraft) -> str:
    for name, rules in _RULES.items():
        if next(rules(draft), None) is None:
            return name
    return "lenient"


def _by_rule(
    data: bytes,
    opened: Frontmatter,
    draft: ManifestDraft,
    written: dict[str, Node],
    wish: "_ParseOptions",
) -> Parsed:
    profile, path = wish.profile, wish.path
    repairs = draft.repairs
    if not repairs and not data.isascii():
        repairs = decode(data).findings
    findings = [replace(each, severity="error", path=path) for each in repairs]
    refused = bool(findings or draft.tree.duplicates)
    findings += [
        replace(each, severity="error") for each in _duplicates(opened, draft, path)
    ]
    if profile == "dialect":
        matched, breaches = _of_dialect(draft)
    else:
        matched, breaches = profile, list(_RULES[profile](draft))
    for breach in breaches:
        findings.append(_finding(breach, opened, path, breach.severity))
        refused = refused or breach.refuses
    if refused or draft.name is None:
        return Parsed(None, tuple(findings))
    manifest = manifest_of(
        draft.tree, draft.name, draft.description, matched, written=written
    )
    return Parsed(manifest, tuple(findings), matched)


def _warnings(
    opened: Frontmatter, draft: ManifestDraft, path: str
) -> tuple[Finding, ...]:
    """Return what is worth a warning at run time."""
    found: list[Finding] = [replace(each, path=path) for each in draft.repairs]
    found += _duplicates(opened, draft, path)
    found += [
        _finding(breach, opened, path, "warning")
        for breach in misspelled_violations(draft.misspelled)
    ]
    name, directory = draft.name, draft.directory
    if name is None or not name.strip():
        if directory.strip():
            found.append(_finding(_unnamed(directory), opened, path, "warning"))
        return tuple(found)
    if not name.isascii() or not name.isprintable():
        found += _hidden_in_name(name, opened, path)
    if (directory and name != directory) or len(name) > MAX_NAME_CHARS:
        found += [
            _finding(breach, opened, path, "warning")
            for breach in guide_violations(name, directory)
        ]
    return tuple(found)


def _name_refusal(name: str, limits: Limits, path: str) -> Finding | None:
    if not name:
        return Finding.of("missing-name", path)
    if len(name) > limits.name_chars:
        error = LimitExceededError(
            "name_chars", limits.name_chars, len(name), "characters"
        )
        fix = "shorten the name"
        return Finding.of_error(error, path, fix=fix)
    return None


def _unnamed(directory: str) -> Violation:
    return Violation(
        "missing-name",
        f"there is no name; the folder's is used, {directory!r}",
        (),
        f"add `name: {directory}`",
    )


def _hidden_in_name(name: str, opened: Frontmatter, path: str) -> Iterator[Finding]:
    for hidden in find_hidden(name):
        yield Finding.of(
            "hidden-text",
            path,
            line_of_key(opened, ("name",)),
            severity=hidden.severity,
            sentence="name",
            hidden=hidden,
        )


def _duplicates(opened: Frontmatter, draft: ManifestDraft, path: str) -> list[Finding]:
    return [
        Finding.of("duplicate-key", path, opened.line - 1 + each.line, key=each.key)
        for each in draft.tree.duplicates[:_MAX_DUPLICATES]
    ]


_MAX_DUPLICATES: Final = 10


def _finding(
    breach: Violation, opened: Frontmatter, path: str, severity: Severity
) -> Finding:
    line = line_of_key(opened, breach.at)
    return Finding(breach.code, severity, breach.message, path, line, breach.fix)
