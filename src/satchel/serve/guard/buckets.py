"""How often: a bucket of tokens for each caller, and only so many buckets."""

import math
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Final

__all__ = ["Buckets", "peer_of"]

_MAX_BUCKETS: Final = 4096


class Buckets:
    """Token buckets by key: ``size`` at once, ``rate_per_s`` in the long run.

    The bucket that was longest not asked for goes first when there are too many: it is
    the one most likely to be full, which is what a new one is.
    """

    def __init__(
        self,
        rate_per_s: float,
        size: int,
        clock: Callable[[], float],
        max_buckets: int = _MAX_BUCKETS,
    ) -> None:
        self._rate = rate_per_s
        self._size = float(size)
        self._clock = clock
        self._max = max_buckets
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._levels)

    def take(self, key: str) -> int:
        """Take one from a bucket; return 0, else the seconds until there is one."""
        level = self._level(key)
        wait = self._wait(level)
        self._levels[key] = (level if wait else level - 1, self._clock())
        self._levels.move_to_end(key)
        while len(self._levels) > self._max:
            self._levels.popitem(last=False)
        return wait

    def wait(self, key: str) -> int:
        """Return what `take` would, and take nothing."""
        return self._wait(self._level(key))

    def _level(self, key: str) -> float:
        level, at = self._levels.get(key, (self._size, 0.0))
        return min(self._size, level + (self._clock() - at) * self._rate)

    def _wait(self, level: float) -> int:
        return 0 if level >= 1 else max(1, math.ceil((1 - level) / self._rate))


@lru_cache(maxsize=1024)  # asked for each request
def peer_of(address: str) -> str:
    """Return the key of an address: IPv6 by its network, since each host has many."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is None:
        return f"{IPv6Address(int(parsed) >> 64 << 64)}/64"
    return address
