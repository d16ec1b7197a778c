"""A pack for a test, in a line."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_DESCRIPTION: Final = "Use when a test needs a skill."
_BODY: Final = "# Steps\n\nDo what the test says.\n"


def write_pack(  # noqa: PLR0913 - a line of a test says all of it
    folder: Path,
    name: str,
    description: str = _DESCRIPTION,
    body: str = _BODY,
    *,
    files: Mapping[str, str | bytes] | None = None,
    metadata: Mapping[str, str] | None = None,
    **fields: object,
) -> Path:
    """Write the pack ``folder/name``, over an existing one; return its folder.

    Args:
        folder: The folder of packs; made if it does not exist.
        name: The skill's name and the folder's.
        description: When to use it.
        body: What follows the frontmatter.
        files: More files by pack-relative path, such as ``references/fields.md``.
        metadata: The field of that name: ``{"tools": "refund"}``, say.
        fields: More fields of the frontmatter; an underscore becomes a hyphen.

    Raises:
        ValueError: A path of ``files`` leaves the pack.
    """
    pack = folder / name
    given: dict[str, object] = {"name": name, "description": description}
    given |= {key.replace("_", "-"): value for key, value in fields.items()}
    if metadata:
        given["metadata"] = dict(metadata)
    # JSON is YAML, so that any value holds, as its author meant it.
    lines = [f"{key}: {json.dumps(value)}\n" for key, value in given.items()]
    text = f"---\n{''.join(lines)}---\n\n{body}"
    for path, data in {"SKILL.md": text, **(files or {})}.items():
        file = pack / path
        if not file.resolve().is_relative_to(pack.resolve()):
            raise ValueError(f"{path!r} does not stay inside {name!r}")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)
    return pack
