"""Write tests/api.txt: every public name of Satchel, one a line.

A module is public when no part of its path begins with an underscore, and it has an
``__all__`` with its names. Run as ``python -m tools.api``, or ``make generate``.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[1]
API: Final = ROOT / "tests" / "api.txt"

PRODUCTS: Final = (
    "satchel",
    "satchel_store",
    "satchel_server",
    "satchel_lab",
    "satchel_compat",
    "satchel_scripts",
    "satchel_install",
)
_ADAPTERS: Final = "satchel.adapters."


def public_modules() -> Iterator[str]:
    """Yield the name of each public module, the package itself first.

    Packages are imported to find what is in them.
    """
    for product in PRODUCTS:
        yield product
        path = [str(ROOT / "src" / product)]
        for module in pkgutil.walk_packages(path, f"{product}."):
            if not any(part.startswith("_") for part in module.name.split(".")):
                yield module.name


def render_api() -> str:
    """Return the public names, sorted, each with the module that offers it."""
    return "".join(
        sorted(
            f"{name}.{public}\n"
            for name in public_modules()
            for public in names_of(name)
        )
    )


def names_of(module: str) -> list[str]:
    """Return the ``__all__`` of a module, as it is written; empty without one.

    Raises:
        AttributeError: It names what the module has not.
    """
    path = ROOT.joinpath("src", *module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    names: list[str] = []
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names = ast.literal_eval(node.value)
    if not module.startswith(_ADAPTERS):  # whose frameworks are not installed here
        for name in names:
            getattr(importlib.import_module(module), name)
    return names


def main() -> None:
    """Write the file."""
    API.write_text(render_api(), "utf-8", newline="\n")
    print(f"wrote {API.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
