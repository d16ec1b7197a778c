#!/usr/bin/env python3
"""Check a plan of tasks, and say what can run at the same time.

    check_plan.py plan.json      a JSON list of tasks, fields as in references/task-api.md
    check_plan.py -              read standard input
    check_plan.py --example      print a plan to begin with

Checked: every task has one result, a check with its command, files and a limit; needs
name tasks that exist and form no circle; two tasks that may run at the same time share
no file; states agree with needs and owners. Then the batches and the longest chain.
"""

from __future__ import annotations

import argparse
import graphlib
import json
import re
import sys
from pathlib import Path
from typing import Any

EPILOG = "exit status: 0 sound, 1 a line for each fault, 2 not readable"
LEAST_MINUTES, MOST_MINUTES = 30, 240
STATES = ("planned", "ready", "working", "blocked", "review", "done", "dropped")
TEXTS = ("id", "title", "role", "goal", "state")
LISTS = ("context", "files", "leave", "needs", "ask_if")
FIELDS = {*TEXTS, *LISTS, "check", "limit_minutes", "owner"}
VAGUE = re.compile(
    r"\b(improve|look into|clean up|make \w+ robust|etc)\b", re.IGNORECASE
)
EXAMPLE = [
    {
        "id": "12",
        "title": "Index invoices by date",
        "role": "backend",
        "goal": "invoices.issued_on has an index",
        "check": {"run": "pytest tests/db -k index", "expect": "1 test passes"},
        "files": ["migrations/0031_index.sql", "tests/db/test_index.py"],
        "limit_minutes": 45,
        "state": "ready",
    },
    {
        "id": "14",
        "title": "Export a month of invoices as CSV",
        "role": "backend",
        "goal": "export_month(db, month) yields the lines of the file",
        "check": {"run": "pytest tests/billing -k export", "expect": "4 tests pass"},
        "files": ["billing/export.py", "tests/billing/test_export.py"],
        "needs": [{"task": "12", "what": "index on invoices.issued_on"}],
        "limit_minutes": 120,
        "state": "planned",
    },
]


def check_fields(task: Any, place: str) -> list[str]:
    if not isinstance(task, dict):
        return [f"{place}: expected an object"]
    faults = [f"{place}: unknown field {name}" for name in sorted(set(task) - FIELDS)]
    for name in TEXTS:
        if not isinstance(task.get(name), str) or not task[name].strip():
            faults.append(f"{place}: {name} is missing, or is not a text")
    for name in LISTS:
        if not isinstance(task.get(name, []), list):
            faults.append(f"{place}: {name} is not a list")
    check = task.get("check")
    if not isinstance(check, dict) or not (check.get("run") and check.get("expect")):
        faults.append(
            f"{place}: check needs run (a command) and expect (what it prints)"
        )
    minutes = task.get("limit_minutes")
    if type(minutes) is not int or not LEAST_MINUTES <= minutes <= MOST_MINUTES:
        faults.append(
            f"{place}: limit_minutes is not {LEAST_MINUTES} to {MOST_MINUTES}: "
            "merge it into another task, or split it"
        )
    if faults:
        return faults
    if not task.get("files"):
        faults.append(f"{place}: files is empty: name what may be changed")
    if task["state"] not in STATES:
        faults.append(f"{place}: state is not one of {', '.join(STATES)}")
    for name in ("title", "goal"):
        if vague := VAGUE.search(task[name]):
            faults.append(
                f"{place}: {name} says {vague[0]!r}: say what can be seen after"
            )
    for need in task.get("needs", []):
        if not isinstance(need, dict) or not (need.get("task") and need.get("what")):
            faults.append(f"{place}: a need is an object with task and what")
    return faults


def find_circle(needs: dict[str, list[str]]) -> list[str]:
    """Return the ids of a circle, the first of them again at the end."""
    try:
        graphlib.TopologicalSorter(needs).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def reach(needs: dict[str, list[str]], order: list[str]) -> dict[str, set[str]]:
    """Return everything that each task waits for."""
    before: dict[str, set[str]] = {}
    for name in order:
        before[name] = {*needs[name], *(x for n in needs[name] for x in before[n])}
    return before


def batches(needs: dict[str, list[str]]) -> list[list[str]]:
    left, done, result = dict(needs), set[str](), []
    while left:
        batch = [name for name, waits in left.items() if done.issuperset(waits)]
        result.append(batch)
        done.update(batch)
        for name in batch:
            del left[name]
    return result


def check_plan(tasks: list[dict[str, Any]], needs: dict[str, list[str]]) -> list[str]:
    faults = []
    by_id = {task["id"]: task for task in tasks}
    order = [name for batch in batches(needs) for name in batch]
    before = reach(needs, order)
    active = [task for task in tasks if task["state"] not in ("done", "dropped")]
    for number, one in enumerate(active):
        for other in active[number + 1 :]:
            first, second = one["id"], other["id"]
            ordered = first in before[second] or second in before[first]
            for path in sorted(
                {*one["files"]} & {*other["files"]} if not ordered else ()
            ):
                faults.append(
                    f"tasks {first} and {second} may run at once and share {path}"
                )
    for task in active:
        waits = [n for n in needs[task["id"]] if by_id[n]["state"] != "done"]
        if waits and task["state"] not in ("planned", "blocked"):
            faults.append(
                f"task {task['id']}: {task['state']}, but {waits[0]} is not done"
            )
        if task["state"] == "working" and not task.get("owner"):
            faults.append(f"task {task['id']}: working without an owner")
    owners: dict[str, str] = {}
    for task in active:
        owner = task.get("owner")
        if task["state"] == "working" and owner:
            if owner in owners:
                faults.append(f"{owner} works on {owners[owner]} and {task['id']}")
            owners.setdefault(owner, task["id"])
    return faults


def check(tasks: list[Any]) -> tuple[list[str], dict[str, list[str]]]:
    """Return the faults, and the needs of each task where these can be used."""
    faults = []
    for number, task in enumerate(tasks):
        name = task.get("id") if isinstance(task, dict) else None
        faults += check_fields(task, f"task {name}" if name else f"entry {number + 1}")
    if faults:
        return faults, {}
    needs: dict[str, list[str]] = {}
    for task in tasks:
        if task["id"] in needs:
            faults.append(f"task {task['id']}: the id is there twice")
        needs[task["id"]] = [str(need["task"]) for need in task.get("needs", [])]
    for name, waits in needs.items():
        faults += [
            f"task {name}: needs {n}, which is no task" for n in waits if n not in needs
        ]
    if not faults and (circle := find_circle(needs)):
        faults.append(f"a circle of needs: {' -> '.join(circle)}")
    if faults:
        return faults, {}
    return check_plan(tasks, needs), needs


def show(tasks: list[dict[str, Any]], needs: dict[str, list[str]]) -> None:
    chain: dict[str, int] = {}
    minutes = {task["id"]: task["limit_minutes"] for task in tasks}
    for number, batch in enumerate(batches(needs), 1):
        for name in batch:
            chain[name] = minutes[name] + max(
                (chain[n] for n in needs[name]), default=0
            )
        print(f"batch {number}: {', '.join(batch)}")
    print(f"{len(tasks)} tasks, {sum(minutes.values())} minutes; ", end="")
    print(f"longest chain {max(chain.values())} minutes")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", nargs="?", help="JSON; - is standard input")
    parser.add_argument("--example", action="store_true", help="print an example plan")
    options = parser.parse_args()
    if options.example:
        print(json.dumps(EXAMPLE, indent=2))
        return 0
    if not options.file:
        parser.error("name a file, or - for standard input")
    try:
        if options.file == "-":
            tasks = json.load(sys.stdin)
        else:
            tasks = json.loads(Path(options.file).read_text("utf-8"))
    except (OSError, ValueError) as error:
        print(f"check_plan.py: {options.file}: {error}", file=sys.stderr)
        return 2
    if not isinstance(tasks, list) or not tasks:
        print(
            f"check_plan.py: {options.file}: expected a list of tasks", file=sys.stderr
        )
        return 2
    faults, needs = check(tasks)
    for fault in faults:
        print(fault)
    if needs:
        show(tasks, needs)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
