"""Skills built into a release, and a release published on a static site."""

from satchel.release._build import BuiltRelease, build_release
from satchel.release._publication import (
    Artifact as Artifact,
    artifact_bytes as artifact_bytes,
    plan_publication as plan_publication,
)
from satchel.release._site import (
    PublishedRelease,
    build_folder,
    check_not_in_sources as check_not_in_sources,
    publish,
)

__all__ = [
    "BuiltRelease",
    "PublishedRelease",
    "build_folder",
    "build_release",
    "publish",
]
