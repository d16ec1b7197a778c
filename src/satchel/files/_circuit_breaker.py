"""Who may read from a source that hangs: a circuit breaker, and a limit on reads."""

import threading
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Final

from satchel.errors import SkillError, SourceUnavailableError
from satchel.model import FileReader, FileStat

# Reads of one source at a time.
MAX_READS: Final = 16
# Seconds for which a source that hung is not asked; then one read tries it.
PAUSE_S: Final = 15.0
# A read that failed after so many seconds failed for waiting, whatever it says.
TIMEOUT_S: Final = 2.0
# Seconds after which a read that has not come back counts as one that hangs: twice the
# time-out that sources have by default.
HANG_S: Final = 60.0


class ReadLimiter:
    """The places of one source, and its breaker. Safe across threads.

    The breaker opens when a read times out, or does not come back. Then one read tries
    the source, while others fail at once; an answer closes the breaker. Where that
    read times out, too, all fail at once for a rest, and one tries again after it.
    """

    def __init__(
        self,
        label: str,
        monotonic: Callable[[], float] = time.monotonic,
        places: int = MAX_READS,
    ) -> None:
        self._label = label
        self._monotonic = monotonic
        self._free = threading.BoundedSemaphore(places)
        self._lock = threading.Lock()
        self._under_way: dict[object, float] = {}
        self._open_until: float | None = None
        self._late_reads = 0
        self._probe: object = None

    @contextmanager
    def hold(self) -> Generator[None]:
        """Hold a place for one read; `SourceUnavailableError` if none may begin now."""
        with self._lock:
            # At once, before the wait for a place: an open breaker refuses without it.
            self._permit()
        if not self._free.acquire(timeout=HANG_S):
            raise self._refusal("too many reads of it wait for an answer")
        try:
            read = object()
            with self._lock:
                # Again: the breaker may have opened during the wait.
                if self._permit():
                    self._probe = read
                start = self._under_way[read] = self._monotonic()
            try:
                yield
            except BaseException as error:
                self._leave(read, error, self._monotonic() - start)
                raise
            self._leave(read, None, 0.0)
        finally:
            self._free.release()

    def _permit(self) -> bool:
        """Tell whether a read that begins now is the one that tries after a rest."""
        now = self._monotonic()
        # No timer: a read that hangs is noticed when the next one begins.
        oldest = min(self._under_way.values(), default=now)
        if self._open_until is None and now - oldest > HANG_S:
            self._open(now)
        if self._open_until is None:
            return False
        left = self._open_until - now
        if left > 0:
            detail = f"a read of it hung; it is asked again in {left:.0f} s"
            raise self._refusal(detail)
        if self._probe in self._under_way:
            raise self._refusal("a read of it hung; it is being asked again")
        return True

    def _leave(self, read: object, error: BaseException | None, took_s: float) -> None:
        with self._lock:
            del self._under_way[read]
            no_answer = isinstance(error, SourceUnavailableError | TimeoutError)
            if no_answer and (took_s >= TIMEOUT_S or _is_timeout(error)):
                self._open(self._monotonic())
            elif no_answer or not isinstance(error, SkillError):
                # It answered. A refusal that comes at once is an answer, if no good
                # one; other errors of ours may come without a question to the source.
                self._open_until, self._late_reads = None, 0

    def _open(self, now: float) -> None:
        self._late_reads += 1
        self._open_until = now if self._late_reads == 1 else now + PAUSE_S

    def _refusal(self, detail: str) -> SourceUnavailableError:
        return SourceUnavailableError(self._label, detail)


def _is_timeout(error: BaseException | None) -> bool:
    cause = error
    while cause is not None and not isinstance(cause, TimeoutError):
        cause = cause.__cause__
    return cause is not None


class LimitedReader(FileReader):
    """Reads the files of a source on another machine, a limited number at a time."""

    def __init__(
        self, source: FileReader, label: str, monotonic: Callable[[], float]
    ) -> None:
        self._source = source
        self._limiter = ReadLimiter(label, monotonic)
        self.near = source.near
        self.root = source.root

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        with self._limiter.hold():
            return self._source.read(key, path, limit_bytes)

    def files(self, key: str) -> Iterable[FileStat]:
        with self._limiter.hold():
            return tuple(self._source.files(key))

    def is_unchanged(self, key: str, stat: FileStat) -> bool | None:
        return self._source.is_unchanged(key, stat)
