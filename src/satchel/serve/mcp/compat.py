"""Resources that readers of earlier drafts ask for; no list names them.

``skill://index.json`` is how Agent Framework's ``MCPSkillsSource`` finds skills, and
``skill://<skill-path>/_manifest`` what FastMCP's client downloads a skill by.

Source: agent-framework-core 1.23 and fastmcp 4.1, as installed.
"""

import json
from typing import Final

from satchel.runtime.view import View
from satchel.serve.mcp.served import Place, Served
from satchel.serve.mcp.uris import SCHEME, uri_of
from satchel.text import clean_line

__all__ = ["INDEX_URI", "index_text", "is_manifest", "manifest_text"]

INDEX_URI: Final = f"{SCHEME}index.json"

_SCHEMA: Final = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
_MANIFEST: Final = "_manifest"


def index_text(served: Served, view: View) -> str:
    """Return the index of all skills that are listed, by id; no file is read."""
    skills = [
        {
            "name": skill.name,  # the last folder of its URL, as readers compare
            "type": "skill-md",
            "description": clean_line(skill.description),
            "url": uri_of(skill),
            "digest": skill.digest,
        }
        for skill in served.listed(view)
    ]
    return json.dumps({"$schema": _SCHEMA, "skills": skills})


def is_manifest(place: Place) -> bool:
    """Tell whether a manifest is sought here, where no file of the skill lies."""
    return place.path == _MANIFEST and _MANIFEST not in place.entry.resources


def manifest_text(view: View, place: Place) -> str:
    """Return the paths, sizes and digests of a skill's files.

    Raises:
        SkillError: A file cannot be read now.
    """
    files = [
        {"path": each.path, "size": each.size, "hash": each.digest}
        for each in view.resources(place.entry.id)
    ]
    return json.dumps({"skill": place.entry.name, "files": files})
