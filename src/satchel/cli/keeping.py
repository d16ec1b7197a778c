"""Where the events of a command go: what ``SATCHEL_USAGE`` says, else a database."""

from typing import TYPE_CHECKING

from satchel.cli.output import tell

if TYPE_CHECKING:
    import logging

    from satchel.protocols import UsageSink

__all__ = ["kept"]


def kept() -> "tuple[UsageSink, ...]":
    """Return the sinks of a command; whoever calls this closes them.

    With ``log:`` the lines go to standard error: a command sets up no other log.

    Raises:
        ConfigError: ``SATCHEL_USAGE`` says something that is no place for events.
    """
    from satchel.usage import LoggingSink, usage_sinks

    sinks = usage_sinks(default="sqlite")
    if any(isinstance(sink, LoggingSink) for sink in sinks):
        return (LoggingSink(_to_stderr()),)
    return sinks


def _to_stderr() -> "logging.Logger":
    import logging

    class ToStderr(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            tell(self.format(record))

    logger = logging.getLogger("satchel.cli.usage")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logger.handlers[:] = [ToStderr()]
    return logger
