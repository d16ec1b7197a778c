"""Answer for one folder after another, each in a fork that ends with its answer.

Its argument is the module next to it that has ``look``.

It runs in the client's own environment, and imports nothing of this project.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def answer_all(look: Callable[[str], object]) -> None:
    """Read a folder a line; print what ``look`` returns of it, as JSON, a line each."""
    for line in sys.stdin:
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(reader)
            with os.fdopen(writer, "w", encoding="utf-8") as pipe:
                pipe.write(_answer(look, json.loads(line)))
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, encoding="utf-8") as pipe:
            answer = pipe.read()
        os.waitpid(child, 0)
        print(answer or json.dumps({"error": "it ended"}), flush=True)


def _answer(look: Callable[[str], object], folder: str) -> str:
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return json.dumps({"found": look(folder)})
    except Exception as error:  # noqa: BLE001  # whatever a client raises is answer
        return json.dumps({"error": repr(error)})


if __name__ == "__main__":
    answer_all(importlib.import_module(sys.argv[1]).look)
