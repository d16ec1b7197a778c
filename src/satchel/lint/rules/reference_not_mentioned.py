"""Files that no text tells anybody to read (A26)."""

import posixpath
from collections.abc import Iterator

from satchel.lint.context import Context, rule
from satchel.lint.reading import body, text_of
from satchel.lint.targets import held_paths
from satchel.model import SKILL_FILE, Finding

__all__ = ["reference_not_mentioned"]

_NEVER_READ = ("license", "licence", "notice", "copying", "__init__.py")


@rule("reference-not-mentioned", "script-not-mentioned")
def reference_not_mentioned(pack: Context) -> Iterator[Finding]:
    """Yield each reference and script that neither the body nor a named file names.

    A file is named by its path or by its name alone; a folder of scripts by its own
    path, a module of a script also without ``.py``. An unnamed reference is an error
    in profile ``strict``, an unnamed script a note.
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
    texts: list[str] = [f"{pack.manifest.description}\n{body(pack).text}"]
    while texts and unnamed:
        text = texts.pop()
        named = [path for path in unnamed if _names(text, path)]
        unnamed = [path for path in unnamed if path not in named]
        texts += [text_of(pack, path) for path in named]
    for path in unnamed:
        is_reference = path in references
        yield Finding(
            "reference-not-mentioned" if is_reference else "script-not-mentioned",
            ("error" if pack.profile == "strict" else "warning")
            if is_reference
            else "note",
            f"no text says when to {'read' if is_reference else 'run'} {path}",
            SKILL_FILE,
            fix=f"name {path} in the body, with the case that it is for",
        )


def _names(text: str, path: str) -> bool:
    name = posixpath.basename(path)
    if name in text:
        return True
    folder = posixpath.dirname(path)
    if not path.startswith("scripts/"):
        return False
    if "/" in folder and f"{folder}/" in text:
        return True
    stem, dot, _ = name.rpartition(".")
    return bool(dot) and (f"import {stem}" in text or f"from {stem} " in text)
