"""The system's clock."""

import time


class SystemClock:
    """Tells the time of this machine, by the system's own functions."""

    monotonic = staticmethod(time.monotonic)
    now = staticmethod(time.time)
