"""Fields that are misspelled, in the wrong place or of the wrong kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchmarks.faults.fault import DESCRIPTION
from benchmarks.faults.planted._make import FOLDER, HEAD, in_files, in_head, in_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.faults.fault import Fault

_K: Final = "fields"
_D: Final = "dialect"


def _field(about: str, bad: str, good: str) -> Fault:
    return in_head(_K, about, HEAD + bad, HEAD + good)


FIELD_FAULTS: Final[tuple[Fault, ...]] = (
    in_head(
        _K,
        "description misspelled",
        f"name: {FOLDER}\ndescripton: {DESCRIPTION}",
        HEAD.rstrip(),
    ),
    in_head(
        _K,
        "Name with a capital",
        f"Name: {FOLDER}\ndescription: {DESCRIPTION}",
        HEAD.rstrip(),
    ),
    _field("license in British", "licence: MIT", "license: MIT"),
    _field(
        "allowed-tools with an underscore", "allowed_tools: Read", "allowed-tools: Read"
    ),
    _field("allowed-tools in one word", "allowedTools: Read", "allowed-tools: Read"),
    _field(
        "compatibility cut", "compatability: Python 3.12", "compatibility: Python 3.12"
    ),
    _field(
        "metadata misspelled", "meta-data:\n  version: '1'", "metadata:\n  version: '1'"
    ),
    _field("a field of nobody", "foo: bar", "metadata:\n  foo: bar"),
    _field("metadata is text", "metadata: version 1", "metadata:\n  version: '1'"),
    _field(
        "metadata holds a list",
        "metadata:\n  tags:\n    - a\n    - b",
        "metadata:\n  tags: a b",
    ),
    _field(
        "compatibility is too long",
        f"compatibility: {'Python, ' * 80}uv",
        "compatibility: Python, uv",
    ),
    _field(
        "a day that no calendar has",
        "metadata:\n  updated: 2026-02-30",
        "metadata:\n  updated: '2026-02-28'",
    ),
    in_head(
        _K,
        "the description is a list",
        f"name: {FOLDER}\ndescription:\n  - Fill in\n  - Check",
        f"name: {FOLDER}\ndescription: Fill in and check. Use when asked.",
    ),
    in_head(
        _K, "the description is empty", f"name: {FOLDER}\ndescription:", HEAD.rstrip()
    ),
    in_head(
        _K,
        "the description is too long",
        f"name: {FOLDER}\ndescription: {'Fill in forms. ' * 80}Use when asked.",
        f"name: {FOLDER}\ndescription: {'Fill in forms. ' * 20}Use when asked.",
    ),
    in_head(
        _K,
        "the name has capitals and blanks",
        f"name: Fill Form\ndescription: {DESCRIPTION}",
        HEAD.rstrip(),
    ),
    in_head(
        _K,
        "the name is another folder's",
        f"name: fill-forms\ndescription: {DESCRIPTION}",
        HEAD.rstrip(),
    ),
)


def _dialect(
    about: str,
    bad: tuple[str, Mapping[str, str]],
    good: tuple[str, Mapping[str, str]],
) -> Fault:
    def files(pack: tuple[str, Mapping[str, str]]) -> dict[str, str | bytes]:
        return dict(pack[1])

    plain = in_files(_D, about, files(bad), files(good))
    heads = in_head(_D, about, HEAD + bad[0], HEAD + good[0])
    body = "\nRead references/a.md, references/b.md; run scripts/fill.py.\n"
    return type(plain)(
        plain.group,
        plain.row,
        plain.id,
        about,
        type(plain.bad)(
            FOLDER,
            {
                **plain.bad.files,
                "SKILL.md": heads.bad.files["SKILL.md"] + body.encode(),
            },
        ),
        type(plain.good)(
            FOLDER,
            {
                **plain.good.files,
                "SKILL.md": heads.good.files["SKILL.md"] + body.encode(),
            },
        ),
    )


_A: Final = {"references/a.md": "# A\n\nText.\n"}
_B: Final = {"references/b.md": "# B\n\nText.\n"}
_F: Final = {"scripts/fill.py": "print(1)\n"}
_ALL: Final = {**_A, **_B, **_F}
_LISTED: Final = "references: [a.md, b.md]\nscripts: [fill.py]"

DIALECT_FAULTS: Final[tuple[Fault, ...]] = (
    _dialect("a listed reference is missing", (_LISTED, {**_A, **_F}), (_LISTED, _ALL)),
    _dialect("a listed script is missing", (_LISTED, {**_A, **_B}), (_LISTED, _ALL)),
    _dialect(
        "a reference is not listed",
        ("references: [a.md]\nscripts: [fill.py]", _ALL),
        (_LISTED, _ALL),
    ),
    _dialect(
        "references misspelled",
        ("refrences: [a.md, b.md]\nscripts: [fill.py]", _ALL),
        (_LISTED, _ALL),
    ),
    _dialect(
        "trigger_keywords misspelled",
        (f"{_LISTED}\ntrigger_keyword: [form]", _ALL),
        (f"{_LISTED}\ntrigger_keywords: [form]", _ALL),
    ),
    _dialect(
        "a listed path leaves the pack",
        ("references: [a.md, b.md, ../../etc/passwd]\nscripts: [fill.py]", _ALL),
        (_LISTED, _ALL),
    ),
    in_text(
        _D,
        "a description of fewer than 20 characters",
        f"---\nname: {FOLDER}\ndescription: Fill in.\ntrigger_keywords: [form]\n"
        "---\n# Fill\n\nFill in.\n",
        f"---\n{HEAD}trigger_keywords: [form]\n---\n# Fill\n\nFill in.\n",
    ),
)
