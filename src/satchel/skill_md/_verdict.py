"""How a manifest breaks a profile, and what is warned of where none was asked for."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from satchel.errors import LimitExceededError
from satchel.model import Finding, Limits, Severity
from satchel.skill_md._manifest import SPEC_FIELDS, STRICT_FIELDS
from satchel.skill_md._opening import Frontmatter, ManifestDraft, body_of
from satchel.skill_md._profiles import (
    Violation,
    dialect_of_keys,
    flag_violations,
    guide_violations,
    is_left_alone,
    misspelled_violations,
    spec_violations,
    strict_violations,
)
from satchel.text import decode, find_hidden

_RULES: Final = {"spec": spec_violations, "strict": strict_violations}
# A file of a thousand equal keys must not give a thousand findings.
_MAX_DUPLICATES: Final = 10


def matching_profile(draft: ManifestDraft) -> str:
    """Return the first profile that a manifest fits: ``spec`` where it fits both."""
    matching = (n for n, rules in _RULES.items() if next(rules(draft), None) is None)
    return next(matching, "lenient")


def judge(
    data: bytes, draft: ManifestDraft, profile: str, path: str
) -> tuple[str, tuple[Finding, ...], bool]:
    """Return the profile that counts, what breaks it, and whether that refuses it."""
    repairs = draft.repairs
    # A repaired encoding is found by decoding, which a sound file is spared.
    if not repairs and not data.isascii():
        repairs = decode(data).findings
    repairs += duplicate_keys(draft.file, path, _MAX_DUPLICATES)
    findings = [replace(repair, severity="error", path=path) for repair in repairs]
    if profile == "dialect":
        profile, violations = _of_dialect(draft)
    else:
        violations = list(_RULES[profile](draft))
    findings += _findings(violations, draft.file, path)
    is_refused = bool(repairs) or any(violation.refuses for violation in violations)
    return profile, tuple(findings), is_refused


def _findings(
    violations: Iterable[Violation],
    file: Frontmatter,
    path: str,
    severity: Severity | None = None,
) -> list[Finding]:
    return [
        violation.finding(path, file.line_of(*violation.at), severity)
        for violation in violations
    ]


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


def warnings(draft: ManifestDraft, path: str) -> list[Finding]:
    """Return what is likely to fail elsewhere, of a manifest that is accepted."""
    file, name, directory = draft.file, draft.name, draft.directory

    def warn(violations: Iterable[Violation]) -> list[Finding]:
        return _findings(violations, file, path, "warning")

    findings = [replace(repair, path=path) for repair in draft.repairs]
    findings += duplicate_keys(file, path, _MAX_DUPLICATES)
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


def name_refusal(name: str, limits: Limits, path: str) -> Finding:
    """Return the error of a pack without a name, or with one that is too long."""
    if not name:
        return Finding.of("missing-name", path)
    error = LimitExceededError("name_chars", limits.name_chars, len(name), "characters")
    return Finding.of_error(error, path, fix="shorten the name")


def no_description(data: bytes, draft: ManifestDraft, path: str) -> Finding:
    """Return the error of a pack without a description, with what its body offers."""
    from satchel.skill_md._repair import offer_of
    from satchel.skill_md._writer import quoted

    offer = offer_of(body_of(decode(data).text))
    return Finding.of(
        "missing-description",
        path,
        draft.file.line_of("description"),
        sentence="body" if offer else "",
        offer=quoted(offer),
    )


def duplicate_keys(
    file: Frontmatter, path: str = "", most: int | None = None
) -> tuple[Finding, ...]:
    return tuple(
        Finding.of("duplicate-key", path, file.line - 1 + second.line, key=second.key)
        for second in file.tree.duplicates[:most]
    )
