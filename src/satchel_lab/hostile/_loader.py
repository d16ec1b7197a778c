"""Satchel as a loader of `run_loader`: ``python -m satchel_lab.hostile._loader``.

Next to ``found`` it prints the catalog in every format, the prompt as it is by default,
the findings about each pack, and the text of the good neighbour as it is loaded.
"""

import json
import sys
from typing import Final, get_args

from satchel_lab.hostile._pack import GOOD_NAME

_FIELDS: Final = ("code", "severity", "path", "message", "fix")


def main() -> None:
    """Discover the folder that is the last argument, and print the answer."""
    from satchel.prompt import Format
    from satchel.runtime import Options, Satchel

    say("ready")
    # Packs of one name in one folder: the pack in the folder of that name goes first.
    with Satchel(sys.argv[-1], options=Options(on_conflict="precedence")) as skills:
        answer = {
            "found": {entry.id: entry.description for entry in skills.catalog},
            "catalog": {
                style: skills.prompt(format=style, budget_tokens=None).text
                for style in get_args(Format)
            },
            "prompt": skills.prompt().text,
            "findings": [
                {name: getattr(finding, name) for name in _FIELDS}
                for finding in skills.findings
            ],
            "excluded": {
                entry.descriptor.origin.location: entry.reason
                for entry in skills.catalog.excluded
            },
            "loaded": (
                skills.load(GOOD_NAME).text if GOOD_NAME in skills.catalog else ""
            ),
        }
    say(json.dumps(answer))


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
