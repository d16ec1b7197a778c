"""``satchel check --for``: how other loaders will see packs."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from shlex import join
from typing import Any, Final, cast

from satchel.cli import DEFAULT_WIDTH, bold, echo, echo_rows, width
from satchel.text import ascii_json, plural
from satchel_lab.checking import (
    LOADER_GROUPS,
    LibraryPrediction,
    PackPrediction,
    predict_library,
)
from satchel_lab.clients import (
    PROPERTIES,
    Loader,
    LoaderVerdict,
    Prediction,
    loaders,
    read_documented,
)
from satchel_lab.commands._grid import render_html
from satchel_lab.commands._grid_text import render_grid
from satchel_lab.lint import CheckReport, Format, LintSettings, render_report

SCHEMA_VERSION: Final = 1
# How each verdict but the good one is printed, the worst first.
VERDICT_HEADS: Final[dict[LoaderVerdict, str]] = {
    "breaks-neighbours": "breaks",
    "dropped": "drops",
    "wrong": "misreads",
    "cut": "cuts",
    "unknown": "not known",
    "hidden": "hides on purpose",
}


@dataclass(frozen=True, slots=True)
class PredictionReport:
    """How loaders see packs, and the findings of that."""

    library: LibraryPrediction
    report: CheckReport
    command: str


def predict_packs(
    paths: Sequence[str],
    loader_names: str,
    settings: LintSettings,
    *,
    skip_others: bool = False,
) -> PredictionReport:
    """Predict how loaders (names with commas between them) will see the packs."""
    names = [name for text in loader_names.split(",") if (name := text.strip())]
    library = predict_library(paths, names, skip_others=skip_others)
    judged = [settings.judge(finding) for finding in library.findings]
    findings = tuple(finding for finding in judged if finding is not None)
    report = CheckReport(
        len(library.packs),
        findings,
        "lenient",
        turned_off=len(judged) - len(findings),
        turned_off_by=settings.turned_off_by,
    )
    command = join(["satchel", "check", *paths, "--for", loader_names])
    command = f"{command} --format html > skills.html (or json, markdown)"
    return PredictionReport(library, report, command)


def render_prediction(prediction: PredictionReport, style: str) -> str:
    """Return the prediction as one text, in a format of reports or as ``html``."""
    match style:
        case "text":
            columns = width() or DEFAULT_WIDTH
            return render_grid(prediction.library, prediction.command, columns)
        case "html":
            return render_html(prediction.library)
        case "json":
            return render_json(prediction)
        case "markdown":
            return render_markdown(prediction)
        case _:
            return render_report(prediction.report, cast("Format", style))


def render_json(prediction: PredictionReport) -> str:
    """Return one object, in ASCII: the loaders, the packs, the findings."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "loaders": [loader_entry(loader) for loader in prediction.library.loaders],
        "packs": [
            {
                "pack": pack.pack,
                "path": pack.path,
                "outcomes": [_outcome_entry(pack, one) for one in pack.outcomes],
            }
            for pack in prediction.library.packs
        ],
        "findings": json.loads(render_report(prediction.report, "json"))["findings"],
    }
    return ascii_json(document)


def loader_entry(loader: Loader) -> dict[str, str]:
    """Return the facts about a loader itself."""
    keys = ("key", "title", "version", "kind", "how", "checked", "source")
    return {key: getattr(loader, key) for key in keys}


def _outcome_entry(pack: PackPrediction, outcome: Prediction) -> dict[str, Any]:
    return {
        "loader": outcome.loader.key,
        "verdict": pack.verdict(outcome),
        "taken_down_by": pack.by.get(outcome.loader.key, ""),
        "fix": outcome.fix,
        "reasons": [
            {
                "property": key,
                "about": PROPERTIES[key].about if key in PROPERTIES else "",
                "line": pack.lines[key],
                "source": _evidence(outcome.loader, key),
            }
            for key in outcome.reasons
        ],
    }


def _evidence(loader: Loader, key: str) -> str:
    """Return the evidence of a verdict: what was called, or the page that says so."""
    if loader.how == "measured":
        return loader.source
    claim = read_documented().loaders[loader.key].claims.get(key)
    return f"{claim.source} ({claim.checked})" if claim else ""


_KIND_HEADS: Final = {
    "client": "Clients",
    "framework": "Frameworks",
    "validator": "Validators",
}


def list_loaders() -> None:
    """Print the loaders by kind: key, version, kind of evidence, day, source."""
    for kind, head in _KIND_HEADS.items():
        rows = [
            (one.key, one.version, one.how, one.checked, one.source)
            for one in loaders()
            if one.kind == kind
        ]
        if rows:
            echo(bold(head))
            echo_rows(rows, width(), "  ")
            echo()
    echo(bold("Several at once"))
    echo_rows([*LOADER_GROUPS.items()], width(), "  ")


def render_markdown(prediction: PredictionReport) -> str:
    """Return the count of each verdict by loader, then the findings."""
    library = prediction.library
    head = f"{plural(len(library.packs), 'pack')}, as others will see them:"
    columns = ["loaded", *VERDICT_HEADS]
    rows = [
        f"| | loaded whole | {' | '.join(VERDICT_HEADS.values())} |",
        f"|---|{'---:|' * len(columns)}",
    ]
    for at, loader in enumerate(library.loaders):
        verdicts = [pack.verdict(pack.outcomes[at]) for pack in library.packs]
        counts = (
            str(verdicts.count(verdict) or "") for verdict in ("loaded", *VERDICT_HEADS)
        )
        rows.append(f"| {loader.title} | {' | '.join(counts)} |")
    return "\n".join(
        [head, "", *rows, "", render_report(prediction.report, "markdown")]
    )
