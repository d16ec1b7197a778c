"""Panels of a skill's page: what ``satchel check`` says, and where clients show it."""

from collections.abc import Sequence
from typing import Final

from satchel.model import SKILL_FILE, Catalog, Descriptor, Limits
from satchel.protocols import Panel, PanelRow
from satchel_lab.checking import check_catalog
from satchel_lab.clients import VERDICTS, Candidate, Prediction, loaders, predict

# The verdicts of loaders that somebody should act on.
_LEVELS: Final = {
    "cut": "warning",
    "wrong": "warning",
    "dropped": "error",
    "breaks-neighbours": "error",
}


class _CheckPanel:
    def rows(
        self, skill: Descriptor, catalog: Catalog, limits: Limits
    ) -> Sequence[PanelRow]:
        alone = Catalog(entries=(skill,), readers=catalog.readers)
        report = check_catalog(alone, (), limits)
        rows: list[PanelRow] = []
        for finding in report.findings:
            path = finding.path.removeprefix(f"{skill.origin.location}/")
            place = f"{path}:{finding.line}" if finding.line else path
            name = f"{finding.code}, {place}"
            row = PanelRow(name, finding.message, finding.severity, finding.fix)
            rows.append(row)
        return rows or [PanelRow("check", "nothing to report")]


class _ClientsPanel:
    def rows(
        self, skill: Descriptor, catalog: Catalog, limits: Limits
    ) -> Sequence[PanelRow]:
        key = skill.origin.key
        reader = catalog.readers[skill.source]
        candidate = Candidate(
            reader.read(key, SKILL_FILE, limits.skill_md_bytes),
            key.rpartition("/")[2],
            files=tuple(f.path for f in skill.files if f.path != SKILL_FILE),
        )
        return [_row(outcome) for outcome in predict(candidate, loaders())]


def _row(outcome: Prediction) -> PanelRow:
    loader, verdict = outcome.loader, outcome.verdict
    name = f"{loader.title} {loader.version}"
    return PanelRow(name, VERDICTS[verdict], _LEVELS.get(verdict, ""), outcome.fix)


PANELS: Final[dict[str, Panel]] = {"check": _CheckPanel(), "clients": _ClientsPanel()}
