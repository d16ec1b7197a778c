"""Sessions of MCP's earlier era: not more than so many, the idle ones go first.

Each run of a client begins one, and few end it. ``mcp`` keeps a session until it was
idle for half an hour, and begins no other while it has too many: who leaves enough of
them would keep everybody else of that era out.
"""

from collections import Counter, OrderedDict
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from satchel.serve.guard.entrance import Admitted

__all__ = ["Sessions"]


class Sessions:
    """The sessions that are open, as far as answers told of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[str, Admitted] = OrderedDict()
        self._busy: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._held)

    def began(self, session: str, admitted: "Admitted") -> None:
        """Note a session, and whose it is."""
        self._held.setdefault(session, admitted)

    def ended(self, session: str) -> None:
        """Forget a session."""
        self._held.pop(session, None)

    @contextmanager
    def using(self, session: str) -> Generator[None, None, None]:
        """Keep a session while a request of it is answered: a stream, perhaps."""
        if session not in self._held:
            yield
            return
        self._busy[session] += 1
        try:
            yield
        finally:
            self._busy[session] -= 1
            if not self._busy[session]:
                del self._busy[session]
            if session in self._held:
                self._held.move_to_end(session)

    def surplus(self) -> "tuple[str, Admitted] | None":
        """Take out what has to go: the idlest session of who has most of them."""
        if len(self._held) <= self._most:
            return None
        idle = {key: who for key, who in self._held.items() if key not in self._busy}
        if not idle:
            return None
        counts = Counter(who.principal for who in idle.values())
        ((greediest, _),) = counts.most_common(1)
        session = next(key for key, who in idle.items() if who.principal == greediest)
        return session, self._held.pop(session)
