"""At which addresses a server may listen without asking who calls."""

from typing import TYPE_CHECKING

from satchel.errors import ConfigError
from satchel.serve.guard.loopback import is_loopback

if TYPE_CHECKING:
    from satchel.serve.guard.settings import GuardSettings

__all__ = ["check_bind"]


def check_bind(host: str, settings: "GuardSettings") -> None:
    """Refuse to listen where others could come in, and nobody is asked who calls.

    Raises:
        ConfigError: ``host`` is not loopback, and there are no tokens and no OAuth
            settings; the message says what to do.
    """
    if is_loopback(host) or settings.asks:
        return
    raise ConfigError(
        f"--host {host}",
        "whoever reaches this address could read every skill. Ask for a token "
        "(--token-file FILE, --tokens FILE, or the variable SATCHEL_TOKEN) or for one "
        "of an OAuth server, or listen at 127.0.0.1",
    )
