"""What becomes of a pack: its properties, and what the data says of each."""

from collections.abc import Iterable

from satchel.compat.candidate import Candidate
from satchel.compat.data import Entry, read_documented, read_measured
from satchel.compat.fixes import fix_of
from satchel.compat.loaders import Loader, loaders
from satchel.compat.properties import properties_of
from satchel.compat.verdict import Outcome, Verdict, worst_verdict

__all__ = ["predict"]


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
        _outcome(loader, properties)
        for loader in (loaders() if chosen is None else chosen)
    )


def _outcome(loader: Loader, properties: tuple[str, ...]) -> Outcome:
    entry = _entry(loader)
    verdicts: dict[str, Verdict] = {
        key: entry.verdicts.get(key, "unknown") for key in properties
    }
    verdict = worst_verdict(verdicts.values())
    if verdict == "loaded":
        return Outcome(loader, verdict)
    reasons = tuple(key for key in properties if verdicts[key] == verdict)
    fix = "" if verdict == "unknown" else "; ".join(dict.fromkeys(map(fix_of, reasons)))
    return Outcome(loader, verdict, reasons, fix)


def _entry(loader: Loader) -> Entry:
    table = read_measured() if loader.how == "measured" else read_documented()
    return table.loaders[loader.key]
