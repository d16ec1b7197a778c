"""Style ``packs``: one dict of seven keys for every ``load_skill`` (C26 to C32)."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Final, cast

from satchel.errors import DeniedError, SkillError, echo
from satchel.load.folder import folder_notes
from satchel.load.hooks import NO_HOOKS, Hooks
from satchel.load.one_event import as_one_event
from satchel.load.options import DEFAULT_STYLE_OPTIONS, StyleOptions
from satchel.load.telling import tell
from satchel.model import SKILL_FILE, Catalog, Descriptor, Loaded, Request
from satchel.model.pack import Bucket
from satchel.text import printable

__all__ = ["packs_result"]

_REFERENCES: Final = "references"
_SCRIPTS: Final = "scripts"


def packs_result(  # noqa: PLR0913 - the tool's three parameters, and what it stands on
    load: Callable[[Request], Loaded],
    catalog: Catalog,
    name: str,
    reference: str | None = None,
    script: str | None = None,
    *,
    options: StyleOptions = DEFAULT_STYLE_OPTIONS,
    hooks: Hooks = NO_HOOKS,
) -> dict[str, object]:
    """Return a skill's body, or the text of the files asked for. Never raises.

    The seven keys are always there; ``body`` is empty where a file was asked for,
    unless ``options.always_body``. A script is read, never run. Notes come as an
    eighth key, and only where there are some. The lists name files as ``reference``
    and ``script`` take them.
    """
    descriptor = catalog.get(name)
    result: dict[str, object] = {
        "name": echo(name),
        "body": "",
        "available_references": _names(descriptor, _REFERENCES),
        "available_scripts": _names(descriptor, _SCRIPTS),
        "reference_content": None,
        "script_content": None,
        "error": None,
    }
    notes: dict[str, None] = {}
    held = catalog.withheld_as(name)
    entry = held.descriptor if descriptor is None and held is not None else descriptor
    wishes = tuple(_wishes(entry, reference, script, options))
    files = [file for _, file in wishes]
    with as_one_event(files) if len(files) > 1 else nullcontext():
        for key, file in wishes:
            try:
                loaded = load(Request(name, file, via="tool"))
            except SkillError as error:
                result["error"] = tell(error)
                advice = hooks.misses(error)
                notes |= {advice: None} if advice else {}
                if isinstance(error, DeniedError):  # so are the names of its files
                    result["available_references"] = result["available_scripts"] = []
                break
            except Exception as error:  # noqa: BLE001 - the tool's boundary (C32, R33)
                result["error"] = f"internal error: {type(error).__name__}"
                break
            if descriptor is not loaded.descriptor:  # not listed, or edited since
                descriptor = loaded.descriptor
                result["available_references"] = _names(descriptor, _REFERENCES)
                result["available_scripts"] = _names(descriptor, _SCRIPTS)
            if loaded.is_binary:
                size = f"{len(loaded.data):,} bytes of {loaded.media_type}"
                shown = printable(loaded.file, keep="")
                result["error"] = f"{shown!r} is no text: {size}"
                break
            result[key], said = _given(loaded, key, options, hooks)
            notes |= dict.fromkeys(said)
    if notes:
        result["notes"] = [printable(note, keep="") for note in notes]
    return result


def _wishes(
    entry: Descriptor | None,
    reference: str | None,
    script: str | None,
    options: StyleOptions,
) -> Iterator[tuple[str, str | None]]:
    """Yield the key of the result and the file that it is for."""
    if options.always_body or (reference is None and script is None):
        yield "body", None
    if reference is not None:
        yield "reference_content", _path(entry, _REFERENCES, reference)
    if script is not None:
        yield "script_content", _path(entry, _SCRIPTS, script)


def _given(
    loaded: Loaded, key: str, options: StyleOptions, hooks: Hooks
) -> tuple[str, tuple[str, ...]]:
    """Return what was loaded as the text of ``key``, and its notes."""
    loaded, options = hooks.placed(loaded, options)
    note = hooks.instead(loaded)
    if note is not None:
        return "", (note, *hooks.notes(loaded))
    text = loaded.body if key == "body" else loaded.text
    notes = (*loaded.notes, *folder_notes(loaded, options, "packs"))
    return text, (*notes, *hooks.notes(loaded))


def _names(descriptor: Descriptor | None, bucket: Bucket) -> list[str]:
    if descriptor is None:
        return []
    paths = descriptor.references if bucket == _REFERENCES else descriptor.scripts
    return [printable(path.removeprefix(f"{bucket}/"), keep="") for path in paths]


def _path(entry: Descriptor | None, bucket: Bucket, file: str) -> str:
    """Return the path inside its own bucket, where that one is listed (R14).

    A name that nothing listed bears is of that bucket, too: it was asked for as such.
    """
    if not isinstance(cast("object", file), str):
        return file
    path = f"{bucket}/{file}"
    listed = entry.resources if entry is not None else ()
    if file in listed or file == SKILL_FILE:
        return file
    ends = any(each.endswith(f"/{file}") for each in listed)
    is_name = bool(file) and "/" not in file
    return path if path in listed or (is_name and not ends) else file
