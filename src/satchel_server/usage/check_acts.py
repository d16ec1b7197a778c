"""Check the acts of a chained log, with the standard library of Python alone.

Copy this file to where logs are checked; it needs no Satchel::

    python -I check_acts.py usage.chain --head DIGEST

It prints each act of the log, and whether the model had read the skills that the act
needs: ``yes`` where the log has a load of this very version in the same conversation
before it, ``shown`` where the act says that the prompt or the messages showed it
without a load, else ``no``. Status: 0; 1 if the log was changed or does not match the
head, or if an act was done without its skill; 2 if the log cannot be read.
"""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

GENESIS = "0" * 64
# What reading a line raises that no writer of Satchel wrote.
DAMAGES = (
    *(ValueError, KeyError, TypeError, AttributeError),
    *(OverflowError, OSError, RecursionError),
)
HEAD = "WHEN", "ACT", "OUTCOME", "READ", "APPROVAL", "SKILL"


def with_skills(events: Iterable[Any]) -> Iterator[tuple[Any, str]]:
    """Yield each act with ``yes``, ``shown`` or ``no``: were its skills read."""
    loads: set[tuple[str, ...]] = set()
    last: dict[object, int] = {}
    for event in events:
        writer, number = event.get("writer"), event.get("seq")
        if number is not None:
            if number <= last.get(writer, 0):
                continue  # of a batch that was written twice
            last[writer] = number
        if event["event"] == "act":
            yield event, _had_skills(event, loads)
        elif event["event"] == "skill_loaded" and _is_of_skill(event):
            loads.add(_load(event, event))


def _is_of_skill(load: Mapping[str, Any]) -> bool:
    # A failure, or another file than the instructions, has one of these.
    other = load["code"] or load["reference"] or load["script"]
    return not other and bool(load.get("conversation"))


def _had_skills(act: Mapping[str, Any], loads: set[tuple[str, ...]]) -> str:
    read = {
        "yes" if skill["read"] and _load(act, skill) in loads else skill["read"]
        for skill in act["skills"]
    }
    return min(read) if read and read <= {"yes", "shown"} else "no"


def _load(event: Mapping[str, Any], skill: Mapping[str, Any]) -> tuple[str, ...]:
    return event["conversation"], skill["name"], skill["digest"]


def row(act: Mapping[str, Any], read: str) -> tuple[str, ...]:
    """Return what a person reads of an act, as `HEAD` says."""
    names = ", ".join(skill["name"] for skill in act["skills"])
    what, approval = act["script"] or act["tool"], act["approval"] or "-"
    texts = what, act["outcome"], read, approval, names
    when = datetime.fromtimestamp(act["at"], UTC).strftime("%Y-%m-%d %H:%M")
    return when, *(ascii(text)[1:-1] for text in texts)


def is_wrong(act: Mapping[str, Any], read: str) -> bool:
    """Return whether an act was done without its skill."""
    return read == "no" and act["outcome"] != "refused"


def chain_lines(lines: Iterable[bytes]) -> Iterator[tuple[Any, str]]:
    """Yield each event of a chain with the digest of its line.

    Raises:
        ValueError: A line is wrong; the text says how.
    """
    digest = GENESIS
    for number, line in enumerate(lines, 1):
        if not line.endswith(b"\n"):
            raise ValueError("it is incomplete: a writer was killed, or still runs")
        try:
            event: Any = json.loads(line)
            before, counted = event["prev"], event["line"]
            for act in with_skills([event]):
                row(*act)  # it has all that an act has
        except DAMAGES:
            raise ValueError("it is not a line of a chained log") from None
        if before != digest:
            raise ValueError(
                "it does not follow from the line before: one of them was changed, or "
                "lines between them are missing"
            )
        if counted != number:
            raise ValueError(f"it says that it is line {counted!r}")
        # The digest is of the JSON alone, as the writer computes it before the line
        # end.
        digest = sha256(line[:-1]).hexdigest()
        yield event, digest


def read_chain(lines: Iterable[bytes]) -> tuple[list[Any], list[str], str]:
    """Return the events, the digests before and after each, and what is wrong."""
    events: list[Any] = []
    digests = [GENESIS]
    try:
        for event, digest in chain_lines(lines):
            events.append(event)
            digests.append(digest)
    except ValueError as error:
        return events, digests, f"line {len(digests)}: {error}"
    return events, digests, ""


def head_problem(head: str, digests: Sequence[str]) -> str:
    """Return what is wrong with a head, a digest or a file; empty for nothing."""
    if head in digests[1:]:
        return ""
    try:
        value: Any = json.loads(Path(head).read_bytes())
        fits = digests[value["line"] :][:1] == [value["digest"]]
    except DAMAGES:
        return "no head can be read, so a missing end cannot be noticed"
    return "" if fits else "it does not match the head: it was cut, or written again"


def main(arguments: Sequence[str] | None = None) -> int:
    """Check one log, and print its acts."""
    parser = ArgumentParser(description="Check the acts of a chained log.")
    parser.add_argument("log", type=Path)
    parser.add_argument("--head", help="a digest, or a file; default: LOG.head")
    given = parser.parse_args(arguments)
    if not given.log.is_file():
        parser.error(f"there is no {given.log}")
    with given.log.open("rb") as lines:
        events, digests, problem = read_chain(lines)
    acts = [*with_skills(events)]
    problem = problem or head_problem(given.head or f"{given.log}.head", digests)
    wrong = sum(is_wrong(*act) for act in acts)
    count = f"{len(events)} lines, {len(acts)} acts, {wrong} done without their skill"
    result = problem or f"not changed; the last line is {digests[-1]}"
    texts = "  ".join(HEAD), *("  ".join(row(*act)) for act in acts), count, result
    print(*texts, sep="\n")  # noqa: T201 - a program for people
    return 1 if problem or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
