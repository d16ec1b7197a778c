"""Make a planted fault: two packs that differ in one thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchmarks.faults.fault import BODY, DESCRIPTION, Fault, Pack, pack

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER: Final = "fill-form"
HEAD: Final = f"name: {FOLDER}\ndescription: {DESCRIPTION}\n"


def in_files(
    kind: str,
    about: str,
    bad: Mapping[str, str | bytes],
    good: Mapping[str, str | bytes],
) -> Fault:
    """Plant a fault in the files; ``SKILL.md`` is a body, the other files are whole."""
    return Fault(kind, kind, _id(kind, about), about, _files(bad), _files(good))


def in_body(kind: str, about: str, bad: str, good: str, **files: str | bytes) -> Fault:
    """Plant a fault in the body; both packs hold ``files``, ``__`` for a slash."""
    others = {path.replace("__", "/"): data for path, data in files.items()}
    return in_files(
        kind, about, {"SKILL.md": bad, **others}, {"SKILL.md": good, **others}
    )


def in_text(kind: str, about: str, bad: str | bytes, good: str | bytes) -> Fault:
    """Plant a fault in the whole text of SKILL.md."""
    return Fault(kind, kind, _id(kind, about), about, _raw(bad), _raw(good))


def in_head(kind: str, about: str, bad: str, good: str) -> Fault:
    """Plant a fault in the lines of the frontmatter."""
    return in_text(kind, about, f"---\n{bad}\n---\n{BODY}", f"---\n{good}\n---\n{BODY}")


def described(kind: str, about: str, bad: str, good: str = DESCRIPTION) -> Fault:
    """Plant a fault in the description, which is written as it stands."""
    name = f"name: {FOLDER}\ndescription: "
    return in_head(kind, about, name + bad, name + good)


def _files(files: Mapping[str, str | bytes]) -> Pack:
    others = {path: data for path, data in files.items() if path != "SKILL.md"}
    return pack(FOLDER, others, body=str(files.get("SKILL.md", BODY)))


def _raw(text: str | bytes) -> Pack:
    data = text if isinstance(text, bytes) else text.encode()
    return Pack(FOLDER, {"SKILL.md": data})


def _id(kind: str, about: str) -> str:
    return f"{kind}: {about}"
