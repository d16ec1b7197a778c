"""A pack for a test in a line, and assertions about skills: listed, found, clean."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from satchel.products import import_product
from satchel.runtime import Satchel

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


def assert_listed(skills: Satchel, *ids: str) -> None:
    """Assert that the prompt lists these skills, each with its whole description.

    Raises:
        AssertionError: One is not listed, or is cut; with the reason and the fix.
    """
    for skill_id in ids:
        why = skills.why(skill_id)
        if why.stage != "listed":
            raise AssertionError(str(why))


def assert_found(skills: Satchel, query: str, *ids: str, within: int = 3) -> None:
    """Assert that a search finds these skills among its first ``within`` hits.

    Raises:
        AssertionError: One is not among them; with what was found.
    """
    hits_in_order = [hit.id for hit in skills.find(query, within)]
    missing = [skill_id for skill_id in ids if skill_id not in hits_in_order]
    if missing:
        hits = ", ".join(hits_in_order) or "nothing"
        raise AssertionError(
            f"{query!r} does not find {', '.join(missing)} among its first {within}; "
            f"it finds {hits}"
        )


def assert_clean(skills: Satchel) -> None:
    """Assert that there is no error and no warning.

    Raises:
        AssertionError: There is one; with all findings.
    """
    problems = [str(f) for f in skills.findings if f.severity != "note"]
    if problems:
        raise AssertionError("\n".join(problems))


def assert_complete(what: object, *, strict: bool = False) -> None:
    """Assert that skills registered in code are complete and sound.

    Every listed reference exists and every file in the folder ``references`` next to a
    skill's module is listed; the instructions are short and name each reference; the
    references themselves are sound. `satchel check MODULE:NAME` reports the same.

    Args:
        what: A `satchel.SkillRegistry`, descriptors, skills, or a function that returns
            them or fills a registry.
        strict: Whether a warning fails too.

    Raises:
        AssertionError: Something is wrong, with each finding and what to do; or there
            is no skill at all.
        TypeError: ``what`` is none of these.
    """
    earlier = import_product("satchel_compat", "assert_complete")
    descriptors = earlier.descriptors_of(what)
    if not descriptors:
        raise AssertionError("no skill is registered")
    report = earlier.check_registered(descriptors)
    severe = ("error", "warning") if strict else ("error",)
    problems = [
        f"{finding}; {finding.fix}" if finding.fix else str(finding)
        for finding in report.findings
        if finding.severity in severe
    ]
    if problems:
        raise AssertionError("\n".join(problems))
