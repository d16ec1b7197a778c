"""Write what each adapter was tried with: data for the package, pages for people.

The data is ``src/satchel/adapters/tested.json``, which `satchel doctor` reads. The
pages are ``docs/reference/adapters.md`` and ``docs/how-to/adapters/index.md``. All
come from whole runs at both ends; an adapter that was not run so on this machine keeps
what the data says of it.
"""

from __future__ import annotations

import ast
import json
import textwrap
from typing import TYPE_CHECKING, Any, Final

from tools.adapters.frameworks import NAMES, ROOT, TITLES, Adapter
from tools.adapters.private_names import private_names
from tools.adapters.runner import read_results

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

DATA: Final = ROOT / "src" / "satchel" / "adapters" / "tested.json"
INDEX: Final = ROOT / "docs" / "how-to" / "adapters" / "index.md"
README: Final = ROOT / "README.md"
PAGE: Final = ROOT / "docs" / "reference" / "adapters.md"
SUITES: Final = tuple(
    ROOT / "tests" / "adapters" / f"test_{name}.py"
    for name in ("contract", "contract_acts", "contract_scripts", "contract_locked")
)

_HEAD: Final = """\
# What each adapter does

Every adapter takes the same tests, each under its real framework. This page has the
results: the versions, then every test by itself. How to use an adapter is on [the page
of your framework](../how-to/adapters/index.md).

An extra installs an adapter's framework: `pip install ".[langchain]"` in a clone of
this repository. `satchel doctor` shows what is installed, next to these versions.

An adapter is *experimental* while it works with fewer than three minor releases of its
framework. *Private names* are what it needs of its framework, though the framework does
not promise to keep them.

"""
_BEGIN: Final = "<!-- adapters: made by `python -m tools.adapters table` -->\n"
_END: Final = "<!-- /adapters -->"
_COLUMNS: Final = 112
_FRAMEWORKS: Final = ["framework", "extra", "versions", "status"]
_VERSIONS: Final = [
    *("adapter", "extra", "framework", "lowest", "newest", "Python", "status"),
    "private names",
]
_EXPERIMENTAL: Final = 3
"""Minor releases over which an adapter has to work, or it is experimental."""
_ROWS: Final = """
## Row by row

`yes`: it works with the lowest and with the newest version, and where that matters also
sync, async and streaming. A number: it does not, or not in all of these; the reason is
below, and a test fails as soon as it does after all.

The tests are in `tests/adapters/test_contract.py`, `test_contract_acts.py`,
`test_contract_scripts.py` and `test_contract_locked.py`.
`python -m tools.adapters table` makes this page.

"""


def write() -> Iterator[Path]:
    """Write the files, and yield their paths."""
    data = _merged(read_data())
    for path, text in (
        (DATA, json.dumps(data, indent=1, ensure_ascii=False) + "\n"),
        (PAGE, render_page(data)),
        (INDEX, with_versions(INDEX.read_text("utf-8"), data)),
        (README, with_sentence(README.read_text("utf-8"), data)),
    ):
        path.write_text(text, "utf-8", newline="\n")
        yield path.relative_to(ROOT)


def read_data() -> dict[str, Any]:
    """Return what the package says of each adapter; nothing where it says nothing."""
    if not DATA.exists():
        return {}
    data: dict[str, Any] = json.loads(DATA.read_text("utf-8"))
    return data


def titles() -> dict[str, str]:
    """Return the suite's rows in order, each with the first line of its docstring."""
    return {
        node.name.removeprefix("test_"): (ast.get_docstring(node) or "").split("\n")[0]
        for suite in SUITES
        for node in ast.parse(suite.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    }


def _merged(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data with what was run here in place of what it said."""
    merged: dict[str, Any] = {}
    for name in NAMES:
        newest = read_results(Adapter(name))
        lowest = read_results(Adapter(name, lowest=True))
        if newest is not None and lowest is not None:
            merged[name] = tell(lowest, newest)
        elif name in data:
            merged[name] = data[name]
    return merged


def tell(lowest: Mapping[str, Any], newest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the package says of one adapter, out of the results of its runs.

    ``missing`` are the rows that did not pass, with the reasons; ``failed`` those of
    them that are no limits but mistakes.
    """
    missing: dict[str, list[str]] = {}
    failed: dict[str, None] = {}
    for row in newest["rows"]:
        reasons: dict[str, None] = {}
        for run in (newest, lowest):
            for case, result in run["rows"].get(row, {}).items():
                if result["outcome"] == "passed":
                    continue
                reasons[_place(run, lowest, newest, row, case) + result["reason"]] = (
                    None
                )
                if result["outcome"] == "failed":
                    failed[row] = None
        if reasons:
            missing[row] = list(reasons)
    return {
        "extra": Adapter(newest["adapter"]).extra,
        "distribution": newest["distribution"],
        "lowest": lowest["version"],
        "newest": newest["version"],
        "python": newest["python"].rpartition(".")[0],
        "missing": missing,
        "failed": list(failed),
    }


def _place(
    run: Mapping[str, Any],
    lowest: Mapping[str, Any],
    newest: Mapping[str, Any],
    row: str,
    case: str,
) -> str:
    """Return where a reason holds; nothing where it holds for the whole row."""
    parts: list[str] = []
    if lowest["rows"].get(row) != newest["rows"][row]:
        parts.append(run["version"])
    if len({json.dumps(each) for each in run["rows"][row].values()}) > 1:
        parts.append(case)
    return f"{', '.join(parts)}: " if parts else ""


def with_versions(page: str, data: Mapping[str, Any]) -> str:
    """Return a page with the table of frameworks as the data has them.

    Raises:
        ValueError: The page has no place for it.
    """
    rows = [
        [
            f"[{TITLES[name]}]({Adapter(name).page.name})",
            f"`{each['extra']}`",
            f"{each['lowest']} to {each['newest']}",
            _status(each),
        ]
        for name, each in data.items()
    ]
    return _between(page, f"\n{_table(_FRAMEWORKS, rows)}\n")


def with_sentence(page: str, data: Mapping[str, Any]) -> str:
    """Return a page with a sentence that names the frameworks and their versions.

    Raises:
        ValueError: The page has no place for it.
    """
    each = (
        f"{TITLES[n].partition(',')[0]} {v['lowest']} to {v['newest']}"
        for n, v in data.items()
    )
    lines = textwrap.wrap(f"{', '.join(each)}.", _COLUMNS, break_on_hyphens=False)
    return _between(page, "\n" + "\n".join(lines) + "\n")


def _between(page: str, text: str) -> str:
    before, begin, rest = page.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not (begin and end):
        raise ValueError(f"the page has no {_BEGIN.strip()} ... {_END}")
    return f"{before}{begin}{text}{end}{after}"


def render_page(data: Mapping[str, Any]) -> str:
    """Return the page: a table of versions, one of rows, and the reasons."""
    versions = [
        [
            *(f"`{text}`" for text in (name, each["extra"], each["distribution"])),
            *(each[key] for key in ("lowest", "newest", "python")),
            _status(each),
            ", ".join(f"`{each}`" for each in _private(name)),
        ]
        for name, each in data.items()
    ]
    reasons: dict[str, int] = {}
    rows: list[list[str]] = []
    for row, title in titles().items():
        cells = [_cell(name, row, each, reasons) for name, each in data.items()]
        rows.append([title, *cells])
    notes = "".join(f"{number}. {reason}\n" for reason, number in reasons.items())
    return (
        f"{_HEAD}{_table(_VERSIONS, versions)}{_ROWS}"
        f"{_table(['', *(f'`{name}`' for name in data)], rows)}"
        + (f"\n{notes}" if notes else "")
    )


def minor_releases(lowest: str, newest: str) -> int:
    """Return how many minor releases there are at least from one version to another.

    How many the older major releases had nobody knows here: each counts as one.
    """
    (old, first), (new, last) = (_minor(each) for each in (lowest, newest))
    return last - first + 1 if old == new else last + 1 + (new - old)


def _minor(version: str) -> tuple[int, int]:
    major, minor, *_ = version.split(".")
    return int(major), int(minor)


def _status(each: Mapping[str, Any]) -> str:
    count = minor_releases(each["lowest"], each["newest"])
    return "supported" if count >= _EXPERIMENTAL else "experimental"


def _private(name: str) -> list[str]:
    source = Adapter(name).source
    return private_names(source.read_text("utf-8")) if source.exists() else []


def _cell(
    name: str, row: str, result: Mapping[str, Any], reasons: dict[str, int]
) -> str:
    missing = result["missing"].get(row, [])
    if not missing:
        return "yes"
    numbers = [
        str(reasons.setdefault(f"`{name}`: {each}", len(reasons) + 1))
        for each in missing
    ]
    fails = "fails " if row in result["failed"] else ""
    return f"{fails}{', '.join(numbers)}"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
