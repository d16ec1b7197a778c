"""Checks of a pack, a library or a change: findings, fixes, baselines, predictions."""

from typing import TYPE_CHECKING, Final

from satchel._lazy import lazy_door

if TYPE_CHECKING:
    from satchel.checking._baseline import Baseline, read_baseline
    from satchel.checking._check import check, write_fixes
    from satchel.checking._library import (
        count_packs as count_packs,
        usual_folders as usual_folders,
    )
    from satchel.checking._prediction import (
        LOADER_GROUPS as LOADER_GROUPS,
        LibraryPrediction,
        PackPrediction,
        predict_library,
    )
    from satchel.checking._since import check_since

__all__ = [
    "Baseline",
    "LibraryPrediction",
    "PackPrediction",
    "check",
    "check_since",
    "predict_library",
    "read_baseline",
    "write_fixes",
]

_LAZY: Final = {
    "Baseline": "satchel.checking._baseline",
    "read_baseline": "satchel.checking._baseline",
    "check": "satchel.checking._check",
    "write_fixes": "satchel.checking._check",
    "count_packs": "satchel.checking._library",
    "usual_folders": "satchel.checking._library",
    "LOADER_GROUPS": "satchel.checking._prediction",
    "LibraryPrediction": "satchel.checking._prediction",
    "PackPrediction": "satchel.checking._prediction",
    "predict_library": "satchel.checking._prediction",
    "check_since": "satchel.checking._since",
}

__getattr__ = lazy_door(__name__, _LAZY)
