"""The system's clock."""

import time

__all__ = ["SystemClock"]


class SystemClock:
    """Tells the time of this machine."""

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()
