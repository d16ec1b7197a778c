"""Validate packs with skills-ref, and print JSON: run under its own Python.

Its command takes one pack a process. This calls what the command calls for each pack of
a library, or for the packs that are named, and prints what each would have printed.
"""

import json
import sys
from pathlib import Path

from skills_ref import validate


def main() -> None:
    """Print folder to messages; an exception of one pack is reported as a crash."""
    said: dict[str, list[str]] = {}
    for argument in sys.argv[1:]:
        path = Path(argument)
        packs = sorted(path.iterdir()) if path.name == "skills" else [path]
        for pack in packs:
            try:
                said[str(pack)] = validate(pack)
            except Exception as error:  # noqa: BLE001  # its command would end so
                said[str(pack)] = [f"CRASH {type(error).__name__}"]
    print(json.dumps(said))


main()
