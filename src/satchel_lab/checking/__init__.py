"""Checks of a pack, a library or a change: findings, fixes, baselines, predictions."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel_lab.checking._baseline import (
        Baseline as Baseline,
        read_baseline as read_baseline,
    )
    from satchel_lab.checking._candidates import located_packs as located_packs
    from satchel_lab.checking._catalog import (
        check_catalog as check_catalog,
        check_entry as check_entry,
    )
    from satchel_lab.checking._check import check as check, write_fixes as write_fixes
    from satchel_lab.checking._evals import (
        EvalRun as EvalRun,
        folders_of_skills as folders_of_skills,
        run_evals,
    )
    from satchel_lab.checking._library import (
        PackFolder as PackFolder,
        PackLibrary as PackLibrary,
        open_library as open_library,
    )
    from satchel_lab.checking._plugins import plugin_findings as plugin_findings
    from satchel_lab.checking._prediction import (
        LOADER_GROUPS as LOADER_GROUPS,
        ClientListings as ClientListings,
        LibraryListing as LibraryListing,
        LibraryPrediction as LibraryPrediction,
        PackPrediction as PackPrediction,
        predict_library as predict_library,
        predict_library_listing as predict_library_listing,
        some_of as some_of,
    )
    from satchel_lab.checking._repairs import (
        LineRepair as LineRepair,
        plan_repairs as plan_repairs,
    )
    from satchel_lab.checking._since import check_since as check_since

__all__ = ["run_evals"]

__getattr__ = lazy_door(
    __name__,
    {
        "_baseline": "Baseline read_baseline",
        "_candidates": "located_packs",
        "_catalog": "check_catalog check_entry",
        "_check": "check write_fixes",
        "_evals": "EvalRun folders_of_skills run_evals",
        "_library": "PackFolder PackLibrary open_library",
        "_plugins": "plugin_findings",
        "_prediction": "LOADER_GROUPS ClientListings LibraryListing LibraryPrediction "
        "PackPrediction predict_library predict_library_listing some_of",
        "_repairs": "LineRepair plan_repairs",
        "_since": "check_since",
    },
)
