"""Two contracts for import-linter: rooms have doors, and there are no circles.

A module whose path has a part with an underscore is imported only from inside the
package that holds that part. So one room reaches another through its ``__init__``
alone, also in imports inside of functions.
"""

from graphlib import CycleError, TopologicalSorter

from importlinter import Contract, ContractCheck, output

__all__ = ["CirclesContract", "DoorsContract"]

_OURS = "satchel"


class DoorsContract(Contract):
    """No module imports an underscored module of another package."""

    def check(self, graph, verbose):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201, ARG002
        """Collect the imports that go around a door."""
        around = sorted(
            (importer, imported)
            for importer in graph.modules
            for imported in graph.find_modules_directly_imported_by(importer)
            if imported.startswith(_OURS) and not _may(importer, imported)
        )
        return ContractCheck(kept=not around, metadata={"around": around})

    def render_broken_contract(self, check):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
        """Say which import to change, and to what."""
        for importer, imported in check.metadata["around"]:
            output.print(
                f"- {importer} imports {imported}: import it from "
                f"{_owner(imported)}, whose __init__ names what the room shares"
            )


def _owner(module: str) -> str:
    """Return the package that holds the first part with an underscore."""
    parts = module.split(".")
    for at, part in enumerate(parts):
        if part.startswith("_") and part != "__main__":
            return ".".join(parts[:at])
    return module


def _may(importer: str, imported: str) -> bool:
    owner = _owner(imported)
    return owner in {imported, importer} or importer.startswith(f"{owner}.")


class CirclesContract(Contract):
    """No modules import each other in a circle, lazily or for types either."""

    def check(self, graph, verbose):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201, ARG002
        """Collect the circles: sets of modules that reach each other."""
        inside = {
            module: graph.find_modules_directly_imported_by(module)
            for module in graph.modules
            if module.startswith(_OURS)
        }
        sorter = TopologicalSorter(inside)
        try:
            sorter.prepare()
        except CycleError as error:
            return ContractCheck(kept=False, metadata={"circle": error.args[1]})
        return ContractCheck(kept=True, metadata={"circle": []})

    def render_broken_contract(self, check):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
        """Show one circle: move what one module needs of the other below both."""
        output.print(" <- ".join(check.metadata["circle"]))
