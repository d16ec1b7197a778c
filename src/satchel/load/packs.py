"""Style ``packs``: one dict of seven keys for every ``load_skill`` (C26 to C32)."""

from collections.abc import Callable
from typing import Final

from satchel.errors import SkillError
from satchel.load.options import DEFAULT_STYLE_OPTIONS, StyleOptions
from satchel.load.telling import tell
from satchel.model import Catalog, Descriptor, Loaded, Request
from satchel.model.pack import Bucket

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
) -> dict[str, object]:
    """Return a skill's body, or the text of the files asked for. Never raises.

    The seven keys are always there; ``body`` is empty where a file was asked for,
    unless ``options.always_body``. A script is read, never run. Notes come as an
    eighth key, and only where there are some. The lists name files as ``reference``
    and ``script`` take them.
    """
    descriptor = catalog.get(name)
    result: dict[str, object] = {
        "name": name,
        "body": "",
        "available_references": _names(descriptor, _REFERENCES),
        "available_scripts": _names(descriptor, _SCRIPTS),
        "reference_content": None,
        "script_content": None,
        "error": None,
    }
    wishes: list[tuple[str, str | None]] = []
    if options.always_body or (reference is None and script is None):
        wishes.append(("body", None))
    if reference is not None:
        wishes.append(("reference_content", _path(descriptor, _REFERENCES, reference)))
    if script is not None:
        wishes.append(("script_content", _path(descriptor, _SCRIPTS, script)))
    notes: dict[str, None] = {}
    for key, file in wishes:
        try:
            loaded = load(Request(name, file, via="tool"))
        except SkillError as error:
            result["error"] = tell(error)
            break
        except Exception as error:  # noqa: BLE001 - the tool's boundary (C32, R33)
            result["error"] = f"internal error: {type(error).__name__}"
            break
        if descriptor is None:  # it is not listed, and loads: deprecated or hidden
            descriptor = loaded.descriptor
            result["available_references"] = _names(descriptor, _REFERENCES)
            result["available_scripts"] = _names(descriptor, _SCRIPTS)
        if loaded.is_binary:
            size = f"{len(loaded.data):,} bytes of {loaded.media_type}"
            result["error"] = f"{loaded.file!r} is no text: {size}"
            break
        result[key] = loaded.body if key == "body" else loaded.text
        notes |= dict.fromkeys(loaded.notes)
    if notes:
        result["notes"] = list(notes)
    return result


def _names(descriptor: Descriptor | None, bucket: Bucket) -> list[str]:
    if descriptor is None:
        return []
    paths = descriptor.references if bucket == _REFERENCES else descriptor.scripts
    return [path.removeprefix(f"{bucket}/") for path in paths]


def _path(descriptor: Descriptor | None, bucket: Bucket, file: str) -> str:
    """Return the path inside its own bucket, where that one is listed (R14)."""
    path = f"{bucket}/{file}"
    listed = descriptor.resources if descriptor is not None else ()
    return path if file not in listed and path in listed else file
