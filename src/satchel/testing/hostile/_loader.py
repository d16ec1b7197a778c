"""Satchel as a loader of `run_loader`: ``python -m satchel.testing.hostile._loader``.

Beside ``found`` it prints the catalog in every format, the prompt as it is by default,
what was said of each pack, and the text of the good neighbour as it is loaded.
"""

import json
import sys
from typing import TYPE_CHECKING, Final, get_args

from satchel.testing.hostile._pack import GOOD_NAME

if TYPE_CHECKING:
    from satchel.runtime import Satchel


_TOLD: Final = ("code", "severity", "path", "message", "fix")


def main() -> None:
    """Discover the folder that is the last argument, and print the answer."""
    from satchel.prompt import Format
    from satchel.runtime import Options, Satchel

    _say("ready")
    # Packs of one name in one folder: the pack in the folder of that name goes first.
    with Satchel(sys.argv[-1], options=Options(on_conflict="precedence")) as skills:
        answer = {
            "found": {each.id: each.description for each in skills.catalog},
            "catalog": {
                style: skills.prompt(format=style, budget_tokens=None).text
                for style in get_args(Format)
            },
            "prompt": skills.prompt().text,
            "findings": [
                {name: getattr(each, name) for name in _TOLD}
                for each in skills.findings
            ],
            "withheld": {
                each.descriptor.origin.location: each.reason
                for each in skills.catalog.excluded
            },
            "loaded": _load_good(skills),
        }
    _say(json.dumps(answer))


def _load_good(skills: "Satchel") -> str:
    return skills.load(GOOD_NAME).text if GOOD_NAME in skills.catalog else ""


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
