"""``satchel diff``: a difference between packs, in words and as JSON."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import click

from satchel.cli import (
    echo,
    echo_json,
    errors_are_status_2,
    flag,
    json_option,
    one_line,
)
from satchel.model import Json, Resource

if TYPE_CHECKING:
    from satchel_lab.authoring import FieldChange, FileChange, PackDiff, PackSide


@click.command("diff")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@flag("--stat", "One line a pack.")
@json_option
def command(old: str, new: str, stat: bool, as_json: bool) -> int:
    """Show what changed from OLD to NEW: fields, body, files, digest, tokens.

    Each is a pack, its SKILL.md, a .skill archive, or a folder of packs, in which
    packs of one name are compared. Tokens are estimates: those of the catalog entry
    are in every prompt, those of the body once it is loaded.

    Status: 0 if nothing changed, 1 if something did, 2 if they cannot be compared.

    \b
    Examples:
      satchel diff ./old/pdf-forms ./skills/pdf-forms
      satchel diff pdf-forms.skill ./skills/pdf-forms --stat
      satchel diff ./released ./skills --json
    """
    from satchel_lab.authoring import compare_places

    if "" in (old, new):
        raise click.UsageError("the path is empty")
    # Status 1 says that something changed, as that of diff does.
    with errors_are_status_2():
        diffs = compare_places(old, new)
    changed = [diff for diff in diffs if diff.fit != "equal"]
    if as_json:
        echo_json({"packs": [_pack(diff) for diff in diffs]})
    elif stat:
        for diff in changed:
            echo(as_stat(diff))
    else:
        for number, diff in enumerate(changed):
            if number:
                echo()
            for line in as_lines(diff):
                echo(line)
    return 1 if changed else 0


_SIGNS: Final = {"added": "+", "removed": "-", "changed": "~", "equal": "="}


def as_stat(diff: "PackDiff") -> str:
    """Return a line on one pack: what changed, and what it costs."""
    parts: list[str] = []
    if diff.fit == "changed":
        parts += [f"manifest {len(diff.manifest)}"] if diff.manifest else []
        more = sum(line.startswith("+") for line in diff.body)
        less = sum(line.startswith("-") for line in diff.body)
        parts += [f"body +{more} -{less}"] if diff.body else []
        parts += [f"files {len(diff.files)}"] if diff.files else []
    if diff.fit != "equal":
        parts.append(f"tokens {_token_counts(diff)}")
    detail = f": {', '.join(parts)}" if parts else ""
    return f"{_SIGNS[diff.fit]} {one_line(diff.name)}{detail}"


def as_lines(diff: "PackDiff") -> Iterator[str]:
    """Yield the lines on one pack, by sections; each is safe on a terminal."""
    yield f"{one_line(diff.name)}: {diff.fit}"
    if diff.fit == "equal":
        return
    if diff.manifest:
        yield "manifest"
        yield from (f"  {_field(change)}" for change in diff.manifest)
    if diff.body:
        yield "body"
        yield from (f"  {one_line(line)}" for line in diff.body)
    if diff.skill_md_changed and not (diff.manifest or diff.body):
        yield "manifest"
        yield "  = SKILL.md means the same in other bytes"
    if diff.files:
        yield "files"
        for change in diff.files:
            yield f"  {_file(change)}"
            yield from (f"    {one_line(line)}" for line in change.diff)
    yield "digest"
    yield from (
        f"  {sign} {one_line(side.digest)}  {one_line(side.location)}"
        for sign, side in (("-", diff.old), ("+", diff.new))
        if side
    )
    yield "tokens"
    yield f"  {_token_counts(diff)}"


def _token_counts(diff: "PackDiff") -> str:
    catalog = _numbers(diff, "catalog_tokens")
    return f"catalog {catalog}, body {_numbers(diff, 'body_tokens')}"


def _numbers(diff: "PackDiff", key: str) -> str:
    old, new = (getattr(side, key) if side else 0 for side in (diff.old, diff.new))
    return f"{old} -> {new}" if old != new else f"{new}"


def _field(change: "FieldChange") -> str:
    sign, field = _SIGNS[change.fit], one_line(change.field)
    old, new = _value(change.old), _value(change.new)
    if change.fit == "changed":
        return f"{sign} {field}: {old} -> {new}"
    return f"{sign} {field}: {new if change.fit == 'added' else old}"


def _value(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return one_line(
        json.dumps(text, ensure_ascii=False) if text != text.strip() else text
    )


def _file(change: "FileChange") -> str:
    sizes = [
        f"{resource.size:,} bytes" for resource in (change.old, change.new) if resource
    ]
    size = sizes[0] if len(set(sizes)) == 1 else " -> ".join(sizes)
    line = f"{_SIGNS[change.fit]} {one_line(change.path)} ({size})"
    if change.diff:
        return line
    digests = [resource.digest for resource in (change.old, change.new) if resource]
    return f"{line} {' -> '.join(digests)}"


def _pack(diff: "PackDiff") -> dict[str, object]:
    return {
        "name": diff.name,
        "change": diff.fit,
        "old": _side(diff.old),
        "new": _side(diff.new),
        "manifest": [
            {"field": c.field, "change": c.fit, "old": c.old, "new": c.new}
            for c in diff.manifest
        ],
        "body": list(diff.body),
        "files": [
            {
                "path": c.path,
                "change": c.fit,
                "old": _resource(c.old),
                "new": _resource(c.new),
                "diff": list(c.diff),
            }
            for c in diff.files
        ],
    }


def _side(side: "PackSide | None") -> dict[str, object] | None:
    if side is None:
        return None
    keys = ("digest", "catalog_tokens", "body_tokens")
    return {"path": side.location, **{key: getattr(side, key) for key in keys}}


def _resource(file: Resource | None) -> dict[str, object] | None:
    return {"digest": file.digest, "size": file.size} if file else None
