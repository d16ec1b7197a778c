"""Loaders that are made up, for tests of what is told about real ones."""

from importlib import import_module
from typing import Any, Final

import pytest

from satchel_lab.clients import Loader, LoaderVerdict
from satchel_lab.clients._loaders import (
    DocumentedClaim,
    LoaderData,
    LoaderKind,
    LoaderTable,
)

__all__ = [
    "GOOD",
    "LONG",
    "MUTE",
    "all_loaders",
    "forget",
    "know_only_these",
]

GOOD: Final = "---\nname: {}\ndescription: Counts words.\n---\nCount.\n"
MUTE: Final = "---\nname: {}\n---\nCount.\n"
LONG: Final = "---\nname: {}\ndescription: " + "Counts words. " * 80 + "\n---\nCount.\n"
_MODULES: Final[Any] = (
    import_module("satchel_lab.clients._loaders"),
    import_module("satchel_lab.clients._loaders"),
    import_module("satchel_lab.commands._prediction"),
)


def _entry(title: str, kind: LoaderKind, **verdicts: LoaderVerdict) -> LoaderData:
    """Return a loader that takes a plain pack, and these properties so."""
    said = {key.replace("_", "-"): verdict for key, verdict in verdicts.items()}
    every: dict[str, LoaderVerdict] = {"plain": "loaded"}
    claims = {
        "missing-description": DocumentedClaim("https://e.org/docs", "2026-05-28")
    }
    return LoaderData(
        title, "1", kind, "2026-11-21", "run", every | said, claims=claims
    )


_MEASURED: Final = LoaderTable(
    ("missing-description",),
    {
        "careful": _entry(
            "Careful",
            "client",
            missing_description="dropped",
            description_over_60="loaded",
            description_over_250="loaded",
            description_over_1024="cut",
            nested="dropped",
            lower_case_file="loaded",
            linked_folder="wrong",
        ),
        "fragile": _entry(
            "Fragile",
            "framework",
            missing_description="breaks-neighbours",
            description_over_60="loaded",
            description_over_250="loaded",
            description_over_1024="dropped",
        ),
        "judge": _entry("Judge", "validator", missing_description="dropped"),
    },
)
_DOCUMENTED: Final = LoaderTable(
    (), {"closed": _entry("Closed", "client", missing_description="dropped")}
)


def know_only_these(patch: pytest.MonkeyPatch) -> None:
    """Let careful, fragile, judge (measured) and closed (documented) be all."""
    for module in _MODULES:
        patch.setattr(module, "read_measured", lambda: _MEASURED, raising=False)
        patch.setattr(module, "read_documented", lambda: _DOCUMENTED, raising=False)
    _MODULES[0].loaders.cache_clear()


def all_loaders() -> tuple[Loader, ...]:
    """Return all that are known."""
    found: tuple[Loader, ...] = _MODULES[0].loaders()
    return found


def forget() -> None:
    """Let what ships be known again; the patches are gone by then."""
    _MODULES[0].loaders.cache_clear()
