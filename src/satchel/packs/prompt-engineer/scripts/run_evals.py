#!/usr/bin/env python3
r"""Run the cases of a prompt several times, and compare with an earlier result.

    run_evals.py cases.jsonl --out before.jsonl -- python ask.py prompt.md
    run_evals.py cases.jsonl --against before.jsonl -- python ask.py prompt.md

The command is your own: it reads one input on standard input and prints the answer. A
case is a line of JSON (assets/cases.jsonl has examples):

    id        a name of its own
    input     the text; or "file": a path next to the cases
    must      texts that the answer holds, in any case; "re:..." is a regular expression
    must_not  texts that it does not hold
    json      true: the answer is JSON and nothing else
    held_out  true: kept aside; --held-out runs these, everything else leaves them out
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

EPILOG = """exit status: 0 every run passed (with --against: no case got worse),
1 some failed (or got worse), 2 cases or command cannot be used"""
FIELDS = {"id", "input", "file", "must", "must_not", "json", "held_out"}


class BadInput(Exception):
    pass


class Result(NamedTuple):
    id: str
    passed: int
    runs: int
    seconds: float
    failures: list[str]


def read_lines(path: Path) -> list[tuple[int, Any]]:
    rows = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.strip():
            try:
                rows.append((number, json.loads(line)))
            except ValueError as error:
                raise BadInput(f"{path}:{number}: {error}") from error
    return rows


def read_cases(path: Path) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = []
    ids: set[str] = set()
    for number, case in read_lines(path):
        place = f"{path}:{number}"
        if not isinstance(case, dict) or not isinstance(case.get("id"), str):
            raise BadInput(f"{place}: expected an object with an id")
        if unknown := sorted(set(case) - FIELDS):
            raise BadInput(f"{place}: unknown field {unknown[0]}")
        if case["id"] in ids:
            raise BadInput(f"{place}: the id {case['id']} is there twice")
        if ("input" in case) == ("file" in case):
            raise BadInput(f"{place}: expected either input or file")
        if not (case.get("must") or case.get("must_not") or case.get("json")):
            raise BadInput(f"{place}: checks nothing: give must, must_not or json")
        for field in ("must", "must_not"):
            check_texts(case.get(field, []), f"{place}: {field}")
        if "file" in case:
            file = path.parent / case["file"]
            if not file.is_file():
                raise BadInput(f"{place}: no such file: {file}")
            case["input"] = file.read_text("utf-8")
        ids.add(case["id"])
        cases.append(case)
    return cases


def check_texts(texts: Any, place: str) -> None:
    if not isinstance(texts, list) or not all(isinstance(t, str) and t for t in texts):
        raise BadInput(f"{place}: expected a list of texts")
    for text in texts:
        if text.startswith("re:"):
            try:
                re.compile(text[3:])
            except re.error as error:
                raise BadInput(f"{place}: {text}: {error}") from error


def holds(answer: str, text: str) -> bool:
    if text.startswith("re:"):
        return bool(re.search(text[3:], answer, re.IGNORECASE))
    return text.lower() in answer.lower()


def judge(case: dict[str, Any], answer: str) -> list[str]:
    """Return why an answer fails; an empty list for one that passes."""
    failures = [
        f"lacks {text}" for text in case.get("must", []) if not holds(answer, text)
    ]
    failures += [
        f"has {text}" for text in case.get("must_not", []) if holds(answer, text)
    ]
    if case.get("json"):
        try:
            json.loads(answer)
        except ValueError:
            failures.append("is not JSON")
    return failures


def ask(command: list[str], text: str, timeout: float) -> tuple[str, str]:
    """Return the answer and, where there is none, why."""
    try:
        done = subprocess.run(
            command,
            input=text,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "", f"no answer in {timeout:g} s"
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return "", f"command failed with {done.returncode}: {last}"
    return done.stdout.strip(), ""


def run_case(case: dict[str, Any], options: argparse.Namespace) -> Result:
    passed, failures = 0, []
    start = time.monotonic()
    for _ in range(options.runs):
        answer, problem = ask(options.command, case["input"], options.timeout)
        reasons = [problem] if problem else judge(case, answer)
        passed += not reasons
        failures += reasons
    seconds = (time.monotonic() - start) / options.runs
    return Result(
        case["id"], passed, options.runs, round(seconds, 3), sorted(set(failures))
    )


def compare(results: list[Result], before: dict[str, Any]) -> list[str]:
    """Print each case whose pass rate moved; return those that got worse."""
    worse = []
    for result in results:
        old = before.get(result.id)
        if old is None:
            print(f"new     {result.id}")
            continue
        was, now = old["passed"] / old["runs"], result.passed / result.runs
        if now != was:
            print(
                f"{'better' if now > was else 'worse ':6}  {result.id}: {was:.0%} -> {now:.0%}"
            )
        if now < was:
            worse.append(result.id)
    return worse


def split(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the words before the first --, and those behind it."""
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1 :]


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        usage="%(prog)s [options] cases -- command ...",
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("cases", type=Path, help="JSON lines")
    parser.add_argument("--runs", type=int, default=3, help="for each case; default: 3")
    parser.add_argument("--held-out", action="store_true", help="run these alone")
    parser.add_argument("--timeout", type=float, default=120.0, help="default: 120 s")
    parser.add_argument("--out", type=Path, help="write the results as JSON lines")
    parser.add_argument("--against", type=Path, help="results of an earlier --out")
    # By hand: argparse would take options of the command for its own.
    own, command = split(sys.argv[1:])
    options = parser.parse_args(own)
    options.command = command
    if not command:
        parser.error("no command: put it after --")
    if options.runs < 1:
        parser.error("--runs is at least 1")
    return options


def run(options: argparse.Namespace) -> int:
    cases = [
        case
        for case in read_cases(options.cases)
        if bool(case.get("held_out")) == options.held_out
    ]
    if not cases:
        raise BadInput(f"{options.cases}: no case to run")
    before = (
        {row["id"]: row for _, row in read_lines(options.against)}
        if options.against
        else {}
    )
    results = []
    for case in cases:
        result = run_case(case, options)
        results.append(result)
        why = f"  {'; '.join(result.failures)}" if result.failures else ""
        print(f"{result.passed}/{result.runs}  {result.id}{why}", flush=True)
    passed = sum(result.passed for result in results)
    runs = sum(result.runs for result in results)
    print(f"{passed} of {runs} runs passed, {len(results)} cases")
    if options.out:
        lines = (json.dumps(result._asdict()) + "\n" for result in results)
        options.out.write_text("".join(lines), "utf-8")
    if options.against:
        return 1 if compare(results, before) else 0
    return 0 if passed == runs else 1


def main() -> int:
    options = read_options()
    try:
        return run(options)
    except (BadInput, OSError, KeyError) as error:
        print(f"run_evals.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
