"""``satchel check --for``: how other loaders will see packs."""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from satchel.lint import Format, Report
    from satchel.lint.settings import Settings
    from satchel.runtime.outlook import Outlook

__all__ = ["LISTING", "Told", "render_outlook", "told_of"]

LISTING = ("list", "?")
"""Words in place of a loader's name that ask which loaders there are."""


@dataclass(frozen=True, slots=True)
class Told:
    """What becomes of packs, and what of it counts as findings."""

    outlook: "Outlook"
    report: "Report"


class _Printer(Protocol):
    def render(self, told: Told) -> str:
        """Return it as one text, without a line end behind the last line."""
        ...


def told_of(
    paths: "Sequence[str]",
    given: str,
    settings: "Settings",
    *,
    skip_others: bool = False,
) -> Told:
    """Return what becomes of the packs below ``paths``.

    Args:
        paths: Packs, or folders of packs.
        given: Names of loaders, with commas.
        settings: Which findings count, and how much.
        skip_others: Pass by a file that lies in no pack.

    Raises:
        SkillError: A path or a name is of nothing that is known.
    """
    from satchel.lint import Report
    from satchel.runtime.outlook import look_out

    wanted = [name for each in given.split(",") if (name := each.strip())]
    outlook = look_out(paths, wanted, skip_others=skip_others)
    judged = [settings.judge(each) for each in outlook.findings]
    findings = tuple(each for each in judged if each is not None)
    report = Report(
        len(outlook.packs),
        findings,
        "lenient",
        off=len(judged) - len(findings),
        off_by=settings.told_by,
    )
    return Told(outlook, report)


def render_outlook(told: Told, style: "Format") -> str:
    """Return it as one text; only the printer in use is imported."""
    if style in {"sarif", "github"}:
        from satchel.lint import render_report

        return render_report(told.report, style)
    printer = cast("_Printer", import_module(f"{__name__}.{style}"))
    return printer.render(told)
