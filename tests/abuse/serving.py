"""The server that is attacked: ``python -m tests.abuse.serving FOLDER [stdio|token]``.

Over HTTP it says its port on a line of its own. Its limits are the usual ones but for
time: nobody waits ten seconds here for a slow sender to be given up. With ``token`` it
asks for `TOKEN`, and then nobody is held back for coming too often.
"""

import logging
import sys
from dataclasses import replace
from typing import Final

from satchel import Satchel
from satchel_server import Caller, GuardSettings, ServedLibrary
from satchel_server._guard._tokens import JoinedTokens, Token, digest_of

LIMITS: Final = GuardSettings(header_timeout_s=0.4, body_timeout_s=0.4)
TOKEN: Final = "only-the-good-requests-have-it"  # noqa: S105 - of a test
ASKING: Final = replace(
    LIMITS,
    tokens=JoinedTokens([Token(Caller("good"), digest_of(TOKEN))]),
    burst=1_000_000,
)


def main() -> None:
    """Serve the packs of a folder until the parent goes."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    library = ServedLibrary(Satchel(sys.argv[1]))
    if "stdio" in sys.argv:
        from satchel_server import serve_stdio

        serve_stdio(library)
        return
    from satchel_server import guarded_app, listen, serve_http

    settings = ASKING if "token" in sys.argv else LIMITS
    at = listen("127.0.0.1", 0)

    def tell() -> None:
        sys.stdout.write(f"{at.getsockname()[1]}\n")
        sys.stdout.flush()

    serve_http(guarded_app(library, settings), at, settings, started=tell)


if __name__ == "__main__":
    main()
