"""The record on disk, and what differs from it."""

from __future__ import annotations

import difflib
import json
import tomllib
from typing import TYPE_CHECKING

from tools.adapters.frameworks import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tools.record.answers import Answer

FOLDER = ROOT / "tests" / "record"
RENAMED = "renamed.toml"
_NOTHING_RENAMED = """\
# What messages said when the record was made, and what they say now: "old" = "new".
# A replay puts the new words into the recorded answers before it compares.
[renamed]
"""


def write(part: str, answers: Iterable[Answer]) -> None:
    """Write the answers of one part, a line of JSON each."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines = (
        json.dumps({"case": each.case, "result": each.result}, ensure_ascii=True)
        for each in answers
    )
    text = "".join(f"{line}\n" for line in lines)
    (FOLDER / f"{part}.jsonl").write_text(text, "utf-8")


def forget_renames() -> None:
    """Begin again with no word renamed: a new record has the words of today."""
    (FOLDER / RENAMED).write_text(_NOTHING_RENAMED, "utf-8")


def differences(part: str, answers: Iterable[Answer]) -> Iterator[str]:
    """Yield what differs from the record, after the words that were renamed."""
    renamed = _renamed()
    lines = (FOLDER / f"{part}.jsonl").read_text("utf-8").splitlines()
    recorded = {row["case"]: row["result"] for row in map(json.loads, lines)}
    for found in answers:
        before = recorded.pop(found.case, None)
        if before is None:
            yield f"{part}/{found.case}: not in the record"
            continue
        for old, new in renamed.items():
            before = before.replace(old, new)
        if before != found.result:
            changes = difflib.unified_diff(
                before.splitlines(), found.result.splitlines(), "record", "now", n=1
            )
            shown = "\n".join(f"  {line.rstrip()}" for line in changes)
            yield f"{part}/{found.case}:\n{shown}"
    yield from (f"{part}/{case}: not asked any more" for case in recorded)


def _renamed() -> Mapping[str, str]:
    """Return what messages said, and what they say now, in the order of the file."""
    table: dict[str, str] = tomllib.loads((FOLDER / RENAMED).read_text("utf-8")).get(
        "renamed", {}
    )
    return table
