"""Faults that `satchel check` does not tell of, each with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchmarks.faults.codes import CODE_FAULTS
from benchmarks.faults.rules import RULE_FAULTS
from benchmarks.faults.threats import threat_faults
from benchmarks.faults.tricky import tricky_faults

if TYPE_CHECKING:
    from benchmarks.faults.fault import Fault

NOT_FOUND: Final[dict[str, str]] = {
    "metadata-key": "a key is taken as it is written, and is text to most clients",
    "tools-number": "a number is taken as the text that it was written as",
    "reference-hard-link": (
        "a hard link is a file like any other, and installers that save space make "
        "them; a release or an archive holds copies"
    ),
    "metadata-map": "a program may read it; `--profile spec` tells of it",
    "ends-arguments": "it is looked for when it is asked for: `--select`",
    "skipped-heading": "it is looked for when it is asked for: `--select`",
    "arguments": "no client is known that fills in placeholders of a description",
    "cdata-body": "no client is known that hands a body out in a CDATA section",
}
"""By the fault's id."""


def all_faults() -> tuple[Fault, ...]:
    """Return every fault, group by group; the tricky packs are those of ours."""
    return (*tricky_faults(), *CODE_FAULTS, *RULE_FAULTS, *threat_faults())
