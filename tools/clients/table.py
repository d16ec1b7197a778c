"""Write docs/reference/clients.md, and the data that it is made from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from tools.clients.known import ROOT
from tools.clients.outcome import Report, from_json, to_json
from tools.clients.registered import CHECKS
from tools.clients.running import read_results

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

DATA: Final = ROOT / "tests" / "clients" / "results.json"
PAGE: Final = ROOT / "docs" / "reference" / "clients.md"
CORPUS: Final = "corpus"

_HEAD: Final = """# What real clients do with the server

Real programs were run against `satchel serve`, on one machine and without a network.
Each table has the steps of one program and what came out.

`python -m tools.clients table` makes this page from the results of `make clients`.
[The checks](../../tools/clients/checks) have the code of each step, and `python -m
tools.clients list` the versions. Large clients run only with `--all`.

"""
_TAIL: Final = """
## What we learned about clients

- MCP Inspector reads at most 64 pages of a list, FastMCP's client 250. So a page has
  250 skills, and both read a library of 16,000 to its end.
- FastMCP's client refuses the whole list if the `metadata` of one skill has a value
  that is not text, such as `version: 1.0` without quotes.
- `npx skills` does not escape a `?` in the name of a file of an index of v0.1.0. The
  archives of v0.2.0 do not have this problem.
- MCP Inspector uses the earlier version of the protocol, which has no skills, unless
  you pass `--protocol-era modern`.
- In the conformance suite a client passes a scenario even if it ends with an error.
  The check here fails it.

## Another library

`python -m tools.clients corpus FILE.jsonl.gz` runs the last check with any library:
lines of JSON with `id`, `dir` and `text`, one for each SKILL.md. The one here is of
public skills, and not part of the project. Valid packs are listed, except those for
users only; a host that asks for one of these gets it.
"""
_TITLES: Final = {
    **{name: check.title for name, check in CHECKS.items()},
    CORPUS: "A library of public skills",
}


def write() -> Iterator[Path]:
    """Write both files with what was run here in place of what they said."""
    reports = read_data() | read_results()
    ordered = {name: reports[name] for name in _TITLES if name in reports}
    data = {name: to_json(report) for name, report in ordered.items()}
    for path, text in (
        (DATA, json.dumps(data, indent=1, ensure_ascii=False) + "\n"),
        (PAGE, render_page(ordered)),
    ):
        path.write_text(text, "utf-8", newline="\n")
        yield path.relative_to(ROOT)


def read_data() -> dict[str, Report]:
    """Return what is committed; nothing where there is nothing."""
    if not DATA.exists():
        return {}
    data = json.loads(DATA.read_text("utf-8"))
    return {name: from_json(each) for name, each in data.items()}


def render_page(reports: Mapping[str, Report]) -> str:
    """Return the page: a table of all checks, and one of the steps of each."""
    summary = [
        [
            f"[{_TITLES[name]}](#{_anchor(_TITLES[name])})",
            _versions(report),
            report.date,
            _count(report),
        ]
        for name, report in reports.items()
    ]
    head = ["client", "versions", "run on", "steps"]
    return (
        _HEAD + _table(head, summary) + "".join(map(_section, reports.values())) + _TAIL
    )


def _section(report: Report) -> str:
    rows = [[step.what, step.outcome, step.said] for step in report.steps]
    return f"\n## {_TITLES[report.check]}\n\n{_table(['step', '', 'what'], rows)}"


def _versions(report: Report) -> str:
    return ", ".join(f"{name} {version}" for name, version in report.versions.items())


def _count(report: Report) -> str:
    kinds = [step.outcome for step in report.steps]
    return ", ".join(
        f"{kinds.count(kind)} {kind}"
        for kind in ("passed", "left out", "failed")
        if kind in kinds
    )


def _anchor(title: str) -> str:
    kept = [c for c in title.lower() if c.isalnum() or c in " -_"]
    return "".join(kept).replace(" ", "-")


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(
        f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |\n"
        for line in lines
    )
