"""Run ``python -m tests.fleet [up | kills [SECONDS]]``.

Without an argument it runs the tests of this folder. With ``up`` it starts a fleet and
prints where its parts are, until Ctrl-C. With ``kills`` each part is killed at random
for so long while 64 clients ask; see `tests.fleet.killing`.
"""

import os
import signal
import sys

import pytest

from tests.fleet.engines import MissingEngineError
from tests.fleet.running import fleet


def main(arguments: list[str]) -> int:
    """Return the exit status."""
    match arguments:
        case []:
            folder = os.path.dirname(__file__)  # noqa: PTH120 - pytest takes a text
            return int(pytest.main(["-q", "-n", "0", folder]))
        case ["up"]:
            return _up()
        case ["kills", *seconds]:
            from tests.fleet.killing import kill_for

            return kill_for(float(seconds[0]) if seconds else 600.0)
        case _:
            print(__doc__)
            return 2


def _up() -> int:
    try:
        with fleet() as running:
            print(f"balancer  {running.url}")
            for replica in running.replicas:
                print(f"server    http://127.0.0.1:{replica.port}")
            print(f"registry  {running.registry.address()}")
            print(f"database  {running.database.url}")
            signal.sigwait({signal.SIGINT, signal.SIGTERM})
    except MissingEngineError as missing:
        print(f"a fleet needs {missing}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
