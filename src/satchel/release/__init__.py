"""One road to production: skills built into a release, and a release put on a site.

`building` makes the files, `folder` puts them into a folder, `site` onto a static site;
`discovery` and `archives` are what a server needs of it, too.
"""

from satchel.release._build import BuiltRelease, build_release
from satchel.release._discovery import (
    INDEX_V1 as INDEX_V1,
    INDEX_V2 as INDEX_V2,
    Artifact as Artifact,
    IndexEntry as IndexEntry,
    artifact_bytes as artifact_bytes,
    index_v1 as index_v1,
    index_v2 as index_v2,
    plan_publication as plan_publication,
)
from satchel.release._folder import (
    build_folder,
    check_not_in_sources as check_not_in_sources,
)
from satchel.release._site import PublishedRelease, publish

__all__ = [
    "BuiltRelease",
    "PublishedRelease",
    "build_folder",
    "build_release",
    "publish",
]
