"""What a conversion can be for: a dialect, or the folder of a client."""

from dataclasses import dataclass
from typing import Final, Literal, cast

from satchel.authoring.convert.draft import Dialect
from satchel.clients import CLIENTS, Client

__all__ = ["TARGETS", "Target"]

# Where the folder's name is not what the client is called by.
_CALLED: Final = {".github": "copilot", ".agent": "antigravity", ".config": "amp"}


@dataclass(frozen=True, slots=True)
class Target:
    """A dialect, or a client: then ``folder`` is where it looks, below a project.

    ``client`` is its full name. ``home`` tells that it looks there in a user's home
    only.
    """

    name: str
    dialect: Dialect | None = None
    folder: str = ""
    client: str = ""
    home: bool = False


def _of_client(client: Client) -> Target:
    folder = (client.project or client.user)[0]
    first = folder.partition("/")[0]
    name = _CALLED.get(first, first.removeprefix("."))
    return Target(name, folder=folder, client=client.name, home=not client.project)


def _targets() -> dict[str, Target]:
    dialects = cast("tuple[Literal['strict', 'spec'], ...]", ("strict", "spec"))
    targets = [Target(dialect, dialect) for dialect in dialects]
    targets += map(_of_client, CLIENTS)
    return {target.name: target for target in targets}


TARGETS: Final = _targets()
"""By name, dialects first; clients in the order of `satchel.clients.CLIENTS`."""
