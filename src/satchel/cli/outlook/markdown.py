"""The outlook as a table for a comment on a pull request."""

from typing import TYPE_CHECKING

from satchel.cli.outlook.groups import HEADS
from satchel.lint import render_report
from satchel.lint.report import plural

if TYPE_CHECKING:
    from satchel.cli.outlook import Told

__all__ = ["render"]


def render(told: "Told") -> str:
    """Return the count of each verdict by loader, then the findings."""
    outlook = told.outlook
    head = f"{plural(len(outlook.packs), 'pack')}, as others will see them:"
    columns = ["loaded", *HEADS]
    rows = [
        f"| | loaded whole | {' | '.join(HEADS.values())} |",
        f"|---|{'---:|' * len(columns)}",
    ]
    for at, loader in enumerate(outlook.loaders):
        said = [pack.verdict(pack.outcomes[at]) for pack in outlook.packs]
        counts = (str(said.count(verdict) or "") for verdict in ("loaded", *HEADS))
        rows.append(f"| {loader.title} | {' | '.join(counts)} |")
    return "\n".join([head, "", *rows, "", render_report(told.report, "markdown")])
