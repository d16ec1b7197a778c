"""The rules S4 to S12 of the specification, as the page numbers them."""

from __future__ import annotations

from functools import partial
from typing import Final

from benchmarks.faults.fault import DESCRIPTION, Fault, pack

GROUP: Final = "rules of the specification"
_fault: Final = partial(Fault, GROUP)
_LONG: Final = DESCRIPTION + " It does the same for each of the forms." * 30


def _name(row: str, name: str, about: str, bad: str, good: str) -> Fault:
    """Return a fault of a name that the folder has too."""
    return _fault(row, name, about, pack(bad), pack(good))


def _field(row: str, name: str, about: str, bad: str, good: str) -> Fault:
    return _fault(row, name, about, pack(name, more=bad), pack(name, more=good))


def _says(row: str, name: str, about: str, bad: str, good: str = DESCRIPTION) -> Fault:
    return _fault(
        row, name, about, pack(name, description=bad), pack(name, description=good)
    )


RULE_FAULTS: Final[tuple[Fault, ...]] = (
    _name("S4", "name-of-65", "a name of 65 characters", "n" * 65, "n" * 64),
    _fault(
        "S4",
        "name-empty",
        "an empty name",
        pack("name-empty", name='""'),
        pack("name-empty"),
    ),
    _name("S5", "name-upper", "an upper-case letter", "Pdf-forms", "pdf-forms"),
    _name("S5", "name-underscore", "an underscore", "pdf_fields", "pdf-fields"),
    _name("S5", "name-blank", "a blank", "pdf boxes", "pdf-boxes"),
    _name("S5", "name-dot", "a dot", "pdf.lines", "pdf-lines"),
    _name("S6", "name-leading", "a hyphen first", "-pdf-a", "pdf-a"),
    _name("S6", "name-trailing", "a hyphen last", "pdf-b-", "pdf-b"),
    _name("S6", "name-double", "two hyphens", "pdf--c", "pdf-c"),
    _fault(
        "S7",
        "name-other",
        "a name that is not the folder's",
        pack("name-other", name="other-name"),
        pack("name-other"),
    ),
    _says("S8", "description-missing", "no description", ""),
    _says("S8", "description-empty", "an empty description", '""'),
    _says("S8", "description-blank", "a description of blanks", '"   "'),
    _says(
        "S8",
        "description-of-1025",
        "a description of 1,025 characters",
        _LONG[:1024] + "s",
        _LONG[:1023] + "s",
    ),
    _says(
        "S8",
        "description-lacks-when",
        "a description that tells what, and not when",
        "Fills in the fields of a PDF form and checks each of them.",
    ),
    _says("S8", "description-vague", "a description of two words", "Helps users."),
    _field(
        "S9", "license-list", "a list for a licence", "license: [MIT]", "license: MIT"
    ),
    _fault(
        "S9",
        "license-file",
        "a licence file that is not there",
        pack("license-file", more="license: Complete terms in LICENSE.txt"),
        pack(
            "license-file",
            {"LICENSE.txt": "Do what you like.\n"},
            more="license: Complete terms in LICENSE.txt",
        ),
    ),
    _field(
        "S10",
        "compatibility-empty",
        "an empty compatibility",
        'compatibility: ""',
        "compatibility: Needs Python",
    ),
    _field(
        "S10",
        "compatibility-of-501",
        "a compatibility of 501 characters",
        f"compatibility: {'c' * 501}",
        f"compatibility: {'c' * 500}",
    ),
    _field(
        "S10",
        "compatibility-list",
        "a list for a compatibility",
        "compatibility: [python]",
        "compatibility: python",
    ),
    _field(
        "S11",
        "metadata-text",
        "text where a map is meant",
        "metadata: forms",
        "metadata:\n  topic: forms",
    ),
    _field(
        "S11",
        "metadata-number",
        "a number for a value",
        "metadata:\n  version: 1.0",
        'metadata:\n  version: "1.0"',
    ),
    _field(
        "S11",
        "metadata-map",
        "a map for a value",
        "metadata:\n  topic:\n    main: forms",
        "metadata:\n  topic: forms",
    ),
    _field(
        "S11",
        "metadata-key",
        "a number for a key",
        "metadata:\n  1: forms",
        'metadata:\n  "1": forms',
    ),
    _field(
        "S12",
        "tools-list",
        "a list of tools",
        "allowed-tools:\n  - Read\n  - Grep",
        "allowed-tools: Read Grep",
    ),
    _field(
        "S12",
        "tools-commas",
        "commas between tools",
        "allowed-tools: Read, Grep",
        "allowed-tools: Read Grep",
    ),
    _field(
        "S12",
        "tools-map",
        "a map of tools",
        "allowed-tools:\n  Read: true",
        "allowed-tools: Read",
    ),
    _field(
        "S12",
        "tools-number",
        "a number for tools",
        "allowed-tools: 3",
        "allowed-tools: Read",
    ),
)
"""What breaks each rule; a rule that recommends is here like one that demands."""
