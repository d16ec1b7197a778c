"""What becomes of a pack: its properties, and what the data says of each."""

from collections.abc import Iterable

from satchel.compat.candidate import Candidate
from satchel.compat.data import Entry, read_documented, read_measured
from satchel.compat.loaders import Loader, loaders
from satchel.compat.properties import PLAIN, PROPERTIES, properties_of
from satchel.compat.verdict import Outcome, Verdict, worst_verdict

__all__ = ["outcome_of", "predict"]


def predict(
    candidate: Candidate, chosen: Iterable[Loader] | None = None
) -> tuple[Outcome, ...]:
    """Return what each loader makes of a pack, in the order of ``chosen``.

    Each property counts by itself, and the gravest verdict is the pack's. Of a
    property that nothing is known of the verdict is ``unknown``, unless another one
    already keeps the pack out.

    Args:
        candidate: The pack as it lies there.
        chosen: The loaders to tell of; all that are known, unless given.
    """
    properties = properties_of(candidate)
    return tuple(
        outcome_of(loader, _entry(loader), properties)
        for loader in (loaders() if chosen is None else chosen)
    )


def outcome_of(loader: Loader, entry: Entry, properties: tuple[str, ...]) -> Outcome:
    """Return what one loader, of which ``entry`` is known, makes of such a pack."""
    keys = properties or (PLAIN,)
    verdicts: dict[str, Verdict] = {
        key: entry.verdicts.get(key, "unknown") for key in keys
    }
    verdict = worst_verdict(verdicts.values())
    if verdict == "loaded":
        return Outcome(loader, verdict)
    reasons = tuple(key for key in keys if verdicts[key] == verdict)
    if verdict == "unknown":
        return Outcome(loader, verdict, reasons)
    fixes = [PROPERTIES[key].fix for key in reasons if key in PROPERTIES]
    return Outcome(loader, verdict, reasons, "; ".join(dict.fromkeys(fixes)))


def _entry(loader: Loader) -> Entry:
    table = read_measured() if loader.how == "measured" else read_documented()
    return table.loaders[loader.key]
