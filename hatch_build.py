"""What a package page shows: README.md with links that work there, and addresses.

Links of README.md lead to files of the repository. A package page has no such files, so
there each link gets the address of the repository in front, and is plain text as long
as there is none.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"<picture>.*?</picture>\n*|!\[[^\]]*\]\([^)]*\)\n*", re.DOTALL)
_TARGET = re.compile(r"^\[(\w+)\]: (\S+)\n", re.MULTILINE)
_REFERENCE = re.compile(r"\[([^\]]+)\]\[(\w+)\]")
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:|#)([^)]+)\)")


class PackagePage(MetadataHookInterface):
    """Adds the text and the addresses of the package page to the metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the fields that pyproject.toml leaves open."""
        root = Path(self.root)
        published = (root / "src/satchel/published.py").read_text("utf-8")
        match = re.search(r'^REPOSITORY = "(.*)"$', published, re.MULTILINE)
        repository = match[1] if match else ""
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": package_page((root / "README.md").read_text("utf-8"), repository),
        }
        metadata["urls"] = addresses(repository)


def package_page(readme: str, repository: str) -> str:
    """Return README.md as a package page shows it."""
    text = _PICTURE.sub("", readme)
    targets = dict(_TARGET.findall(text))
    text = _REFERENCE.sub(
        lambda link: f"[{link[1]}]({targets[link[2]]})", _TARGET.sub("", text)
    )
    target = rf"[\1]({repository}/blob/main/\2)" if repository else r"\1"
    return _LINK.sub(target, text)


def addresses(repository: str) -> dict[str, str]:
    """Return the addresses that a package page lists, none where there is none."""
    if not repository:
        return {}
    return {
        "Repository": repository,
        "Documentation": f"{repository}/blob/main/docs/index.md",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
