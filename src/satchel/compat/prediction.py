"""What becomes of a pack: its properties, and what the data says of each."""

from collections.abc import Iterable

from satchel.compat.candidate import Candidate
from satchel.compat.data import Entry, read_documented, read_measured
from satchel.compat.loaders import Loader, loaders
from satchel.compat.properties import PLAIN, PROPERTIES, properties_in
from satchel.compat.reading import Reading
from satchel.compat.showing import showing_of
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
    reading = Reading(candidate)
    keys = properties_in(reading) or (PLAIN,)
    return tuple(
        outcome_of(loader, _entry(loader), keys, reading)
        for loader in (loaders() if chosen is None else chosen)
    )


def outcome_of(
    loader: Loader, entry: Entry, keys: tuple[str, ...], reading: Reading
) -> Outcome:
    """Return what a loader, of which ``entry`` is known, makes of one pack.

    ``keys`` are the pack's properties.
    """
    verdicts: dict[str, Verdict] = {
        key: entry.verdicts.get(key, "unknown") for key in keys
    }
    verdict = worst_verdict(verdicts.values())
    is_listed = verdict in {"loaded", "cut", "wrong"}
    shown = showing_of(entry.shown, keys, reading) if is_listed else None
    if verdict == "loaded":
        return Outcome(loader, verdict, shown=shown)
    reasons = tuple(key for key in keys if verdicts[key] == verdict)
    if verdict == "unknown":
        return Outcome(loader, verdict, reasons)
    fixes = [PROPERTIES[key].fix for key in reasons if key in PROPERTIES]
    return Outcome(loader, verdict, reasons, "; ".join(dict.fromkeys(fixes)), shown)


def _entry(loader: Loader) -> Entry:
    table = read_measured() if loader.how == "measured" else read_documented()
    return table.loaders[loader.key]
