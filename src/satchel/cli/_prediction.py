"""``satchel check --for``: how other loaders will see packs."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from satchel.checking import LOADER_GROUPS, predict_library
from satchel.cli._terminal import bold, echo, layout, one_line, width
from satchel.clients import PROPERTIES, loaders, read_documented
from satchel.lint import CheckReport, render_report
from satchel.text import ascii_json, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from satchel.checking import LibraryPrediction, PackPrediction
    from satchel.clients import Loader, LoaderVerdict, Prediction
    from satchel.lint import Format, LintSettings


SCHEMA_VERSION: Final = 1
# How each verdict but the good one is printed, the worst first.
VERDICT_HEADS: Final["dict[LoaderVerdict, str]"] = {
    "breaks-neighbours": "breaks",
    "dropped": "drops",
    "wrong": "misreads",
    "cut": "cuts",
    "unknown": "not known",
}


@dataclass(frozen=True, slots=True)
class LoaderReason:
    """Why, on which line, and what to do; ``line`` 0 and an empty ``fix`` mean none."""

    about: str
    line: int = 0
    fix: str = ""


@dataclass(frozen=True, slots=True)
class LoaderGroup:
    """The loaders that treat a pack in the same way for the same reasons."""

    verdict: "LoaderVerdict"
    loaders: "tuple[Loader, ...]"
    reasons: tuple[LoaderReason, ...]


def groups_of(pack: "PackPrediction") -> Iterator[LoaderGroup]:
    """Yield the groups, the worst verdict first, then the larger ones.

    A pack that is lost only because of another pack is in `losses_of`.
    """
    for verdict in VERDICT_HEADS:
        alike: dict[tuple[LoaderReason, ...], list[Loader]] = {}
        for outcome in pack.of(verdict):
            if pack.is_lost(outcome):
                continue
            reasons = tuple(_reasons(pack, outcome))
            alike.setdefault(reasons, []).append(outcome.loader)
        # Ties go by the loaders, so that equal calls print equal text.
        for reasons, alike_loaders in sorted(
            alike.items(), key=lambda item: (-len(item[1]), item[1])
        ):
            yield LoaderGroup(verdict, tuple(alike_loaders), reasons)


def losses_of(pack: "PackPrediction") -> dict[str, list[str]]:
    """Return the packs that make loaders drop this one, each with these loaders."""
    lost: dict[str, list[str]] = {}
    for outcome in pack.outcomes:
        if pack.is_lost(outcome):
            key = outcome.loader.key
            lost.setdefault(pack.by[key], []).append(key)
    return dict(sorted(lost.items()))


def _reasons(pack: "PackPrediction", outcome: "Prediction") -> Iterator[LoaderReason]:
    for key in outcome.reasons:
        if outcome.verdict == "unknown":
            about = PROPERTIES[key].about if key in PROPERTIES else "a plain pack"
            yield LoaderReason(f"nobody looked: {about}")
        elif key in PROPERTIES:
            fix = PROPERTIES[key].fix
            yield LoaderReason(PROPERTIES[key].about, pack.lines[key], fix)
        else:
            yield LoaderReason("it does so with every pack")


@dataclass(frozen=True, slots=True)
class PredictionReport:
    """How loaders see packs, and the findings of that."""

    library: "LibraryPrediction"
    report: CheckReport


def predict_packs(
    paths: "Sequence[str]",
    loader_names: str,
    settings: "LintSettings",
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
    return PredictionReport(library, report)


def render_prediction(prediction: PredictionReport, style: "Format") -> str:
    """Return the prediction as one text."""
    if style in {"sarif", "github", "concise"}:
        return render_report(prediction.report, style)
    printers = {"text": render_text, "json": render_json, "markdown": render_markdown}
    return printers[style](prediction)


def render_json(prediction: PredictionReport) -> str:
    """Return one object, in ASCII: the loaders, the packs, the findings."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "loaders": [loader_entry(loader) for loader in prediction.library.loaders],
        "packs": [_pack_entry(pack) for pack in prediction.library.packs],
        "findings": json.loads(render_report(prediction.report, "json"))["findings"],
    }
    return ascii_json(document)


def loader_entry(loader: "Loader") -> dict[str, str]:
    """Return the facts about a loader itself."""
    keys = ("key", "title", "version", "kind", "how", "checked", "source")
    return {key: getattr(loader, key) for key in keys}


def _pack_entry(pack: "PackPrediction") -> dict[str, Any]:
    return {
        "pack": pack.pack,
        "path": pack.path,
        "outcomes": [_outcome_entry(pack, outcome) for outcome in pack.outcomes],
    }


def _outcome_entry(pack: "PackPrediction", outcome: "Prediction") -> dict[str, Any]:
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


def _evidence(loader: "Loader", key: str) -> str:
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
    all_loaders = loaders()
    rows = {
        kind: [_loader_row(loader) for loader in all_loaders if loader.kind == kind]
        for kind in _KIND_HEADS
    }
    for kind, head in _KIND_HEADS.items():
        if rows[kind]:
            echo(bold(head))
            for line in layout(rows[kind], width()):
                echo(f"  {line}")
            echo()
    echo(bold("Several at once"))
    for line in layout([*LOADER_GROUPS.items()], width()):
        echo(f"  {line}")


def _loader_row(loader: "Loader") -> tuple[str, ...]:
    return loader.key, loader.version, loader.how, loader.checked, loader.source


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


_DEFAULT_WIDTH: Final = 88
_INDENT: Final = 13
_MIN_WIDTH: Final = 30


def render_text(prediction: PredictionReport) -> str:
    """Return a section for each pack that some loader does not load, and a summary."""
    library = prediction.library
    lines = [line for pack in library.packs for line in _pack_lines(pack)]
    return "\n".join([*lines, *_summary(library)])


def _pack_lines(pack: "PackPrediction") -> Iterator[str]:
    groups, losses = list(groups_of(pack)), losses_of(pack)
    if not groups and not losses:
        return
    loaded = len(pack.of("loaded"))
    every = len(pack.outcomes)
    yield f"{bold(one_line(pack.path))}: loaded whole by {loaded} of {every}"
    for group in groups:
        yield from _group_lines(group)
    head = "  lost"
    for other, losers in losses.items():
        text = f"{', '.join(losers)}, with {one_line(other)}"
        yield from _wrapped(text, head.ljust(_INDENT))
        head = ""
    yield ""


def _group_lines(group: LoaderGroup) -> Iterator[str]:
    head = f"  {VERDICT_HEADS[group.verdict]}".ljust(_INDENT)
    yield from _wrapped(", ".join(loader.key for loader in group.loaders), head)
    for reason in group.reasons:
        where = f"line {reason.line}: " if reason.line else ""
        yield from _wrapped(f"{where}{one_line(reason.about)}", " " * _INDENT)
    for fix in dict.fromkeys(reason.fix for reason in group.reasons if reason.fix):
        yield from _wrapped(f"fix: {one_line(fix)}", " " * _INDENT)


def _wrapped(text: str, head: str) -> Iterator[str]:
    room = max((width() or _DEFAULT_WIDTH) - _INDENT, _MIN_WIDTH)
    lines = wrap(text, room, break_long_words=False, break_on_hyphens=False)
    for at, line in enumerate(lines):
        yield f"{head if not at else ' ' * _INDENT}{line}"


def _summary(library: "LibraryPrediction") -> Iterator[str]:
    packs, loaders = len(library.packs), library.loaders
    whole = sum(len(p.of("loaded")) == len(p.outcomes) for p in library.packs)
    count = "it" if len(loaders) == 1 else f"all {len(loaders)}"
    before = plural(len(loaders), "loader") if len(loaders) != 1 else loaders[0].title
    yield f"{plural(packs, 'pack')} before {before}: {whole} loaded whole by {count}"
    read = [loader.key for loader in loaders if loader.how == "documented"]
    if read:
        yield f"Documented, not measured: {', '.join(read)}"
