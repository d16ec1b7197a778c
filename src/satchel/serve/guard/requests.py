"""What the guard looks at in a request: its method, its path, a few headers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import Scope

__all__ = ["Seen"]


@dataclass(frozen=True, slots=True)
class Seen:
    """A request, as much of it as decides; header names are in lower case.

    ``peer`` is the address that it comes from.
    """

    method: str
    path: str
    headers: dict[bytes, list[bytes]]
    peer: str

    @classmethod
    def of(cls, scope: "Scope") -> "Seen":
        """Read it from an ASGI scope."""
        headers: dict[bytes, list[bytes]] = {}
        pairs = cast("Iterable[tuple[bytes, bytes]]", scope["headers"])
        for name, value in pairs:
            headers.setdefault(name.lower(), []).append(value)
        client = cast("tuple[str, int] | None", scope.get("client"))
        peer = client[0] if client else ""
        return cls(str(scope["method"]), str(scope["path"]), headers, peer)

    def all(self, name: bytes) -> list[bytes]:
        """Return the values of a header, in their order."""
        return self.headers.get(name, [])

    def first(self, name: bytes) -> str:
        """Return the first value of a header, empty where there is none."""
        values = self.headers.get(name)
        return values[0].decode("latin-1") if values else ""
