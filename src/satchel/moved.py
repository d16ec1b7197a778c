"""Old import paths that still work in this version, with a `DeprecationWarning`.

Modules and names that are in another product now: docs/reference/moved.md. The table of
the modules is in the front door, which looks at it at each import.
"""

import importlib.util
import warnings
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec
from inspect import currentframe
from types import CodeType, FrameType, ModuleType
from typing import Any, Final, cast

from satchel.products import import_product

# Where each name of a room is; behind a colon what it is called there.
NAMES: Final[dict[str, dict[str, str]]] = {
    "satchel.adapters": {"Turn": "satchel.adapters._base"},
    "satchel.catalog": {"SourceHealth": "satchel.catalog._registry"},
    "satchel.model": dict.fromkeys(
        ("UnknownCodeError", "read_page", "title_of"), "satchel_lab._pages"
    ),
    "satchel.prompt": {"WhenEmpty": "satchel.prompt._render"},
    "satchel.runtime": {"CallerView": "satchel.runtime:View"},
    "satchel.skill_md": {
        "Violation": "satchel.skill_md._profiles",
        "dialect_of": "satchel_lab.checking._catalog",
        "first_sentence": "satchel.skill_md._body",
    },
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
# Frames that import for somebody: ours, and those of Python.
_PASSED_OVER: Final = frozenset(
    (
        *("satchel", "satchel_store", "satchel_server", "satchel_lab"),
        *("satchel_compat", "importlib"),
    )
)


def moved_name(room: str, name: str) -> Any:  # noqa: ANN401 - whatever it is
    """Return a name that a room had, from where it is now.

    Raises:
        AttributeError: The room never had it.
        ProductMissingError: The product that has it is not installed.
    """
    home, _, new = NAMES.get(room, {}).get(name, "").partition(":")
    if not home:
        raise AttributeError(f"module {room!r} has no attribute {name!r}")
    new = new or name
    _warn(f"{room}.{name}", f"{home}.{new}")
    return getattr(import_product(home, f"{room}.{name}"), new)


def moved_module(path: str, home: str) -> ModuleSpec:
    """Return how to import by its old path a module that is in ``home`` now."""
    # `python -m` looks for the program in a package, and all of them are packages.
    is_package = not path.endswith(".__main__")
    return ModuleSpec(path, _MovedLoader(home), is_package=is_package)


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
    while frame and frame.f_back and _is_passed_over(frame):
        frame = frame.f_back
        # `warnings` passes these over by itself.
        level += "_bootstrap" not in frame.f_code.co_filename
    place = "private" if "._" in new else new
    text = f"{old} is {place} now; the old name goes with the next version"
    warnings.warn(text, DeprecationWarning, stacklevel=level + 1)


def _is_passed_over(frame: FrameType) -> bool:
    # Code that is run by `exec` need not have a name.
    name = str(frame.f_globals.get("__name__", ""))
    return name.partition(".")[0] in _PASSED_OVER
