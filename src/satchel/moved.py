"""Import paths of 0.0 that still work in 0.1, with a `DeprecationWarning`.

Each of these modules and names is in another product now: docs/reference/moved.md.
"""

import importlib.util
import warnings
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec
from inspect import currentframe
from types import CodeType, ModuleType
from typing import Any, Final, cast

from satchel.products import import_product

MODULES: Final = {
    "satchel.authoring": "satchel_lab.authoring",
    "satchel.checking": "satchel_lab.checking",
    "satchel.clients": "satchel_lab.clients",
    "satchel.compat": "satchel_compat",
    "satchel.evals": "satchel_lab.evals",
    "satchel.lint": "satchel_lab.lint",
    "satchel.release": "satchel_store.release",
    "satchel.server": "satchel_server",
    "satchel.testing.hostile": "satchel_lab.hostile",
    "satchel.testing.hostile.__main__": "satchel_lab.hostile.__main__",
}
NAMES: Final[dict[str, dict[str, str]]] = {
    "satchel.testing": {
        "check_loader": "satchel_lab.conformance",
        "check_runtime": "satchel_lab.conformance",
        "hostile_packs": "satchel_lab.hostile",
        "run_loader": "satchel_lab.hostile",
    },
    "satchel.usage": dict.fromkeys(
        (
            *("EventStore", "MetricsSink", "SkillStatus", "SkillUse", "TracingSink"),
            *("UsageReport", "make_report", "read_records", "report_to"),
            "verify_chain",
        ),
        "satchel_server.usage",
    ),
}
_PASSED_OVER: Final = ("satchel", "importlib")
_HOMES: Final = frozenset(MODULES.values())


def moved_name(room: str, name: str) -> Any:  # noqa: ANN401 - whatever it is
    """Return a name that a room had, from where it is now.

    Raises:
        AttributeError: The room never had it.
        ProductMissingError: The product that has it is not installed.
    """
    home = NAMES.get(room, {}).get(name)
    if home is None:
        raise AttributeError(f"module {room!r} has no attribute {name!r}")
    _warn(f"{room}.{name}", f"{home}.{name}")
    return getattr(import_product(home, f"{room}.{name}"), name)


def moved_module(path: str) -> ModuleSpec | None:
    """Return how to import a module that has moved; None for any other."""
    home = MODULES.get(path)
    if home is None:
        return None
    # `python -m` looks for the program in a package.
    return ModuleSpec(path, _MovedLoader(home), is_package=home + ".__main__" in _HOMES)


class _MovedLoader(InspectLoader):
    """Gives the module that is there now, under its own name and spec."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        _warn(spec.name, self._home)
        module: ModuleType = import_product(self._home, spec.name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # which the import has replaced

    def get_code(self, fullname: str) -> CodeType | None:  # of `python -m`
        _warn(fullname, self._home)
        spec = importlib.util.find_spec(self._home)
        loader = cast("InspectLoader", spec.loader) if spec else None
        return loader.get_code(self._home) if loader else None

    def get_source(self, fullname: str) -> None:
        del fullname


def _warn(old: str, new: str) -> None:
    """Warn at the line that imports; Python shows that to who runs it, or tests it."""
    frame, level = currentframe(), 0
    while (
        frame and frame.f_back and frame.f_globals["__name__"].startswith(_PASSED_OVER)
    ):
        frame = frame.f_back
        # `warnings` passes these over by itself.
        level += "_bootstrap" not in frame.f_code.co_filename
    text = f"{old} is {new} now; the old name goes with the next version"
    warnings.warn(text, DeprecationWarning, stacklevel=level + 1)
