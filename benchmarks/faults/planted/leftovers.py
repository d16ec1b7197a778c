"""What is left to fill in, and what a merge left behind."""

from __future__ import annotations

from typing import Final

from benchmarks.faults.fault import BODY, DESCRIPTION, Fault, Pack
from benchmarks.faults.planted._make import (
    FOLDER,
    HEAD,
    described,
    in_body,
    in_files,
    in_text,
)
from satchel_lab.authoring import NewPackRequest, make_pack

_K: Final = "left to fill in"
_READ: Final = "# Fill in a form\n\nRead [the guide](references/guide.md).\n"
_RUN: Final = "# Fill in a form\n\nRun `scripts/fill.py`.\n"


def _merge(ours: str, theirs: str) -> str:
    return f"<<<<<<< HEAD\n{ours}\n=======\n{theirs}\n>>>>>>> feature/forms\n"


def _new() -> Fault:
    """A pack as `satchel new` writes it, and the same pack with its steps written."""
    wish = NewPackRequest(
        name=FOLDER, description=DESCRIPTION, references=("guide.md",)
    )
    made = make_pack(wish).files
    done = {
        "SKILL.md": f"---\n{HEAD}---\n{_READ}".encode(),
        "references/guide.md": b"# Guide\n\nRead the fields from top to bottom.\n",
    }
    about = "a new pack that nobody touched"
    return Fault(
        _K, _K, f"{_K}: {about}", about, Pack(FOLDER, made), Pack(FOLDER, done)
    )


LEFTOVER_FAULTS: Final[tuple[Fault, ...]] = (
    _new(),
    described(
        _K,
        "the description is TODO",
        '"TODO: say what it does"',
        '"Collect each TODO of a form. Use when fields say TODO."',
    ),
    described(
        _K,
        "the description is TBD",
        "TBD",
        "Replace TBD in forms. Use when a form says TBD.",
    ),
    described(
        _K,
        "the description is a pair of brackets to fill in",
        '"[TODO: Complete and informative explanation of what the skill does and'
        ' when to use it.]"',
        '"Fill in [form] fields. Use when the user names one."',
    ),
    described(
        _K,
        "the description of a well-known template",
        "Replace with description of the skill and when Claude should use it.",
        "Replace fields with descriptions. Use when a form lacks them.",
    ),
    described(
        _K,
        "the description says to describe",
        "A brief description of what this skill does and when to use it",
        "Give a brief description of what a form is for. Use when asked.",
    ),
    described(
        _K,
        "the description speaks of your skill",
        "Your skill description here",
        "Describe a form for its readers. Use when your form lacks one.",
    ),
    described(
        _K,
        "the description is Lorem ipsum",
        "Lorem ipsum dolor sit amet, consectetur adipiscing elit.",
        "Replace Lorem ipsum in drafts. Use when a draft has dummy text.",
    ),
    described(
        _K,
        "the description is a placeholder of a template engine",
        '"{{description}}"',
        '"Fill {{name}} into forms. Use when one has it."',
    ),
    described(
        _K,
        "the description is a word in angle brackets",
        '"<description>"',
        DESCRIPTION,
    ),
    described(_K, "the description is three dots", '"..."', DESCRIPTION),
    in_body(
        _K,
        "the body is TODO",
        "# Fill in a form\n\nTODO: write the steps\n",
        "# Fill in a form\n\nReplace every `TODO` of the form.\n",
    ),
    in_body(
        _K,
        "the body of a well-known template",
        "# Insert instructions below\n",
        "# Insert the fields\n\nPut each of them below the last.\n",
    ),
    in_body(
        _K,
        "the body of another well-known template",
        "# Fill Form\n\n## Overview\n\n[TODO: 1-2 sentences explaining what this"
        " skill enables]\n",
        "# Fill Form\n\n## Overview\n\nThis skill fills in forms.\n",
    ),
    in_body(
        _K,
        "Lorem ipsum in the body",
        "# Fill in a form\n\nLorem ipsum dolor sit amet, consectetur adipiscing"
        " elit, sed do eiusmod tempor.\n",
        "# Fill in a form\n\nNever leave Lorem ipsum in a form.\n",
    ),
    in_body(
        _K,
        "a section says to add its content",
        "# Fill in a form\n\n## Steps\n\n[Add step-by-step instructions here]\n",
        "# Fill in a form\n\n## Steps\n\nAdd a title [of three words].\n",
    ),
    in_body(
        _K,
        "a section is to be written",
        "# Fill in a form\n\nList the fields.\n\n## Boxes\n\nTBD\n",
        "# Fill in a form\n\nList the fields.\n\n## Boxes\n\nTick them.\n",
    ),
    in_body(
        _K,
        "a merge in the body",
        BODY + _merge("Fill in.", "Fill out."),
        BODY + "Fill in.\n\nTitle\n=======\n",
    ),
    in_files(
        _K,
        "a merge in a reference",
        {"SKILL.md": _READ, "references/guide.md": "# G\n\n" + _merge("A", "B")},
        {
            "SKILL.md": _READ,
            "references/guide.md": "# G\n\nA merge begins `<<<<<<< HEAD`.\n",
        },
    ),
    in_files(
        _K,
        "a merge in a script",
        {
            "SKILL.md": _RUN.replace("py", "sh"),
            "scripts/fill.sh": "#!/bin/sh\n" + _merge("echo a", "echo b"),
        },
        {
            "SKILL.md": _RUN.replace("py", "sh"),
            "scripts/fill.sh": "#!/bin/sh\necho a\n",
        },
    ),
    in_text(
        _K,
        "a merge in the frontmatter",
        f"---\nname: {FOLDER}\n"
        + _merge(f"description: {DESCRIPTION}", "description: Forms.")
        + f"---\n{BODY}",
        f"---\n{HEAD}---\n{BODY}",
    ),
    in_files(
        _K,
        "a reference is nothing but TODO",
        {"SKILL.md": _READ, "references/guide.md": "# Guide\n\nTODO\n"},
        {"SKILL.md": _READ, "references/guide.md": "# Guide\n\nList them.\n"},
    ),
    in_files(
        _K,
        "a script of a template that does nothing",
        {"SKILL.md": _RUN, "scripts/fill.py": "# TODO: implement\n"},
        {"SKILL.md": _RUN, "scripts/fill.py": "# TODO: faster\nprint(1)\n"},
    ),
)
