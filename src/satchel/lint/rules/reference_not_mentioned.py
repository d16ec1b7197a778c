"""Files that no text tells anybody to read (A26)."""

import posixpath
import re
from collections.abc import Iterator
from urllib.parse import quote

from satchel.lint.context import Context, rule
from satchel.lint.reading import body, text_of
from satchel.lint.targets import held_paths
from satchel.model import SKILL_FILE, Finding

__all__ = ["reference_not_mentioned"]

_NEVER_READ = ("license", "licence", "notice", "copying", "__init__.py")


@rule("reference-not-mentioned", "script-not-mentioned")
def reference_not_mentioned(pack: Context) -> Iterator[Finding]:
    """Yield each reference and script that neither the body nor a named file names.

    A file is named by its path or by its name alone, or by the path of the folder that
    it shares with others; a module of a script also without ``.py``. In profile
    ``strict`` a reference is named by itself, and an unnamed one is an error; an
    unnamed script is a note.
    """
    references, scripts = pack.descriptor.references, pack.descriptor.scripts
    if not references and not scripts:
        return
    unnamed: list[str] = [
        path
        for path in (*references, *scripts)
        if path in held_paths(pack)
        and not posixpath.basename(path).lower().startswith(_NEVER_READ)
    ]
    strict = pack.profile == "strict"
    texts: list[str] = [f"{pack.manifest.description}\n{body(pack).text}"]
    while texts and unnamed:
        text = texts.pop()
        named = [path for path in unnamed if _names(text, path, strict=strict)]
        unnamed = [path for path in unnamed if path not in named]
        texts += [text_of(pack, path) for path in named]
    for path in unnamed:
        is_reference = path in references
        yield Finding(
            "reference-not-mentioned" if is_reference else "script-not-mentioned",
            ("error" if strict else "warning") if is_reference else "note",
            f"no text says when to {'read' if is_reference else 'run'} {path}",
            SKILL_FILE,
            fix=f"name {path} in the body, with the case that it is for",
        )


def _names(text: str, path: str, *, strict: bool) -> bool:
    name = posixpath.basename(path)
    for form in (name, quote(name)):
        # Behind another letter it is the end of another name: a.md in data.md.
        if form in text and re.search(rf"(?<![\w-]){re.escape(form)}", text):
            return True
    is_script = path.startswith("scripts/")
    folder = posixpath.dirname(path)
    if "/" in folder and f"{folder}/" in text and (is_script or not strict):
        return True
    if not is_script:
        return False
    stem, dot, _ = name.rpartition(".")
    return bool(dot) and (f"import {stem}" in text or f"from {stem} " in text)
