"""The outlook for programs."""

import json
from typing import TYPE_CHECKING, Any, Final

from satchel.compat import read_documented
from satchel.compat.properties import PROPERTIES
from satchel.lint import render_report

if TYPE_CHECKING:
    from satchel.cli.outlook import Told
    from satchel.compat import Loader, Outcome
    from satchel.runtime.outlook import PackOutlook

__all__ = ["SCHEMA_VERSION", "loader_entry", "render"]

SCHEMA_VERSION: Final = 1


def render(told: "Told") -> str:
    """Return one object: the loaders, the packs, and the findings as reports have them.

    All but ASCII is escaped, so that any locale can carry it.
    """
    document = {
        "schema_version": SCHEMA_VERSION,
        "loaders": [loader_entry(loader) for loader in told.outlook.loaders],
        "packs": [_pack(pack) for pack in told.outlook.packs],
        "findings": json.loads(render_report(told.report, "json"))["findings"],
    }
    return json.dumps(document, indent=2).replace("\x7f", "\\u007f")


def loader_entry(loader: "Loader") -> dict[str, str]:
    """Return what is known of a loader itself."""
    return {
        "key": loader.key,
        "title": loader.title,
        "version": loader.version,
        "kind": loader.kind,
        "how": loader.how,
        "checked": loader.checked,
        "source": loader.source,
    }


def _pack(pack: "PackOutlook") -> dict[str, Any]:
    return {
        "pack": pack.pack,
        "path": pack.path,
        "outcomes": [_outcome(pack, outcome) for outcome in pack.outcomes],
    }


def _outcome(pack: "PackOutlook", outcome: "Outcome") -> dict[str, Any]:
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
                "source": _source(outcome.loader, key),
            }
            for key in outcome.reasons
        ],
    }


def _source(loader: "Loader", key: str) -> str:
    """Return what a verdict rests on: what was called, or the page that says so."""
    if loader.how == "measured":
        return loader.source
    claim = read_documented().loaders[loader.key].claims.get(key)
    return f"{claim.source} ({claim.checked})" if claim else ""
