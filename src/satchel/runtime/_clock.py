"""The system's clock."""

import time


class SystemClock:
    """Tells the time of this machine, by the system's own functions."""

    def __init__(self) -> None:
        """Take them as they are: a load asks twice, and waits for the answers."""
        self.monotonic = time.monotonic
        self.now = time.time
