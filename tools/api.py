"""Write tests/api.txt: every public name of Satchel, one a line.

A module is public when no part of its path begins with an underscore; its names are its
``__all__``. Run as ``python -m tools.api``, or ``make generate``.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

import satchel

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[1]
API: Final = ROOT / "tests" / "api.txt"

_ADAPTERS: Final = "satchel.adapters."


def public_modules() -> Iterator[str]:
    """Yield the name of each public module, the package itself first.

    Importing them is part of the work, so every extra but those of the adapters has to
    be installed.
    """
    yield satchel.__name__
    for module in pkgutil.walk_packages(satchel.__path__, "satchel."):
        if not any(part.startswith("_") for part in module.name.split(".")):
            yield module.name


def render_api() -> str:
    """Return the public names, sorted, each with the module that offers it.

    Raises:
        AttributeError: A public module has no ``__all__``, or names in it what it has
            not.
    """
    return "".join(
        sorted(
            f"{name}.{public}\n"
            for name in public_modules()
            for public in (
                _read(name) if name.startswith(_ADAPTERS) else _imported(name)
            )
        )
    )


def _imported(name: str) -> list[str]:
    module = importlib.import_module(name)
    public: list[str] = module.__all__
    for each in public:
        getattr(module, each)
    return public


def _read(name: str) -> list[str]:
    """Return the names of an adapter, whose framework is not installed here."""
    path = ROOT.joinpath("src", *name.split(".")).with_suffix(".py")
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            public: list[str] = ast.literal_eval(node.value)
            return public
    raise AttributeError(f"{name} has no __all__")


def main() -> None:
    """Write the file."""
    API.write_text(render_api(), "utf-8", newline="\n")
    print(f"wrote {API.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
