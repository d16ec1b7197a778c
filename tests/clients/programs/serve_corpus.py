"""Serve folders in which equal names occur: ``serve_corpus.py FOLDER... [--stdio]``.

The skills of the second folder are called ``2-<name>``, and so on. On standard error it
says, as JSON, how many skills are served and why which are not listed by the extension;
over HTTP then the address.
"""

import json
import sys
from collections import Counter

import anyio
import uvicorn

from satchel import Satchel, sources
from satchel_server import (
    ServedLibrary,
    create_app,
    excluded_from_mcp,
    listen,
    run_stdio,
)

folders = [each for each in sys.argv[1:] if each != "--stdio"]
skills = Satchel(
    *(
        sources.prefixed(sources.folder(folder), f"{number}-") if number > 1 else folder
        for number, folder in enumerate(folders, 1)
    )
)
library = ServedLibrary(skills)
catalog = skills.catalog
findings = excluded_from_mcp(library)
places = {f"{each.origin.location}/SKILL.md": each.id for each in catalog.entries}
unlisted = {places[each.path]: each.code for each in findings if each.path in places}
unlisted |= {held.descriptor.id: held.reason for held in catalog.excluded}
codes = Counter(finding.code for finding in findings)
figures = {
    "served": len(catalog),
    "withheld": dict(sorted(codes.items())),
    "unlisted": unlisted,
    "conflicts": len(catalog.conflicts),
}
sys.stderr.write(f"{json.dumps(figures)}\n")
if "--stdio" in sys.argv:
    anyio.run(run_stdio, library)
else:
    listener = listen("127.0.0.1", 0)
    sys.stderr.write(f"http://127.0.0.1:{listener.getsockname()[1]}\n")
    sys.stderr.flush()
    config = uvicorn.Config(create_app(library), log_level="error")
    uvicorn.Server(config).run(sockets=[listener])
