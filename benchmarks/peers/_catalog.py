"""The peers that there are: what their files say, read without running them."""

from __future__ import annotations

import ast
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
# Where the environments are, unless this variable names another folder.
FOLDER_VARIABLE: Final = "SATCHEL_PEERS"
DEFAULT_FOLDER: Final = HERE.parents[1] / ".cache" / "peers"


@dataclass(frozen=True, slots=True, order=True)
class Peer:
    """One loader as its file describes it; see the package's docstring."""

    name: str
    title: str
    requires: tuple[str, ...]
    python_version: str
    environment: str
    large_form: str
    forms: tuple[str, ...]
    parses_yaml: bool

    @property
    def is_ours(self) -> bool:
        """Whether this is the checkout itself, which needs no environment."""
        return not self.requires

    @property
    def folder(self) -> Path:
        """Where its environment is, or would be."""
        return peers_folder() / self.environment

    @property
    def interpreter(self) -> Path:
        """The Python that runs it; that file may not be there yet."""
        if self.is_ours:
            return Path(sys.executable)
        inside = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
        return self.folder.joinpath(*inside)

    @property
    def is_installed(self) -> bool:
        """Whether it can be run; for ours, whether `satchel` can be imported."""
        if not self.is_ours:
            return self.interpreter.exists()
        from importlib.util import find_spec

        return find_spec("satchel") is not None


def peers_folder() -> Path:
    """Return the folder of the environments."""
    return Path(os.environ.get(FOLDER_VARIABLE) or DEFAULT_FOLDER)


def all_peers() -> tuple[Peer, ...]:
    """Return all peers by name, ours first."""
    files = [path for path in HERE.glob("*.py") if not path.name.startswith("_")]
    return tuple(sorted(map(_read, files), key=lambda peer: (not peer.is_ours, peer)))


def get_peer(name: str) -> Peer:
    """Return the peer of that name.

    Raises:
        KeyError: There is none.
    """
    return {peer.name: peer for peer in all_peers()}[name]


def choose(names: list[str]) -> tuple[Peer, ...]:
    """Return the peers of those names, all for none.

    Raises:
        SystemExit: A name is unknown; the message lists the known ones.
    """
    known = {peer.name: peer for peer in all_peers()}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"no peer {', '.join(unknown)}; there are {', '.join(known)}")
    return tuple(known[name] for name in names) or tuple(known.values())


def _read(path: Path) -> Peer:
    tree = ast.parse(path.read_text("utf-8"))
    said: dict[str, object] = {}
    forms = {"whole", "each"}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as value):
                _literal(said, name, value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                _literal(said, name, value)
            case (
                ast.FunctionDef(name="discover_roots")
                | ast.AsyncFunctionDef(name="discover_roots")
            ):
                forms.add("roots")
    requires = said["REQUIRES"]
    if not isinstance(requires, list):
        raise TypeError(path)
    return Peer(
        name=path.stem,
        title=(ast.get_docstring(tree) or path.stem).partition("\n")[0],
        requires=tuple(map(str, requires)),
        python_version=str(said["PYTHON"]),
        environment=str(said.get("ENVIRONMENT", path.stem)),
        large_form=str(said["LARGE"]),
        forms=tuple(sorted(forms)),
        parses_yaml=bool(said.get("YAML", True)),
    )


def _literal(said: dict[str, object], name: str, value: ast.expr) -> None:
    if name.isupper() and not name.startswith("_"):
        said[name] = ast.literal_eval(value)
