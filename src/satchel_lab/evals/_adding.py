"""A case more in an eval file, which keeps everything else of it byte by byte."""

import json
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from satchel.model import Json
from satchel_lab.evals._dialects import EvalCase, cases_in, is_of_a_run
from satchel_lab.evals._words import plain, role

NEW_FILE: Final = "evals/trigger-evals.json"
"""The file of a pack that has none yet; the reference runner reads this shape."""
_SPACE: Final = re.compile(r"[ \t\r\n]*")


class _Element(NamedTuple):
    """A value in a JSON text: where it begins and ends."""

    start: int
    end: int
    value: Json


def new_evals(queries: Mapping[str, bool]) -> str:
    """Return an eval file of queries that a skill should get, or should not."""
    rows = (_json(_plain_row(query, should=yes)) for query, yes in queries.items())
    lines = ",\n".join(f"  {row}" for row in rows)
    return f"[\n{lines}\n]\n"


def with_case(text: str, query: str, skill: str, *, should: bool = True) -> str | None:
    """Return the text of a JSON eval file with one case more; None for another shape.

    The case has the keys of the last one in the file. Nothing else changes, and nothing
    at all where the file has this case.
    """
    try:
        document: Json = json.loads(text)
    except (ValueError, RecursionError):
        return None
    start = None if is_of_a_run(document) else _start_of_rows(text, document)
    if start is None:
        return None
    who = ((skill,), ()) if should else ((), (skill,))
    if EvalCase(query.strip(), *who) in cases_in(document, skill.__eq__, skill).cases:
        return text
    elements = _elements(text, start)
    if not elements:
        row = _plain_row(query, should=should)
        rest = text[start + 1 :].lstrip()
        return f"{text[: start + 1]}\n  {_json(row)}\n{rest}"
    last = elements[-1]
    rows = [element.value for element in elements]
    written = _row_like(rows, query, skill, should=should)
    if written is None:
        return None
    before = elements[-2].end if len(elements) > 1 else start + 1
    gap = text[before : last.start].replace(",", "", 1)
    indent = gap.rpartition("\n")[2] if "\n" in gap else ""
    shown = _json(written)
    inner = re.search(r"\n([ \t]*)\S", text[last.start : last.end])
    if inner is not None:
        step = inner[1].removeprefix(indent) or "  "
        shown = _json(written, step).replace("\n", f"\n{indent}")
    return f"{text[: last.end]},{gap or ' '}{shown}{text[last.end :]}"


def _start_of_rows(text: str, document: Json) -> int | None:
    """Return where the list of cases begins: the document, or one of its members."""
    if isinstance(document, list):
        return text.index("[")
    if not isinstance(document, dict):
        return None
    decoder = json.JSONDecoder()
    for key, value in document.items():
        if not role(plain(key)).cases or not isinstance(value, list):
            continue
        for match in re.finditer(rf"{re.escape(json.dumps(key))}\s*:\s*(?=\[)", text):
            if decoder.raw_decode(text, match.end())[0] == value:
                return match.end()
    return None


def _elements(text: str, start: int) -> list[_Element]:
    """Return the values of the list that begins there."""
    decoder = json.JSONDecoder()
    elements: list[_Element] = []
    at = _after_space(text, start + 1)
    while text[at] != "]":
        value, end = decoder.raw_decode(text, at)
        elements.append(_Element(at, end, value))
        at = _after_space(text, end)
        if text[at] == ",":
            at = _after_space(text, at + 1)
    return elements


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return at if match is None else match.end()


def _plain_row(query: str, *, should: bool) -> dict[str, Json]:
    return {"query": query, "should_trigger": should}


def _json(row: Mapping[str, Json], indent: str | None = None) -> str:
    return json.dumps(row, ensure_ascii=False, indent=indent)


def _row_like(
    rows: list[Json], query: str, skill: str, *, should: bool
) -> dict[str, Json] | None:
    """Return a new row with the keys of the last; None where that is no case."""
    row = rows[-1]
    if not isinstance(row, dict):
        return None
    by_plain = {plain(key): key for key in row}
    ranks = ((role(key).rank, own) for key, own in by_plain.items())
    texts = sorted((rank, own) for rank, own in ranks if rank is not None)
    if not texts:
        return None
    text = texts[0][1]
    new: dict[str, Json] = {}
    if isinstance(row.get("id"), int):
        ids = [one.get("id") for one in rows if isinstance(one, dict)]
        new["id"] = max(one for one in ids if isinstance(one, int)) + 1
    new[text] = query
    says = False
    for key, own in by_plain.items():
        if role(key).whether and isinstance(row[own], bool):
            new[own], says = should is not (role(key).says is False), True
        elif role(key).names and key.startswith("expect"):
            named: list[Json] = [skill] if should else []
            many = isinstance(row[own], list)
            new[own] = named if many else next(iter(named), None)
            says = True
    # A file without verdicts holds only queries that its skill should get.
    if not says and not should:
        new["should_trigger"] = False
    return new
