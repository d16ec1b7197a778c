"""Frontmatter on which a YAML library fails, or that costs it time or memory."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Final

from satchel_lab.hostile._pack import BAD, BODY, HostilePack, front, skill, write_skill


def _crash(name: str, what: str, text: str | bytes) -> HostilePack:
    return skill("crash", name, "T13", what, text)


def _value(name: str, value: str, what: str) -> HostilePack:
    """Return a pack that is well but for one value, in ``metadata``."""
    return _crash(name, what, front(more=f"metadata:\n  value: {value}"))


def _description(name: str, value: str, what: str) -> HostilePack:
    return _crash(name, what, front(value))


def _frontmatter(name: str, text: str, what: str) -> HostilePack:
    return _crash(name, what, f"---\n{text}---\n{BODY}")


CRASH_PACKS: Final[tuple[HostilePack, ...]] = (
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
    _crash("name-list", "a list for a name", front(name="[a]")),
    _crash("name-null", "null for a name", front(name="~")),
    _crash("name-true", "true for a name", front(name="true")),
    _crash(
        "lists-of-anything",
        "mappings, null and numbers where lists of text are meant",
        front(more="references: {a: b}\nscripts: [1, ~, [x]]\nallowed-tools: {x: y}"),
    ),
    _crash(
        "metadata-text",
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
    _crash("open-fence", "no closing fence", "---\nname: bad\ndescription: x\n"),
    _crash("frontmatter-only", "no body", "---\nname: bad\ndescription: x\n---"),
    _crash("no-frontmatter", "no frontmatter", "# Bad\n\nNo fences here.\n"),
    _crash("empty-file", "no bytes at all", b""),
    _crash("blank-file", "blanks and line feeds alone", " \n\n\t\n"),
)


# Below the 64 KiB that a frontmatter may have here, so that no size check saves us.
_CHARS: Final = 60_000


def _hang(name: str, what: str, text: Callable[[], str]) -> HostilePack:
    return skill("hang", name, "T12", what, text)


HANG_PACKS: Final[tuple[HostilePack, ...]] = (
    _hang(
        "fences",
        "thirty thousand lines that look like a fence, and none is",
        lambda: "---\nname: bad\ndescription: x\n" + "--- \t-\n" * 30_000,
    ),
    _hang(
        "blank-run",
        "a line of blanks before a text: trimming by expression is quadratic",
        lambda: front("x" + " " * _CHARS + "x"),
    ),
    _hang(
        "blank-lines",
        "sixty thousand empty lines in the frontmatter",
        lambda: front(more="\n" * _CHARS),
    ),
    _hang(
        "colons",
        "a description of colons, each of which a repair might quote",
        lambda: front(": " * (_CHARS // 2)),
    ),
    _hang(
        "bad-lines",
        "two thousand lines that each need a repair",
        lambda: front(more="\n".join(f"k{i}: a: b: c" for i in range(2_000))),
    ),
    _hang(
        "open-quotes",
        "a quote opened on each of four thousand lines",
        lambda: front(more="\n".join(f'k{i}: "a' for i in range(4_000))),
    ),
    _hang(
        "sexagesimal",
        "a number in base sixty of twenty thousand places",
        lambda: front(more="metadata:\n  value: 1" + ":59" * 20_000),
    ),
    _hang(
        "float-run",
        "digits and underscores that are almost a number",
        lambda: front(more="metadata:\n  value: 1" + "_1" * 25_000 + ".e"),
    ),
    _hang(
        "many-keys",
        "six thousand keys, the last one twice",
        lambda: front(more="\n".join(f"k{i}: v" for i in [*range(6_000), 5_999])),
    ),
    _hang(
        "many-anchors",
        "five thousand anchors and as many aliases",
        lambda: front(
            more="a0: &a0 x\n"
            + "\n".join(f"a{i}: [&a{i} x, *a{i - 1}]" for i in range(1, 2_500))
        ),
    ),
    _hang(
        "complex-keys", "keys in keys in keys", lambda: front(more="? " * 8_000 + "x")
    ),
    _hang(
        "flow-run",
        "one flow sequence of fifteen thousand words",
        lambda: front(more="metadata: [" + "a, " * 15_000 + "a]"),
    ),
    _hang(
        "block-indents",
        "a block text whose lines each stand one blank further in",
        lambda: front("|\n" + "\n".join(" " * (i + 1) + "x" for i in range(330))),
    ),
    _hang(
        "open-links", "a body of half links", lambda: f"{front()}{'[a](' * 100_000}\n"
    ),
    _hang(
        "open-tags",
        "a body of half tags, each of which might leave the envelope",
        lambda: f"{front()}{'< / ' * 100_000}{'</ ' * 50_000}\n",
    ),
    _hang(
        "one-line-body",
        "a body of 900,000 characters without a line feed",
        lambda: f"---\nname: bad\ndescription: x\n---\n{BODY}{'word ' * 180_000}",
    ),
    _hang(
        "joiners",
        "a description of fifty thousand joiners behind one emoji",
        lambda: front('"\U0001f600' + "\u200d" * 15_000 + '"'),
    ),
)


_GIB: Final = 1 << 30
_NESTED: Final = 30_000  # the C stack of libyaml's loader ends at about this depth


def _bomb(
    name: str, what: str, text: str | Callable[[], str], *, threat: str = "T12"
) -> HostilePack:
    return skill("bomb", name, threat, what, text)


def _aliases(last: str) -> str:
    """Return ten levels of nine aliases each, and what is to hold the last."""
    names = "abcdefghi"
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for before, name in pairwise(names):
        lines.append(f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]")
    return "\n".join([*lines, last])


def _merges() -> str:
    lines = ["m0: &m0 {k0: v}"]
    for i in range(1, 12):
        merged = ", ".join([f"*m{i - 1}"] * 9)
        lines.append(f"m{i}: &m{i} {{<<: [{merged}], k{i}: v}}")
    return "\n".join(lines)


def _sparse(path: str, size: int) -> HostilePack:
    """Return a pack with a file of zeros that takes no room on the disk."""

    def writes(library: Path) -> None:
        pack = write_skill(library, BAD, front().encode())
        place = pack / path
        place.parent.mkdir(exist_ok=True)
        with place.open("ab") as file:
            file.truncate(size)

    name = f"sparse-{Path(path).stem.lower()}"
    return HostilePack(name, "bomb", "T10", writes, f"a {path} of 1 GiB of zeros")


BOMB_PACKS: Final[tuple[HostilePack, ...]] = (
    _bomb(
        "alias-description",
        "400 bytes that become 3.5 GB when the description is printed",
        f"---\nname: bad\n{_aliases('description: *i')}\n---\n",
    ),
    _bomb(
        "alias-name",
        "the same for the name",
        f"---\ndescription: x\n{_aliases('name: *i')}\n---\n",
    ),
    _bomb(
        "alias-metadata",
        "the same where nobody looks",
        front(more=_aliases("metadata: {value: *i}")),
    ),
    _bomb("alias-self", "a list in itself", front(more="metadata: &a [*a, *a]")),
    _bomb("merge-keys", "merge keys, nine to the eleventh", front(more=_merges())),
    _bomb(
        "nested-flow",
        "30,000 nested [: the C loader of PyYAML ends the process",
        lambda: front(more=f"metadata: {'[' * _NESTED}"),
    ),
    _bomb(
        "nested-flow-closed",
        "the same, closed",
        lambda: front(more=f"metadata: {'[' * _NESTED}{']' * _NESTED}"),
    ),
    _bomb(
        "nested-mappings",
        "15,000 nested {a:",
        lambda: front(more=f"metadata: {'{a: ' * 15_000}"),
    ),
    _bomb(
        "nested-block",
        "30,000 nested - ",
        lambda: front(more=f"metadata:\n  {'- ' * _NESTED}x"),
    ),
    _bomb(
        "nested-some",
        "1,200 nested [: RecursionError, whatever the parser",
        lambda: front(more=f"metadata: {'[' * 1200}{']' * 1200}"),
    ),
    _bomb(
        "frontmatter-10mb",
        "a frontmatter of 10 MB",
        lambda: front(more="\n".join(f"k{i}: {'v' * 1000}" for i in range(10_000))),
        threat="T10",
    ),
    _bomb(
        "description-8mb",
        "a description of 8 MB on one line",
        lambda: front("word " * 1_600_000),
        threat="T10",
    ),
    _bomb(
        "description-60kb",
        "a description of 60 KB: a catalog of nothing else",
        lambda: front("word " * 12_000),
        threat="T33",
    ),
    _bomb(
        "body-20mb",
        "a body of 20 MB",
        lambda: front() + "A line of text.\n" * 1_250_000,
        threat="T10",
    ),
    _sparse("SKILL.md", _GIB),
    _sparse("references/guide.md", _GIB),
)
