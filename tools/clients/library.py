"""The skills that the checks serve: few, and each with something that went wrong once.

They are written here, not kept as files, so that no tool changes a line end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SKILLS: Final[Mapping[str, bytes]] = {
    # The suite looks at the directories of the first skill only.
    "a-nested/SKILL.md": b"""---
name: a-nested
description: Read files below files. Use when a folder has folders.
license: Apache-2.0
---

# Nested

Read references/guide.md, then references/deep/more.md.
""",
    "a-nested/references/guide.md": b"# Guide\n\nOne level down.\n",
    "a-nested/references/deep/more.md": b"# More\n\nTwo levels down.\n",
    "a-nested/references/deep/deeper/most.md": b"# Most\n\nThree levels down.\n",
    "a-nested/assets/dot.png": bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
        "1f15c4890000000d49444154789c626001000000ffff03000006000557"
        "bfabd40000000049454e44ae426082"
    ),
    # What a library that reads text as text changes: the digests tell.
    "b-line-ends/SKILL.md": b"---\r\nname: b-line-ends\r\n"
    b"description: Keep line ends. Use for text from Windows.\r\n---\r\n\r\n# Ends\r\n",
    "b-line-ends/references/mark.md": b"\xef\xbb\xbf# A mark of the byte order\n",
    "b-line-ends/references/old.md": b"# Old\rline\rends\r",
    "b-line-ends/references/no-utf-8.txt": b"caf\xe9\n",
    # What YAML 1.1 takes for a boolean, an octal, a float, a time or a date.
    "c-values/SKILL.md": """---
name: c-values
description: "Values that readers of YAML differ on: use when a client compares them."
metadata:
  version: "1.10"
values:
  answer: yes
  switch: off
  octal: 012
  exponent: 1e3
  clock: 12:30:45
  day: 2026-11-21
  version: 1.10
  nothing: ~
  umlaut: "Zürich \\u2603"
  on: key
---

# Values
""".encode(),
    "d-arguments/SKILL.md": b"""---
name: d-arguments
description: Greet somebody. Use when a user asks for a greeting.
arguments: [name, place]
---

# Greet

Greet $name in $place.
""",
    "e-for-users/SKILL.md": b"""---
name: e-for-users
description: Only a user starts this one.
disable-model-invocation: true
---

# For users
""",
    "f-spaces/SKILL.md": b"""---
name: f-spaces
description: >
  Names of files that a URI has to escape.
  Use when a path is odd.
---

# Odd names
""",
    # A client that refuses the whole list for one of these is to have the others.
    "g-odd-fields/SKILL.md": b"""---
name: g-odd-fields
description: Fields that the specification wants as text. Use when they are not.
metadata:
  version: 1.0
allowed-tools: [Read, Grep]
---

# Odd fields
""",
    "f-spaces/references/a b.md": b"# A blank\n",
    "f-spaces/references/100%.md": b"# A percent sign\n",
    "f-spaces/references/für.md": b"# Not ASCII\n",
    "f-spaces/references/question?.md": b"# A question mark\n",
}
"""Every pack but g-odd-fields follows the specification."""

LISTED: Final = ("a-nested", "b-line-ends", "c-values", "d-arguments", "f-spaces")
"""The packs that the extension lists: all but odd ones and those for users alone."""

PROMPTS: Final[Mapping[str, bytes]] = {
    "test_simple_prompt/SKILL.md": b"""---
name: test_simple_prompt
description: A prompt without arguments, as the conformance suite asks for it.
---

This is a simple prompt for testing.
""",
    "test_prompt_with_arguments/SKILL.md": b"""---
name: test_prompt_with_arguments
description: A prompt with arguments, as the conformance suite asks for it.
arguments: [arg1, arg2]
---

Prompt with arguments: arg1='$arg1', arg2='$arg2'
""",
}
"""Packs with names that the specification forbids, and the conformance suite expects.

They are served as prompts and by the tools, and excluded from the skills extension.
"""


def write(skills: Mapping[str, bytes], folder: Path) -> Path:
    """Write the files below ``folder``, and return it."""
    for path, content in skills.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return folder


def names(skills: Mapping[str, bytes]) -> list[str]:
    """Return the names of the packs, sorted."""
    return sorted({path.partition("/")[0] for path in skills})
