"""Frontmatter that a YAML library answers with an exception of another kind."""

from functools import partial
from typing import Final

from satchel.testing.hostile._pack import BODY, HostilePack, front, skill

_crash: Final = partial(skill, "crash")


def _value(name: str, value: str, what: str) -> HostilePack:
    """Return a pack that is well but for one value, in ``metadata``."""
    return _crash(name, "T13", what, front(more=f"metadata:\n  value: {value}"))


def _description(name: str, value: str, what: str) -> HostilePack:
    return _crash(name, "T13", what, front(value))


def _frontmatter(name: str, text: str, what: str) -> HostilePack:
    return _crash(name, "T13", what, f"---\n{text}---\n{BODY}")


PACKS: Final[tuple[HostilePack, ...]] = (
    _value("yaml-key-error", "!!bool maybe", "KeyError in PyYAML"),
    _value("yaml-value-error", "!!int 2int", "ValueError in PyYAML"),
    _value("yaml-index-error", '!!int ""', "IndexError in PyYAML"),
    _value("yaml-attribute-error", "!!timestamp never", "AttributeError in PyYAML"),
    _value("yaml-type-error", "!!binary [x]", "a sequence tagged as a scalar"),
    _value("yaml-date", "2026-13-45", "ValueError: a date that never was, untagged"),
    _value("yaml-time", "2026-11-21T25:61:00Z", "ValueError: an hour that never was"),
    _value("yaml-zone", "2026-11-21 10:00:00 +99:99", "ValueError: an offset of 99 h"),
    _value("yaml-bare-hex", "0x_", "ValueError: digits that are none, untagged"),
    _value("yaml-long-int", "9" * 5000, "ValueError: an int of 5,000 digits"),
    _value("yaml-code-point", '"\\U00110000"', "ValueError: beyond Unicode"),
    _value("yaml-value-tag", "=", "the value tag of YAML 1.1"),
    _value("yaml-nan", "[.nan, .inf, -.inf, 1e999]", "floats that JSON has not"),
    _value("yaml-object", "!!python/object:os.PathLike {}", "a tag that makes objects"),
    _value(
        "yaml-apply",
        '!!python/object/apply:os.system ["exit 1"]',
        "a tag that calls a function",
    ),
    _value("yaml-own-tag", "!nobody {a: 1}", "a tag of nobody"),
    _value("yaml-unhashable", "{[a]: 1, {b: c}: 2}", "keys that are no dict keys"),
    _value(
        "yaml-odd-keys", "{1: a, null: b, true: c, 1.5: d}", "keys that are no text"
    ),
    _value("yaml-merge-text", "{<<: text}", "a merge of what is no mapping"),
    _description("description-list", "[a, b]", "a list for a description"),
    _description("description-mapping", "{a: b}", "a mapping for a description"),
    _description("description-null", "~", "null for a description"),
    _description("description-number", "1e3", "a number for a description"),
    _description("description-open-quote", '"never closed', "an open quote"),
    _crash("name-list", "T13", "a list for a name", front(name="[a]")),
    _crash("name-null", "T13", "null for a name", front(name="~")),
    _crash("name-true", "T13", "true for a name", front(name="true")),
    _crash(
        "lists-of-anything",
        "T13",
        "mappings, null and numbers where lists of text are meant",
        front(more="references: {a: b}\nscripts: [1, ~, [x]]\nallowed-tools: {x: y}"),
    ),
    _crash(
        "metadata-text",
        "T13",
        "text where a mapping is meant",
        front(more="metadata: text\nlicense: [MIT]\ncompatibility: {a: b}"),
    ),
    _frontmatter("frontmatter-list", "- name\n- description\n", "a list at the top"),
    _frontmatter("frontmatter-scalar", "just words\n", "a text at the top"),
    _frontmatter("frontmatter-none", "", "nothing between the fences"),
    _frontmatter("frontmatter-comment", "# name: bad\n", "a comment alone"),
    _frontmatter(
        "frontmatter-directive",
        "%YAML 9.9\n%TAG ! tag:nobody,2026:\nname: bad\ndescription: x\n",
        "directives without a document",
    ),
    _frontmatter("frontmatter-tabs", "name:\tbad\n\tdescription:\tx\n", "tabs"),
    _frontmatter("frontmatter-braces", "}]>|@`%\n", "nothing but indicators"),
    _frontmatter(
        "duplicate-keys",
        "name: bad\nname: worse\ndescription: one\ndescription: two\n",
        "each field twice",
    ),
    _crash("open-fence", "T13", "no closing fence", "---\nname: bad\ndescription: x\n"),
    _crash("frontmatter-only", "T13", "no body", "---\nname: bad\ndescription: x\n---"),
    _crash("no-frontmatter", "T13", "no frontmatter", "# Bad\n\nNo fences here.\n"),
    _crash("empty-file", "T13", "no bytes at all", b""),
    _crash("blank-file", "T13", "blanks and line feeds alone", " \n\n\t\n"),
)
