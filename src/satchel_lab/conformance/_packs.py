"""A small pack for each property, as plain as it can be but for that one.

All are written here, for this purpose. A property that needs another one, such as a
link text that has no frontmatter, has both.
"""

from typing import Final

from satchel_lab.clients import Candidate

NAME: Final = "the-pack"
SAYS: Final = "Counts words. Use it to count words"
"""Short: some loaders show no more than 60 characters."""
BODY: Final = "\n# Count\n\nCount them.\n"
FIRST: Final = f"name: {NAME}\ndescription: {SAYS}"
DESCRIBED: Final = f"description: {SAYS}"


def pack(head: str, body: str = BODY, folder: str = NAME) -> Candidate:
    """Return a pack with this frontmatter."""
    return Candidate(f"---\n{head}\n---\n{body}".encode(), folder)


def _raw(text: str, folder: str = NAME) -> Candidate:
    return Candidate(text.encode(), folder)


def _with(more: str) -> Candidate:
    return pack(f"{FIRST}\n{more}")


def _named(name: str, folder: str | None = None) -> Candidate:
    """Return a pack of that name, by default in a folder of that name."""
    plain = name.strip("'\"") if folder is None else folder
    return pack(f"name: {name}\n{DESCRIBED}", folder=plain)


def _says(description: str) -> Candidate:
    """Return a pack with this behind ``description:``."""
    return pack(f"name: {NAME}\ndescription:{description}")


def _broken(description: str) -> Candidate:
    """Return one whose ``broken`` field is no YAML."""
    return pack(f"name: {NAME}\ndescription:{description}\nbroken: a word: another")


def _meta(line: str) -> Candidate:
    return _with(f"metadata:\n  owner: somebody\n  {line}")


def _long(chars: int) -> str:
    return f" {(SAYS + '. ') * (chars // len(SAYS) + 1)}"[: chars + 1]


_PLAIN: Final = f"---\n{FIRST}\n---\n{BODY}"
_RULE: Final = "\nFirst.\n\n---\n\nSecond.\n"

_PACKS: Final[dict[str, Candidate | tuple[Candidate, ...]]] = {
    "plain": pack(FIRST),
    # Where it lies, and its bytes.
    "lower-case-file": Candidate(_PLAIN.encode(), NAME, "skill.md"),
    "nested": Candidate(_PLAIN.encode(), NAME, depth=2),
    "deeply-nested": Candidate(_PLAIN.encode(), NAME, depth=3),
    "linked-folder": Candidate(_PLAIN.encode(), NAME, is_link=True),
    "empty-file": _raw(""),
    "byte-order-mark": _raw(f"\ufeff{_PLAIN}"),
    "windows-line-ends": _raw(_PLAIN.replace("\n", "\r\n")),
    "old-line-ends": _raw(_PLAIN.replace("\n", "\r")),
    "not-utf8": Candidate(
        f"---\nname: {NAME}\ndescription: Caf\xe9\n---\n{BODY}".encode("latin-1"), NAME
    ),
    "control-character": _says(f" {SAYS}\x08"),
    "control-character-in-body": pack(FIRST, f"{BODY}\0"),
    "odd-line-break": _says(f" {SAYS}\u2028and more"),
    "next-line-character": _says(f" {SAYS}\x85and more"),
    "not-ascii": _says(f" {SAYS} caf\xe9 \u4e2d\u6587"),
    "emoji": _says(f" {SAYS} \U0001f600"),
    "empty-body": pack(FIRST, ""),
    "huge-body": pack(FIRST, "Count them all.\n" * (1 << 17)),
    # Fences.
    "no-frontmatter": _raw("# Count\n\nCount the words.\n"),
    "fence-and-no-frontmatter": _raw("---\n\n# Count\n\nCount the words.\n"),
    "link-text": _raw(f"../../elsewhere/{NAME}/SKILL.md"),
    "empty-frontmatter": _raw(f"---\n---\n{BODY}"),
    "frontmatter-not-mapping": pack("- one\n- two"),
    "no-opening-fence": _raw(f"{FIRST}\n---\n{BODY}"),
    "no-closing-fence": _raw(f"---\n{FIRST}\n{BODY}"),
    "no-closing-fence-before-a-rule": _raw(f"---\n{FIRST}\n{BODY}{_RULE}"),
    "blank-before-frontmatter": _raw(f"\n{_PLAIN}"),
    "text-before-frontmatter": _raw(f"<!-- generated -->\n{_PLAIN}"),
    "frontmatter-in-code-block": _raw(f"```yaml\n---\n{FIRST}\n---\n```\n{BODY}"),
    "blanks-behind-opening-fence": _raw(f"---  \n{FIRST}\n---\n{BODY}"),
    "long-opening-fence": _raw(f"----\n{FIRST}\n---\n{BODY}"),
    "comment-behind-opening-fence": _raw(f"--- # a pack\n{FIRST}\n---\n{BODY}"),
    "blanks-behind-closing-fence": _raw(f"---\n{FIRST}\n---  \n{BODY}"),
    "long-closing-fence": _raw(f"---\n{FIRST}\n-----\n{BODY}"),
    "dots-for-closing-fence": _raw(f"---\n{FIRST}\n...\n{BODY}"),
    "dots-for-closing-fence-before-a-rule": _raw(f"---\n{FIRST}\n...\n{BODY}{_RULE}"),
    "nothing-behind-closing-fence": _raw(f"---\n{FIRST}\n---"),
    "text-behind-closing-fence": _raw(f"---\n{FIRST}\n---Count.\n{BODY}"),
    "text-behind-closing-fence-before-a-rule": _raw(
        f"---\n{FIRST}\n---Count.\n{BODY}{_RULE}"
    ),
    "dashes-before-description": pack(
        f"name: {NAME}\nlicense: MIT --- or not\n{DESCRIBED}"
    ),
    "dashes-in-description": _says(f" {SAYS} --- or not"),
    "dashes-behind-description": _with("license: MIT --- or not"),
    "blank-line-in-frontmatter": pack(f"name: {NAME}\n\n{DESCRIBED}"),
    "comment-in-frontmatter": pack(f"# A pack.\n{FIRST}"),
    # No YAML.
    "broken-field": _broken(f" {SAYS}"),
    "unquoted-colon": _says(f" {SAYS}. Not: this"),
    "unquoted-colon-wrapped": _says(f" {SAYS}.\n  Not: this"),
    "text-behind-block-mark": (_says(f" > {SAYS}"), _says(f" > {SAYS}: or not")),
    "broken-block": _says(f" >\n  {SAYS}.\n Less: here"),
    "broken-below-key": _says(f"\n  {SAYS}.\n  Not: this"),
    "reserved-first-character": (_says(f" @{SAYS}"), _says(f" @{SAYS}: or not")),
    "text-behind-bracket": (_says(f" [beta] {SAYS}"), _says(f" [beta] {SAYS}: or not")),
    "double-quotes-inside-double-quotes": _says(f' "{SAYS} "now" or "then""'),
    "text-below-double-quote": _says(f' "{SAYS}"\n  and more'),
    "open-double-quote": _says(f' "{SAYS}'),
    "text-below-single-quote": _says(f" '{SAYS}'\n  and more"),
    "open-single-quote": _says(f" '{SAYS}"),
    "text-behind-double-quote": _says(f' "Count" {SAYS}'),
    "single-quotes-inside-single-quotes": _says(f" '{SAYS}. Don't guess.'"),
    "text-behind-single-quote": _says(f" 'Count' {SAYS}"),
    "broken-quoted-wrapped": _says(f' "Count" {SAYS}\n  and more'),
    "reserved-wrapped": _says(f" @{SAYS}\n  and more"),
    "block-mark-wrapped": _says(f" > {SAYS}\n  and more"),
    "broken-field-wrapped-description": _broken(f" {SAYS}\n  and more"),
    "broken-field-block-description": _broken(f" >\n  {SAYS}\n  and more"),
    "broken-field-below-key": _broken(f"\n  {SAYS}\n  and more"),
    "broken-field-quoted-description": _broken(f' "{SAYS}"'),
    "broken-field-escape-in-description": _broken(f' "{SAYS} \\"now\\" or not"'),
    "broken-field-single-quoted-description": _broken(f" '{SAYS}'"),
    "broken-field-doubled-quote-in-description": _broken(f" '{SAYS}. Don''t guess.'"),
    "broken-quote-at-end": _broken(f' {SAYS} "now"'),
    "broken-comment": _broken(f" {SAYS} #1 or more"),
    "broken-nested-name": pack(
        f"{FIRST}\nmetadata:\n  name: other\n  description: Another\n"
        "broken: a word: another"
    ),
    "beyond-colons": _with("broken: `a` word"),
    "colons-mend-otherwise": _says(f" {SAYS}.\\n Not: this"),
    "tab-indentation": _with("metadata:\n\towner: somebody"),
    "indented-key": pack(f"name: {NAME}\n {DESCRIBED}"),
    "unindented-text": _says(f" {SAYS}\nand more"),
    "stray-text": pack(f"A pack\n{FIRST}"),
    # YAML that not all read.
    "duplicate-key": _with("license: MIT\nlicense: Apache-2.0"),
    "anchor": _with("metadata:\n  owner: &who somebody"),
    "undefined-alias": _with("metadata:\n  owner: *who"),
    "tag": _with("metadata:\n  owner: !mine somebody"),
    "standard-tag": (_says(f" !!str {SAYS}"), _with("metadata:\n  version: !!str 1.0")),
    "tab-behind-colon": (
        _says(f"\t{SAYS}"),
        pack(f"name:\t{NAME}\n{DESCRIBED}"),
        _with("license:\tMIT"),
    ),
    "indented-fields": pack(f"  name: {NAME}\n  {DESCRIBED}"),
    "complex-key": _with("metadata:\n  owner: {{name}}"),
    "flow-list": (
        _with("tags: [words, text]"),
        _with("allowed-tools: [Read]"),
        _meta("tags: [words, text]"),
    ),
    "flow-mapping": _with("metadata: {owner: somebody}"),
    "unknown-field-empty": _with("homepage:"),
    "odd-key": _with("1: one"),
    "quoted-key": pack(f'name: {NAME}\n"description": {SAYS}'),
    # Names.
    "missing-name": pack(DESCRIBED),
    "no-name-and-odd-folder": pack(DESCRIBED, folder="The_pack"),
    "empty-name": _named("", NAME),
    "null-name": (_named("null", NAME), _named("~", NAME)),
    "name-not-text": _named("[the, pack]", NAME),
    "name-not-folder": _named("another-pack", NAME),
    "name-not-folder-by-case": _named("The-pack", NAME),
    "name-number": _named("12"),
    "name-odd-number": (_named("1.10"), _named("0x1f"), _named("1_000")),
    "name-boolean": _named("yes"),
    "name-date": _named("2026-01-02"),
    "name-upper-case": _named("ThePack"),
    "name-underscore": _named("the_pack"),
    "name-blank": _named("the pack"),
    "name-blank-around": _named(f'"{NAME} "', NAME),
    "name-not-ascii": _named("pack-\xe9t\xe9"),
    "name-other-character": _named("the.pack"),
    "name-leading-hyphen": _named("-the-pack"),
    "name-trailing-hyphen": _named("the-pack-"),
    "name-double-hyphen": _named("the--pack"),
    "name-leading-digit": _named("2-packs"),
    "name-over-64": _named("the-" * 16 + "pack"),
    "name-reserved-word": _named("claude-pack"),
    # Descriptions.
    "missing-description": pack(f"name: {NAME}"),
    "empty-description": _says(""),
    "null-description": _says(" ~"),
    "empty-quotes": _says(' ""'),
    "blank-quotes": _says(' " "'),
    "description-list": _says(f"\n  - {SAYS}\n  - and more"),
    "description-mapping": _says(f"\n  what: {SAYS}"),
    "description-number": _says(" 12"),
    "description-boolean": _says(" yes"),
    "description-date": _says(" 2026-01-02"),
    "description-over-60": _says(_long(70)),
    "description-over-250": _says(_long(300)),
    "description-over-1024": _says(_long(1200)),
    "description-over-1536": _says(_long(2000)),
    "description-over-4096": _says(_long(6000)),
    "description-angle-brackets": _says(f" {SAYS} <count>"),
    "description-folded-block": _says(f" >\n  {SAYS}\n  and more"),
    "description-literal-block": _says(f" |\n  {SAYS} and more"),
    "description-many-lines": _says(f" |\n  {SAYS}\n  and more\n\n  at the end"),
    "description-wrapped": _says(f" {SAYS}\n  and more"),
    "description-below-key": _says(f"\n  {SAYS}\n  and more"),
    "description-quoted": _says(f' "{SAYS}: no more"'),
    "description-single-quoted": _says(f" '{SAYS}: no more'"),
    "description-quoted-wrapped": _says(f' "{SAYS}\n  and more"'),
    "description-quoted-below-key": _says(f'\n  "{SAYS}\n  and more"'),
    "description-escaped-quote": _says(f' "{SAYS} \\"now\\" or not"'),
    "description-escape": _says(f' "{SAYS} \\u00e9\\t or not"'),
    "description-doubled-quote": _says(f" '{SAYS}. Don''t guess.'"),
    "description-quote-inside": _says(f' {SAYS} "now" or not'),
    "description-quote-at-end": _says(f' {SAYS} "now"'),
    "description-comment": _says(f" {SAYS} #1 or more"),
    "comment-behind-description": _says(f' "{SAYS}" # what it does'),
    "description-blank-around": _says(f' " {SAYS} "'),
    "description-bracketed": _says(f' "[{SAYS}]"'),
    # Further fields.
    "unknown-field": _with("homepage: somewhere"),
    "metadata-number": _meta("version: 1.0"),
    "metadata-boolean": _meta("stable: true"),
    "metadata-date": _meta("since: 2026-01-02"),
    "metadata-null": _meta("since:"),
    "metadata-list": _meta("tags:\n    - words"),
    "metadata-mapping": _meta("needs:\n    python: three"),
    "metadata-text": _with("metadata: words"),
    "metadata-is-list": _with("metadata:\n  - words"),
    "metadata-empty": _with("metadata:"),
    "tools-list": _with("allowed-tools:\n  - Read\n  - Bash"),
    "tools-text": _with("allowed-tools: Read Bash"),
    "tools-commas": _with("allowed-tools: Read, Bash"),
    "tools-underscore-list": _with("allowed_tools:\n  - Read"),
    "tools-underscore-text": _with("allowed_tools: Read Bash"),
    "tools-mapping": _with("allowed-tools:\n  Read: always"),
    "tools-empty": _with("allowed-tools:"),
    "compatibility-empty": _with("compatibility:"),
    "compatibility-text": _with("compatibility: It needs Python."),
    "compatibility-over-500": _with(f"compatibility: {'It needs Python. ' * 31}"),
    "compatibility-list": _with("compatibility:\n  - Python"),
    "compatibility-mapping": _with("compatibility:\n  python: three"),
    "license-not-text": _with("license:\n  - MIT"),
    "license-number": _with("license: 2"),
    "license-empty": _with("license:"),
    "triggers-list": _with("triggers:\n  - count"),
    "triggers-of-mappings": _with("triggers:\n  - pattern: count"),
    "triggers-not-list": _with("triggers: count"),
    "version-number": (_with("version: 1.0"), _with("version: 2")),
    "version-not-semantic": _with('version: "1.0"'),
    "tags-text": _with("tags: words, text"),
    "hooks": _with("hooks:\n  PreToolUse:\n    - matcher: Bash"),
    "no-model-invocation": _with("disable-model-invocation: true"),
    "not-user-invocable": _with("user-invocable: false"),
}

PACKS: Final = {
    key: packs if isinstance(packs, tuple) else (packs,)
    for key, packs in _PACKS.items()
}
"""By property, the packs that have it; of several the mildest verdict is its own."""
