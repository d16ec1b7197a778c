"""Which of our codes tell of the same as a peer's kind of report, read by hand.

A kind that is in neither table is new, and is reported as missed without a reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_YAML: Final = (
    *("unquoted-colon", "block-text", "reserved-character", "bad-quotes"),
    *("bad-escape", "invalid-yaml", "tab-indentation", "indentation"),
    *("unindented-text", "stray-text", "kept-as-text", "complex-key"),
    *("yaml-alias", "yaml-anchor", "yaml-tag", "control-characters"),
    *("frontmatter-not-mapping", "no-closing-fence", "duplicate-key"),
    *("text-after-closing-fence", "odd-fence", "limit-exceeded"),
)
_NO_FRONT: Final = (
    *("no-frontmatter", "no-opening-fence", "text-before-frontmatter"),
    *("empty-file", "frontmatter-in-code-block", "link-text", "byte-order-mark"),
)
_NAME: Final = ("name-characters", "name-too-long", "name-not-portable")
_FIELD: Final = ("unknown-field", "spec-incompatible", "client-only-field")
_FILE: Final = ("dead-link", "mentioned-file-missing", "file-relative-link")
_LONG: Final = ("long-description", "description-limits", "description-length")
_TOOLS: Final = ("allowed-tools-form", "field-kind")

_SAME: Final[dict[str, dict[str, Iterable[str]]]] = {
    "agentskills validate": {
        "spec: metadata name … does not match skill_id …": ("name-not-folder",),
        "frontmatter-invalid-yaml": _YAML,
        "frontmatter-missing": _NO_FRONT,
        "frontmatter-unclosed": ("no-closing-fence",),
        "frontmatter-not-a-mapping": ("frontmatter-not-mapping",),
        "spec: name must be lowercase alphanumeric and hyphens, must not start or end "
        "with a hyphen": _NAME,
        "spec: metadata missing required … field": (
            "missing-name",
            "missing-description",
        ),
        "spec: name exceeds N characters": ("name-too-long",),
        "spec: name contains consecutive hyphens": ("name-characters",),
        "spec: description exceeds N characters": ("description-length",),
        "spec: body is empty": ("empty-body",),
        "unreadable": ("not-utf8",),
    },
    "agentskills lint": {
        "frontmatter-invalid-yaml": _YAML,
        "frontmatter-missing": _NO_FRONT,
        "description-too-long-for-catalog": _LONG,
        "body-over-token-budget": ("body-too-large",),
        "unreadable": ("not-utf8",),
    },
    "skills-ref validate": {
        "Directory name … must match skill name …": ("name-not-folder",),
        "SKILL.md must start with YAML frontmatter (---)": _NO_FRONT,
        "SKILL.md frontmatter not properly closed with ---": ("no-closing-fence",),
        "SKILL.md frontmatter must be a YAML mapping": ("frontmatter-not-mapping",),
        "Skill name … contains invalid characters. Only letters, digits, and hyphens "
        "are allowed.": _NAME,
        "Skill name … must be lowercase": _NAME,
        "Skill name cannot start or end with a hyphen": _NAME,
        "Skill name cannot contain consecutive hyphens": _NAME,
        "Skill name … exceeds N character limit (N chars)": ("name-too-long",),
        "Description exceeds N character limit (N chars)": ("description-length",),
        "Compatibility exceeds N character limit (N chars)": ("compatibility-length",),
        "Invalid YAML in frontmatter": _YAML,
        "Invalid YAML in frontmatter: flow style": (
            "metadata-not-text",
            "field-kind",
            "unknown-field",
            "reserved-character",
        ),
        "Unexpected fields in frontmatter": _FIELD,
        "Missing required field in frontmatter: name": ("missing-name",),
        "Missing required field in frontmatter: description": ("missing-description",),
        "Field … must be a non-empty string": (
            *("missing-name", "missing-description", "description-not-text"),
            "field-kind",
        ),
    },
    "claude plugin validate": {
        "frontmatter: No frontmatter block found. Add YAML frontmatter between --- "
        "delimiters at the top of the file to set descript": _NO_FRONT,
        "frontmatter: YAML frontmatter failed to parse: YAML Parse error: Unexpected "
        "token. At runtime this skill loads with empty m": _YAML,
        "description: No description in frontmatter. A description helps users and "
        "Claude understand when to use this skill.": ("missing-description",),
        "metadata: … must be a mapping (key: value pairs);": (
            "metadata-not-text",
            "field-kind",
        ),
    },
    "skilllint": {
        "FM001": ("missing-description", "missing-name", *_NO_FRONT, *_YAML),
        "FM002": _YAML,
        "FM003": (*_NO_FRONT, "no-closing-fence"),
        "FM005": (
            *("field-kind", "description-not-text", "missing-description"),
            *_LONG,
        ),
        "FM007": ("field-kind", "allowed-tools-form", "unknown-field"),
        "FM009": ("unquoted-colon",),
        "FM010": ("name-not-folder", *_NAME),
        "AS001": ("missing-name", *_NO_FRONT, *_YAML),
        "SK004": (*_LONG, "missing-description"),
        "SK005": ("description-lacks-when",),
        "SK006": ("body-too-large",),
        "SK007": ("body-too-large",),
        "SK008": ("name-not-folder", *_NAME),
        "LK001": ("dead-link",),
    },
    "skillcheck": {
        "parse.error": (*_YAML, "not-utf8"),
        "frontmatter.name.required": ("missing-name", *_NO_FRONT),
        "frontmatter.name.max-length": ("name-too-long",),
        "frontmatter.name.invalid-chars": _NAME,
        "frontmatter.name.consecutive-hyphens": _NAME,
        "frontmatter.name.leading-trailing-hyphen": _NAME,
        "frontmatter.name.reserved-word": ("reserved-name",),
        "frontmatter.name.directory-mismatch": ("name-not-folder",),
        "compat.vscode-dirname": ("name-not-folder",),
        "frontmatter.description.required": ("missing-description", *_NO_FRONT),
        "frontmatter.description.empty": ("missing-description",),
        "frontmatter.description.max-length": ("description-length",),
        "frontmatter.description.xml-tags": ("description-markup",),
        "frontmatter.field.unknown": _FIELD,
        "compat.claude-only": ("client-only-field", "client-only-syntax"),
        "compat.unverified": (*_FIELD, "client-only-syntax", "allowed-tools-form"),
        "references.broken-link": _FILE,
        "references.escape": ("dead-link", "machine-path"),
        "sizing.body.line-count": ("body-too-large",),
        "sizing.body.token-estimate": ("body-too-large",),
        "disclosure.body-budget": ("body-too-large",),
        "frontmatter.yaml-anchors": ("yaml-anchor", "yaml-alias"),
    },
    "agnix": {
        "AS-001": _NO_FRONT,
        "AS-004": _NAME,
        "AS-005": _NAME,
        "AS-006": _NAME,
        "AS-008": ("description-length",),
        "AS-012": ("body-too-large",),
        "AS-016": (*_YAML, "metadata-not-text", "field-kind", "description-not-text"),
        "AS-017": ("name-not-folder",),
        "AS-020": ("description-lacks-when",),
        "AS-021": ("body-too-large",),
        "AS-024": ("unpinned-command",),
        "CC-SK-007": ("unlimited-shell",),
        "CC-SK-016": ("argument-in-code", "client-only-syntax"),
        "CC-SK-017": _FIELD,
        "CC-SK-021": ("machine-path",),
        "CC-SK-023": ("argument-in-code", "client-only-syntax"),
        "CC-SK-024": ("missing-description",),
        "CC-SK-031": ("description-markup",),
        "CC-PL-020": ("client-only-syntax",),
        "REF-002": ("dead-link", "file-relative-link"),
        "XP-SK-003": ("sensitive-pattern",),
    },
}

NOT_OURS: Final[dict[tuple[str, str], str]] = {
    ("agentskills validate", "spec: field … must be list"): (
        "`allowed-tools` as a text is what the specification wants (S12)"
    ),
    ("agentskills validate", "spec: field … must be dict"): (
        "`compatibility` as a text is what the specification wants (S10)"
    ),
    (
        "agentskills validate",
        (
            "spec: version … is not valid semver. Expected MAJOR.MINOR.PATCH with "
            "optional pre-release and build metadata, e.g. …"
        ),
    ): "no field of the specification; that it is there is our `unknown-field`",
    ("agentskills lint", "missing-version"): (
        "no field of the specification, so most packs cannot have it"
    ),
    ("agentskills lint", "missing-selection-metadata"): (
        "fields of its own dialect, which the specification has not"
    ),
    ("skilllint", "FM004"): (
        "several lines are good YAML, and its page calls this a matter of style; which "
        "clients misread them is asked by `--for`"
    ),
    ("skilllint", "AS008"): (
        "it looks for the servers of one project; a pack is used in many"
    ),
    (
        "skillcheck",
        "description.quality-score",
    ): "a mark for style, on nearly every pack",
    ("skillcheck", "frontmatter.field.ecosystem"): (
        "it holds fields of the specification, such as `metadata`, to be none"
    ),
    ("skillcheck", "references.depth-exceeded"): (
        "it counts the slashes of any path in the text, such as of the user's project; "
        "what the specification warns of is a file that is reached through another"
    ),
    ("skillcheck", "disclosure.metadata-budget"): (
        "more than 100 tokens of frontmatter; ours begins at 500 characters "
        "(`description-limits`), as clients show them without harm"
    ),
    ("skillcheck", "disclosure.body-bloat"): (
        "a code block or a table is long; ours counts the body as a whole"
    ),
    ("skillcheck", "compat.cursor-description-block-scalar"): (
        "about one client: asked by `--for`"
    ),
    ("skillcheck", "frontmatter.description.person-voice"): (
        "in all six the words address the agent, or are quoted"
    ),
    ("skillcheck", "template.detected"): "tells that it took the pack for a template",
    ("agnix", "CC-SK-006"): (
        "a guess from a name such as `release`, that the model should not choose the "
        "skill by itself; for one client"
    ),
    ("agnix", "XML-001"): (
        "angle brackets in the body are placeholders or HTML, both good Markdown"
    ),
    ("agnix", "XML-002"): "as XML-001",
    ("agnix", "REF-001"): (
        "`@path` is an import in memory files such as CLAUDE.md, not in a SKILL.md"
    ),
    ("agnix", "REF-003"): "as REF-001",
    ("agnix", "VER-001"): "about its own settings",
}
"""Kinds that we do not report, and why: they are no faults, or not of the pack."""

_OTHER_PATHS: Final = (
    "any path in the text is meant there, such as of the user's project, an address or "
    "a command with a slash"
)
_TERSE: Final = (
    "of another language, which we do not judge; with a word such as `before`; or too "
    "terse for us to know that it is English"
)
PARTLY: Final[dict[tuple[str, str], str]] = {
    ("skillcheck", "references.broken-link"): _OTHER_PATHS,
    ("skillcheck", "references.escape"): _OTHER_PATHS,
    ("skillcheck", "frontmatter.field.unknown"): (
        "`compatibility`, which is a field of the specification"
    ),
    ("skillcheck", "disclosure.body-budget"): "counts with another tokenizer",
    ("skillcheck", "compat.unverified"): "about one client: asked by `--for`",
    ("skilllint", "SK005"): _TERSE,
    ("skilllint", "SK006"): "begins at 4,400 tokens, ours at the specification's 5,000",
    ("skilllint", "SK008"): "about the folder; the pack has no name, as we say",
    ("skills-ref validate", "Invalid YAML in frontmatter: flow style"): (
        "`metadata: {...}` is good YAML, and no other validator refuses it; asked by "
        "`--for`"
    ),
    ("skilllint", "LK001"): "links in raw HTML, and placeholders of OpenClaw",
    ("agnix", "AS-020"): _TERSE,
    ("agnix", "CC-SK-016"): "a price, such as `$4.9B`",
    ("agnix", "CC-SK-023"): "a price, such as `$8.20`",
    ("agnix", "CC-SK-021"): "names that stand for anybody, such as `/home/node`",
    ("agnix", "REF-002"): "placeholders of OpenClaw, of which we tell in another way",
    ("agnix", "XP-SK-003"): "a pattern to look for, and no credential",
}
"""Kinds that we report on some of their packs only: what the others are."""

SUBJECTS: Final = {
    (peer, kind): tuple(codes)
    for peer, kinds in _SAME.items()
    for kind, codes in kinds.items()
}


def unknown(kinds: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the kinds that nobody has read yet."""
    for each in kinds:
        if each not in SUBJECTS and each not in NOT_OURS:
            yield each
