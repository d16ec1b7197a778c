"""Loaders of skills for `check_loader`: a good one, and others with one flaw each."""

import html
import logging
import os
import re
import time
import warnings
from pathlib import Path
from typing import Any

from satchel import Satchel
from satchel.runtime import Options

Skills = dict[str, str]


def good(folder: str) -> Skills:
    """List what is well, and warn of the rest."""
    with Satchel(folder, options=Options(on_conflict="precedence")) as skills:
        for finding in skills.findings:
            warnings.warn(f"{finding.path}: {finding.message}", stacklevel=1)
        return {entry.id: entry.description for entry in skills.catalog}


def good_prompt(folder: str) -> str:
    """Return what a model is shown."""
    with Satchel(folder, options=Options(on_conflict="precedence")) as skills:
        return skills.prompt().text


def _texts(folder: str) -> dict[Path, str]:
    return {
        path: path.read_text("utf-8", "replace")
        for path in sorted(Path(folder).glob("*/SKILL.md"))
        if path.is_file() and path.stat().st_size < 1 << 20
    }


def raising(folder: str) -> Skills:
    """Raise for one bad pack."""
    with Satchel(folder) as skills:
        for finding in skills.findings:
            if finding.severity == "error":
                raise ValueError(finding.message)
    return good(folder)


def dying(folder: str) -> Skills:
    """Leave the process."""
    if any("[[[[" in text for text in _texts(folder).values()):
        os._exit(3)
    return good(folder)


def losing(folder: str) -> Skills:
    """Stop at the first bad pack, instead of going on behind it."""
    listed = good(folder)
    for path in sorted(Path(folder).iterdir()):
        if path.name not in listed:
            return {name: about for name, about in listed.items() if name < path.name}
    return listed


def replacing(folder: str) -> Skills:
    """Let the last pack of a name win, and tell nobody."""
    heads = [
        match.groups()
        for text in _texts(folder).values()
        if (match := re.match(r"---\nname: (\S+)\ndescription: (.+)\n", text))
    ]
    names = [name for name, _ in heads]
    twins = {name: about for name, about in heads if names.count(name) > 1}
    return {**(quiet(folder) if twins else good(folder)), **twins}


def waiting(folder: str) -> Skills:
    """Open whatever is called SKILL.md."""
    for path in Path(folder).glob("*/SKILL.md"):
        if not path.is_dir():
            with path.open("rb") as file:
                file.read(10)
    return good(folder)


def spinning(folder: str) -> Skills:
    """Follow aliases as often as they are named."""
    if any("*m1" in text or "*a1" in text for text in _texts(folder).values()):
        while True:
            time.time()
    return good(folder)


def following(folder: str) -> Skills:
    """Read through links that lead out."""
    listed = good(folder)
    for path in Path(folder).glob("*/SKILL.md"):
        if path.is_symlink() and path.exists():
            listed[path.parent.name] = path.read_text("utf-8", "replace")
    return listed


def quiet(folder: str) -> Skills:
    """Say nothing."""
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return good(folder)


def refusing(folder: str) -> Skills:
    """Want a description on the line of its key."""
    texts = {path.parent.name: text for path, text in _texts(folder).items()}
    return {
        name: about
        for name, about in good(folder).items()
        if not re.search(r"^description:\s*[>|\n]", texts.get(name, ""), re.MULTILINE)
    }


def cutting(folder: str) -> Skills:
    """Show 60 characters."""
    return {name: about[:60] for name, about in good(folder).items()}


def renaming(folder: str) -> Skills:
    """Make names of its own."""
    return {
        name if about.isascii() else "The Pack": about
        for name, about in good(folder).items()
    }


def misreading(folder: str) -> Skills:
    """Read a description without a parser."""
    listed = good(folder)
    for path, text in _texts(folder).items():
        match = re.search(r"^description: *(\S.*)$", text, re.MULTILINE)
        if match and path.parent.name in listed:
            listed[path.parent.name] = match[1]
    return listed


def listing_all(folder: str) -> list[dict[str, Any]]:
    """List what has no description, too."""
    rows = [{"name": n, "description": about} for n, about in good(folder).items()]
    rows += [
        {"name": path.parent.name, "description": ""}
        for path, text in _texts(folder).items()
        if "description" not in text
    ]
    return rows


def _clean(text: str) -> str:
    return "".join(c for c in text if c.isprintable() and not 0xFE00 <= ord(c) < 0xFE10)


def unescaped_prompt(folder: str) -> str:
    """Escape nothing."""
    return "\n".join(f"- {n}: {_clean(about)}" for n, about in good(folder).items())


def many_lines_prompt(folder: str) -> str:
    """Leave line ends as they are."""
    lines = [
        "\n".join(map(_clean, about.split("\n"))) for about in good(folder).values()
    ]
    return html.escape("\n".join(lines))


def hidden_prompt(folder: str) -> str:
    """Leave hidden characters as they are."""
    return html.escape(
        "\n".join(about.replace("\n", " ") for about in good(folder).values())
    )


def failing_prompt(folder: str) -> str:
    """Fail on what is not Latin."""
    return good_prompt(folder).encode("latin-1").decode("latin-1")
