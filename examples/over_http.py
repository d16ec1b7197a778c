"""Skills from a server, for a program that has nothing but HTTP.

Start a server with ``satchel serve examples/skills``, then run::

    python examples/over_http.py http://127.0.0.1:8321 "check an invoice"

It does what an agent does: puts the catalog into its system prompt, and loads what the
task needs. Nothing of Satchel is imported, so it reads the same in any language.
"""

import json
import os
import sys
from typing import Any
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen


def get(server: str, path: str, **query: object) -> bytes:
    """Return what the server answers; the token, if one is needed, is a variable."""
    headers = {"User-Agent": "over-http-example/1.0"}
    if token := os.environ.get("SKILLS_TOKEN"):
        headers["Authorization"] = f"Bearer {token}"
    address = f"{server}{path}?{urlencode(query)}" if query else server + path
    with urlopen(Request(address, headers=headers), timeout=30) as answer:  # noqa: S310
        data: bytes = answer.read()
    return data


def main(server: str, task: str) -> None:
    """Print what goes into a prompt, and what the task would load."""
    section: dict[str, Any] = json.loads(get(server, "/v1/prompt", budget=1000))
    print(f"system prompt: {section['tokens']} tokens by {section['counted_by']}")
    found: dict[str, Any] = json.loads(get(server, "/v1/find", q=task, k=1))
    for hit in found["hits"]:
        home = f"/v1/skills/{quote(hit['id'], safe='')}"
        skill: dict[str, Any] = json.loads(get(server, home))
        print(f"{hit['id']}: {len(skill['instructions'])} characters to follow")
        for file in skill["resources"]:
            data = get(server, f"{home}/files/{quote(file['path'])}")
            print(f"  {file['path']}: {len(data)} bytes")


if __name__ == "__main__":
    main(sys.argv[1], " ".join(sys.argv[2:]) or "check an invoice")
