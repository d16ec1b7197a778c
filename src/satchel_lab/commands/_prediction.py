"""One run of ``satchel predict``: how loaders see packs, or list all of them."""

import json
from dataclasses import dataclass
from functools import cached_property
from shlex import join, quote
from typing import Any, Final, cast

import click

from satchel.cli import bold, echo, echo_rows, progress, width
from satchel.text import ascii_json, plural
from satchel_lab.checking import (
    LOADER_GROUPS,
    LibraryListing,
    LibraryPrediction,
    PackPrediction,
    predict_library,
    predict_library_listing,
)
from satchel_lab.clients import (
    PROPERTIES,
    WINDOWS,
    Loader,
    LoaderVerdict,
    Prediction,
    loaders,
    read_documented,
)
from satchel_lab.commands._check import PackRun, no_pack, save
from satchel_lab.commands._grid import render_html
from satchel_lab.commands._grid_text import render_grid
from satchel_lab.commands._listing import is_all_listed, render_listing
from satchel_lab.lint import CheckReport, Format, render_report

SCHEMA_VERSION: Final = 1
# Columns of a file or a pipe, where a table needs a width.
_DEFAULT_WIDTH: Final = 100
# How each verdict but the good one is printed, the worst first.
VERDICT_HEADS: Final[dict[LoaderVerdict, str]] = {
    "breaks-neighbours": "breaks",
    "dropped": "drops",
    "wrong": "misreads",
    "cut": "cuts",
    "unknown": "not known",
    "hidden": "hides on purpose",
}


# Those of a library; the others are formats of findings, which only packs have.
_LISTING_FORMATS: Final = ("text", "json", "markdown", "html")


@dataclass(frozen=True, kw_only=True)
class PredictRun(PackRun):
    """One run with the options of ``satchel predict``; `run` does it.

    ``command`` is how it was called, for what a report advises to type.
    """

    loaders: str
    library: bool
    windows: tuple[int, ...]
    command: str

    def run(self) -> int:
        """Predict, print, write; return the exit status."""
        # Read before packs are: what is wrong with a file of the user comes first.
        settings, _, listing = self.settings, self.known, self._listing
        echo(self._render(self.style, width() or _DEFAULT_WIDTH))
        for style, file in self.also:
            save(click.unstyle(self._render(style, _DEFAULT_WIDTH)), file)
        if listing is None:
            return self.status(self._prediction[1])
        is_fine = is_all_listed(listing, whole=settings.fail_on != "error")
        return 0 if is_fine or settings.fail_on == "never" else 1

    def _render(self, style: str, columns: int) -> str:
        typed = f"{self.command} {join(self.paths)}".rstrip()
        if self._listing is not None and style in _LISTING_FORMATS:
            return render_listing(self._listing, style, columns, typed)
        library, report = self._prediction
        match style:
            case "text":
                typed += f" --for {quote(self.loaders)} --format html > skills.html"
                return render_grid(library, f"{typed} (or json, markdown)", columns)
            case "html":
                return render_html(library)
            case "json":
                return render_json(library, report)
            case "markdown":
                return render_markdown(library, report)
            case _:
                return render_report(report, cast("Format", style))

    @cached_property
    def _names(self) -> list[str]:
        return [name for text in self.loaders.split(",") if (name := text.strip())]

    @cached_property
    def _listing(self) -> LibraryListing | None:
        """What clients show of the whole library, if that was asked for."""
        if not (self.library or self.windows):
            return None
        windows, skip = self.windows or tuple(WINDOWS.values()), self.changed_files
        with progress("checking packs"):
            listing = predict_library_listing(
                self.paths, self._names, windows, skip_others=skip
            )
        if not (listing.packs or skip):
            raise no_pack(self.paths, self.settings.limits.scan_depth)
        return listing

    @cached_property
    def _prediction(self) -> tuple[LibraryPrediction, CheckReport]:
        """How the loaders see each pack, and the findings of that."""
        skip, settings = self.changed_files, self.settings
        with progress("checking packs"):
            library = predict_library(self.paths, self._names, skip_others=skip)
        findings = tuple(filter(None, map(settings.judge, library.findings)))
        report = CheckReport(
            len(library.packs),
            findings,
            "lenient",
            turned_off=len(library.findings) - len(findings),
            turned_off_by=settings.turned_off_by,
        )
        return library, self.without_known(report)


def render_json(library: LibraryPrediction, report: CheckReport) -> str:
    """Return one object, in ASCII: the loaders, the packs, the findings."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "loaders": [loader_entry(loader) for loader in library.loaders],
        "packs": [
            {
                "pack": pack.pack,
                "path": pack.path,
                "outcomes": [_outcome_entry(pack, one) for one in pack.outcomes],
            }
            for pack in library.packs
        ],
        "findings": json.loads(render_report(report, "json"))["findings"],
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
                "line": pack.lines[key][0],
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


_KINDS: Final = ("client", "framework", "validator")


def list_loaders() -> None:
    """Print the loaders by kind: key, version, kind of evidence, day, source."""
    for kind in _KINDS:
        rows = [
            (one.key, one.version, one.how, one.checked, one.source)
            for one in loaders()
            if one.kind == kind
        ]
        if rows:
            echo(bold(f"{kind.capitalize()}s"))
            echo_rows(rows, width(), "  ")
            echo()
    echo(bold("Several at once"))
    echo_rows([*LOADER_GROUPS.items()], width(), "  ")


def render_markdown(library: LibraryPrediction, report: CheckReport) -> str:
    """Return the count of each verdict by loader, then the findings."""
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
    return "\n".join([head, "", *rows, "", render_report(report, "markdown")])
