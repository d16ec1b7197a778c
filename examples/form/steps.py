"""What the model does, written down: a script plays its part, so no key is needed."""

import json

FORM = "library-card.pdf"
TASK = f"Fill in {FORM} for Ana Simpson from Basel. Her branch is the harbour's."
VALUES = {"f1_01": "Ana Simpson", "f1_02": "Basel", "f1_03": "Harbour"}


def run(args, stdin=""):
    """Return the arguments of one run of the skill's script."""
    script = {"skill_id": "pdf-forms", "path": "scripts/fill.py"}
    return {**script, "args": args, "stdin": stdin}


FILL = [FORM, "--values", "-", "--out", "filled.pdf"]
CALLS = [
    ("load_skill", {"skill_id": "pdf-forms"}),
    ("run_skill_script", run([FORM, "--list"])),
    ("run_skill_script", run(FILL, json.dumps(VALUES))),
    ("run_skill_script", run(["filled.pdf", "--list"])),
]
ANSWER = "filled.pdf is ready; the signature is yours."
